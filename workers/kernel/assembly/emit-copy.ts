// Copies for the emit kernels. They write in steps of 16 bytes, so up to 15 bytes behind the target's end are overwritten;
// or 63, where they say so.

/** Beside the delimiter, what a bare cell may not hold: a quote and the ends of lines. */
export const SPECIAL: usize = memory.data<u8>([0x22, 0x0a, 0x0d]);

/** Copies [start, end) to `out` and gives the address behind the copy. */
export function copyOver(out: usize, start: usize, end: usize): usize {
  let target = out;
  let source = start;
  do {
    v128.store(target, v128.load(source));
    target += 16;
    source += 16;
  } while (source < end);
  return out + (end - start);
}

/** As copyOver in steps of 64 bytes: fewer of the branches on the length that a processor guesses wrong. */
// @ts-ignore: decorator
@inline
export function copyWide(out: usize, start: usize, end: usize): usize {
  const target = out - start;
  for (let at = start; at < end; at += 64) {
    v128.store(target + at, v128.load(at));
    v128.store(target + at, v128.load(at, 16), 16);
    v128.store(target + at, v128.load(at, 32), 32);
    v128.store(target + at, v128.load(at, 48), 48);
  }
  return target + end;
}

/** As copyWide. The fixed first 64 bytes spare the branch on the length that a processor guesses wrong for most ranges. */
// @ts-ignore: decorator
@inline
export function copyRange(out: usize, start: usize, end: usize): usize {
  v128.store(out, v128.load(start));
  v128.store(out, v128.load(start, 16), 16);
  v128.store(out, v128.load(start, 32), 32);
  v128.store(out, v128.load(start, 48), 48);
  for (let i: usize = 64; i < end - start; i += 32) {
    v128.store(out + i, v128.load(start + i));
    v128.store(out + i, v128.load(start + i, 16), 16);
  }
  return out + (end - start);
}

/** Copies 32 bytes and tells by bits which of them are special: the delimiter's first byte, a quote or a line's end. */
// @ts-ignore: decorator
@inline
export function copyShort(out: usize, start: usize, delimiters: v128, quotes: v128, feeds: v128, returns: v128): u32 {
  const low = v128.load(start), high = v128.load(start, 16);
  v128.store(out, low);
  v128.store(out, high, 16);
  const lowMarks = v128.or(i8x16.eq(low, delimiters), i8x16.eq(low, quotes));
  const lowLines = v128.or(i8x16.eq(low, feeds), i8x16.eq(low, returns));
  const highMarks = v128.or(i8x16.eq(high, delimiters), i8x16.eq(high, quotes));
  const highLines = v128.or(i8x16.eq(high, feeds), i8x16.eq(high, returns));
  return <u32>i8x16.bitmask(v128.or(lowMarks, lowLines)) | (<u32>i8x16.bitmask(v128.or(highMarks, highLines)) << 16);
}

/** Bits of a 16-byte mask that belong to the `left` bytes still to come. */
export function maskOf(mask: u32, left: usize): u32 {
  return left < 16 ? mask & ((1 << (<u32>left)) - 1) : mask;
}
