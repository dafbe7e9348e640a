// Owns ranges of characters as ranges of the bytes that UTF-8 writes them with.

/** For each byte of a character the range in which it may lie: [from, to] after [from, to]. */
export type ByteRanges = readonly (readonly [from: number, to: number])[];

/** Last characters of one, two, three and four bytes. */
const LAST_BY_BYTES = [0x7f, 0x7ff, 0xffff, 0x10ffff] as const;

/** Bits of a character in each byte but the first. */
const BITS = 6;

/** Every character from one to the other, in as few sequences as the bytes allow. */
export function utf8Ranges(from: number, to: number): ByteRanges[] {
  const found: ByteRanges[] = [];
  const pending: [number, number][] = [[from, to]];
  for (let range = pending.pop(); range !== undefined; range = pending.pop()) {
    const [first, last] = range;
    const at = placeToSplit(first, last);
    if (at === null) found.push(rangesOf(first, last));
    else pending.push([at + 1, last], [first, at]);
  }
  return found;
}

/** The last character of the first part, where one sequence does not hold all. */
function placeToSplit(first: number, last: number): number | null {
  for (const end of LAST_BY_BYTES) if (first <= end && last > end) return end;
  for (let bytes = 1; bytes < LAST_BY_BYTES.length; bytes++) {
    const mask = 2 ** (BITS * bytes) - 1;
    if (last <= 0x7f || (first & ~mask) === (last & ~mask)) continue;
    if ((first & mask) !== 0) return first | mask;
    if ((last & mask) !== mask) return (last & ~mask) - 1;
  }
  return null;
}

function rangesOf(first: number, last: number): ByteRanges {
  const [low, high] = [bytesOf(first), bytesOf(last)];
  return low.map((byte, index) => [byte, high[index]!] as const);
}

function bytesOf(point: number): number[] {
  if (point <= LAST_BY_BYTES[0]) return [point];
  const length = LAST_BY_BYTES.findIndex((last) => point <= last) + 1;
  const lead = (0xf00 >> length) & 0xff;
  return Array.from({ length }, (_, index) => {
    const bits = (point >> (BITS * (length - 1 - index))) & 0x3f;
    return index === 0 ? lead | bits : 0x80 | bits;
  });
}
