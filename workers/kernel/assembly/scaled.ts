// Digits of decimals at a larger scale.

export const TENS: usize = memory.data<i64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
]);

/** Whether digits stay within 64 bits at a scale larger by `by`. */
// @ts-ignore: decorator
@inline
export function fits(digits: i64, by: u32): bool {
  if (by == 0) return true;
  if (by > 18) return digits == 0;
  const most = i64.MAX_VALUE / load<i64>(TENS + ((<usize>by) << 3));
  return digits <= most && digits >= -most;
}

// @ts-ignore: decorator
@inline
export function raised(digits: i64, by: u32): i64 {
  return digits == 0 ? 0 : digits * load<i64>(TENS + ((<usize>by) << 3));
}
