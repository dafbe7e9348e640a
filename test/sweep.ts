// The part of a sweep that the tests run: `npm test` a part that takes minutes, `npm run test:all` all of it. Both check the same
// promises; only the numbers of seeds, repetitions and seconds differ. Tests that always take minutes run only in `npm run
// test:all`.

/** Set by `npm run test:all`. */
export const isLong = process.env['TEMPLATE_RUN_ALL_TESTS'] === '1';

/** Value for the `skip` of a test that takes long: the reason why it is skipped, or false. */
export const skipUnlessLong = isLong ? false : 'takes long: npm run test:all';

/** Divisor of long sweeps: the complete check has one hour, and runs many other tests. */
const divisor = Number(process.env['TEMPLATE_RUN_SWEEP_DIVISOR'] ?? 1);

/** The size of a sweep: a number of random cases, repetitions or seconds. */
export function sweep({ short, long }: { readonly short: number; readonly long: number }): number {
  return isLong ? Math.max(short, Math.ceil(long / divisor)) : short;
}

/**
 * The part of a list of similar cases that a shortened check runs: every case unless sweeps are divided.
 * @param divisorMax 3: at least every third case
 */
export function partOf<T>(cases: readonly T[], divisorMax = Number.POSITIVE_INFINITY): T[] {
  return cases.filter((_, index) => index % Math.min(divisor, divisorMax) === 0);
}
