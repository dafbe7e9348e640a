// The checksum of ZIP entries (CRC-32, reflected polynomial 0xEDB88320), eight bytes at a step. Twin: node:zlib's, in tests.

/** Eight tables of 256 words, made at the first call. */
const TABLES: usize = memory.data(8192);
let isReady = false;

const POLYNOMIAL: u32 = 0xedb88320;

/** The checksum of what came before (0: nothing) and [at, at + length). */
export function crc32(before: u32, at: usize, length: usize): u32 {
  if (!isReady) makeTables();
  let crc = ~before;
  const end = at + length;
  for (; at + 8 <= end; at += 8) {
    const low = load<u32>(at) ^ crc;
    const high = load<u32>(at, 4);
    crc =
      entry(7, low & 255) ^ entry(6, (low >> 8) & 255) ^ entry(5, (low >> 16) & 255) ^ entry(4, low >> 24) ^
      entry(3, high & 255) ^ entry(2, (high >> 8) & 255) ^ entry(1, (high >> 16) & 255) ^ entry(0, high >> 24);
  }
  for (; at < end; at++) crc = (crc >> 8) ^ entry(0, (crc ^ <u32>load<u8>(at)) & 255);
  return ~crc;
}

// @ts-ignore: decorator
@inline
function entry(table: usize, byte: u32): u32 {
  return load<u32>(TABLES + (table << 10) + ((<usize>byte) << 2));
}

function makeTables(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ POLYNOMIAL : crc >> 1;
    store<u32>(TABLES + ((<usize>byte) << 2), crc);
  }
  for (let table: usize = 1; table < 8; table++) {
    for (let byte: u32 = 0; byte < 256; byte++) {
      const crc = entry(table - 1, byte);
      store<u32>(TABLES + (table << 10) + ((<usize>byte) << 2), (crc >> 8) ^ entry(0, crc & 255));
    }
  }
  isReady = true;
}
