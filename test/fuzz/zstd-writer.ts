// Writes frames of Zstandard by hand (RFC 8878), of blocks that are stored or of one byte repeated: the oldest runtime has no encoder.

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** A frame of one segment whose header holds its size in four bytes. */
const DESCRIPTOR = 0xa0;
const BLOCK_BYTES_MAX = 131_072;
const BLOCK_STORED = 0;
const BLOCK_REPEATED = 1;

/** @param toldBytes in place of the truth */
export function storedFrame(content: Uint8Array, toldBytes: number = content.length): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at === 0 || at < content.length; at += BLOCK_BYTES_MAX) {
    const bytes = content.subarray(at, at + BLOCK_BYTES_MAX);
    blocks.push(blockHeader(BLOCK_STORED, bytes.length, at + BLOCK_BYTES_MAX >= content.length), Buffer.from(bytes));
  }
  return Buffer.concat([frameHeader(toldBytes), ...blocks]);
}

/** A frame of so many blocks, each of which is one byte, as often as a block may have it. */
export function repeatedFrame(byte: number, blocks: number, toldBytes = blocks * BLOCK_BYTES_MAX): Buffer {
  const block = Buffer.concat([blockHeader(BLOCK_REPEATED, BLOCK_BYTES_MAX, false), Buffer.of(byte)]);
  const last = Buffer.concat([blockHeader(BLOCK_REPEATED, BLOCK_BYTES_MAX, true), Buffer.of(byte)]);
  return Buffer.concat([frameHeader(toldBytes), ...Array.from({ length: blocks - 1 }, () => block), last]);
}

function frameHeader(bytes: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes);
  return Buffer.concat([Buffer.of(...MAGIC, DESCRIPTOR), size]);
}

function blockHeader(kind: number, bytes: number, isLast: boolean): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntLE((isLast ? 1 : 0) | (kind << 1) | (bytes << 3), 0, 3);
  return header;
}
