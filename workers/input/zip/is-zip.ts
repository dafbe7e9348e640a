// Signatures of ZIP archives: a first entry, the end record of an empty archive, or the marker of a split archive.

const MARKS: readonly (readonly [number, number])[] = [
  [0x03, 0x04],
  [0x05, 0x06],
  [0x07, 0x08],
];

export function isZip(bytes: Uint8Array): boolean {
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) return false;
  return MARKS.some(([third, fourth]) => bytes[2] === third && bytes[3] === fourth);
}
