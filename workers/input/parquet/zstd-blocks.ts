// Inspects the frames of a Zstandard page (RFC 8878) before code that cannot be interrupted decompresses them. Each
// block takes time, so a page must not have too many blocks for its content. The content must not be larger than the
// page header declares.

const FRAME_MAGIC = 0xfd2fb528;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const BLOCK_STORED = 0;
const BLOCK_REPEATED = 1;
const BLOCK_RESERVED = 3;

/**
 * Number of blocks that any page may have, and minimum content in bytes for each further block. Encoders fill blocks up
 * to 128 KiB.
 */
const BLOCKS_FREE = 64;
const BLOCK_BYTES_MIN = 1024;

/** @returns whether `input` is a sequence of frames that may contain `bytes` bytes */
export function isWorthInflating(input: Uint8Array, bytes: number): boolean {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const blocksMax = BLOCKS_FREE + bytes / BLOCK_BYTES_MIN;
  let blocks = 0;
  /** Sum of the content sizes of blocks that declare them. */
  let told = 0;
  for (let at = 0; at < input.length; ) {
    if (at + 5 > input.length || view.getUint32(at, true) !== FRAME_MAGIC) return false;
    const descriptor = input[at + 4]!;
    at += 5 + headerBytes(descriptor);
    for (let isLast = false; !isLast; blocks++) {
      if (at + BLOCK_HEADER_BYTES > input.length || blocks > blocksMax) return false;
      const header = view.getUint16(at, true) | (input[at + 2]! << 16);
      isLast = (header & 1) !== 0;
      const kind = (header >> 1) & 3;
      const size = header >> 3;
      if (kind === BLOCK_STORED || kind === BLOCK_REPEATED) told += size;
      if (kind === BLOCK_RESERVED || told > bytes) return false;
      at += BLOCK_HEADER_BYTES + (kind === BLOCK_REPEATED ? 1 : size);
    }
    if ((descriptor & 4) !== 0) at += CHECKSUM_BYTES;
    if (at > input.length) return false;
  }
  return true;
}

/** Length of a frame header after its descriptor. */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 1 << sizeFlag;
  return sizeBytes + [0, 1, 2, 4][descriptor & 3]! + Number(!isSingleSegment);
}
