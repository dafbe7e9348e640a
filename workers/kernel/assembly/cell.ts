// What the text kernels share: reaching a cell's view, copying bytes, handing rows back. Their twins in plain TypeScript
// are the edits of strings in values/text-edits.ts and replace-steps.ts, which treat what is handed back.
// Views are u32 address and u32 length per physical row (address 0 = null); `rows` is a list of u32 physical rows.
// A kernel that writes cells gets the first free address and the limit of the arena and gives the next free address,
// or 0 when they did not fit (then nothing may be used). A kernel that cannot treat a cell moves its row from `rows`
// (which is compacted in place) to `todo`: u32 count, then the rows.

/** Address of the view of the row at position `i` of a row list. */
// @ts-ignore: decorator
@inline
export function viewOf(views: usize, rows: usize, i: u32): usize {
  return views + ((<usize>load<u32>(rows + ((<usize>i) << 2))) << 3);
}

/** Copies [s, e) to o in steps of 16 bytes, up to 15 bytes too many (regions are padded). Gives the end of the copy. */
// @ts-ignore: decorator
@inline
export function copy(o: usize, s: usize, e: usize): usize {
  const end = o + (e - s);
  for (; s < e; s += 16, o += 16) v128.store(o, v128.load(s));
  return end;
}

/** Byte length of the white-space character (Unicode White_Space) at p, 0 when it is none. Cells are valid UTF-8. */
// @ts-ignore: decorator
@inline
export function spaceAt(p: usize, e: usize): usize {
  const c = <u32>load<u8>(p);
  if (c == 32 || c - 9 < 5) return 1;
  if (c < 0xc2) return 0;
  return wideSpaceAt(p, e, c);
}

function wideSpaceAt(p: usize, e: usize, c: u32): usize {
  if (c == 0xc2) {
    if (p + 2 > e) return 0;
    const d = <u32>load<u8>(p, 1);
    return d == 0x85 || d == 0xa0 ? 2 : 0;
  }
  if (c < 0xe1 || c > 0xe3 || p + 3 > e) return 0;
  const d = <u32>load<u8>(p, 1), f = <u32>load<u8>(p, 2);
  if (c == 0xe1) return d == 0x9a && f == 0x80 ? 3 : 0;
  if (c == 0xe3) return d == 0x80 && f == 0x80 ? 3 : 0;
  if (d == 0x80) return f <= 0x8a || f == 0xa8 || f == 0xa9 || f == 0xaf ? 3 : 0;
  return d == 0x81 && f == 0x9f ? 3 : 0;
}

/** Byte length of the white-space character that ends at e, 0 when it is none. */
// @ts-ignore: decorator
@inline
export function spaceBefore(s: usize, e: usize): usize {
  const c = <u32>load<u8>(e - 1);
  if (c == 32 || c - 9 < 5) return 1;
  if (c < 0x80 || c >= 0xc0) return 0;
  if (e - s >= 2 && spaceAt(e - 2, e) == 2) return 2;
  return e - s >= 3 && spaceAt(e - 3, e) == 3 ? 3 : 0;
}

/** True when [s, e) holds a byte above 127. */
// @ts-ignore: decorator
@inline
export function hasHighByte(s: usize, e: usize): bool {
  for (; s + 16 <= e; s += 16) if (i8x16.bitmask(v128.load(s))) return true;
  if (s == e) return false;
  return (i8x16.bitmask(v128.load(s)) & ((1 << <i32>(e - s)) - 1)) != 0;
}

/** True when the `n` bytes at a and b are the same (both may be read up to 7 bytes further). */
// @ts-ignore: decorator
@inline
export function sameBytes(a: usize, b: usize, n: usize): bool {
  let i: usize = 0;
  for (; i + 8 <= n; i += 8) if (load<u64>(a + i) != load<u64>(b + i)) return false;
  const left = <u64>(n - i);
  if (left == 0) return true;
  return ((load<u64>(a + i) ^ load<u64>(b + i)) & (((<u64>1) << (left << 3)) - 1)) == 0;
}

/** Which of 16 characters are in a set of 128 bits; bytes above 127 are in none. */
// @ts-ignore: decorator
@inline
export function members(set: v128, bytes: v128): u32 {
  const bits = v128(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
  const row = i8x16.swizzle(set, i8x16.shr_u(bytes, 3));
  const bit = i8x16.swizzle(bits, v128.and(bytes, i8x16.splat(7)));
  return <u32>i8x16.bitmask(i8x16.eq(v128.and(row, bit), bit));
}
