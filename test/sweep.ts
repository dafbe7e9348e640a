// How much of a sweep the tests do: `npm test` a part of it in minutes, `npm run test:all` all. Both hold the same promises;
// only seeds, repetitions and seconds differ. What takes minutes by its nature is left to `npm run test:all`.

/** Set by `npm run test:all`. */
export const isLong = process.env['TEMPLATE_RUN_ALL_TESTS'] === '1';

/** For the `skip` of a test that takes minutes: why it is left out, or false. */
export const skipUnlessLong = isLong ? false : 'takes minutes: npm run test:all';

/** By which long sweeps are divided: the whole check has an hour for much else. */
const divisor = Number(process.env['TEMPLATE_RUN_SWEEP_DIVISOR'] ?? 1);

/** The cases of a sweep: random ones, repetitions, seconds. */
export function sweep({ short, long }: { readonly short: number; readonly long: number }): number {
  return isLong ? Math.max(short, Math.ceil(long / divisor)) : short;
}
