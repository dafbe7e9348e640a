// Writes small ZIP archives for tests, valid ones and ones with false values.
import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { RandomAccess } from '../../../../workers/input/zip/random-access.ts';

export interface WrittenEntry {
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly isStored?: boolean;
  /** Deflated bytes in place of the content's. */
  readonly packed?: Uint8Array;
  /** The sizes and the checksum are only after the bytes and in the directory. */
  readonly hasDescriptor?: boolean;
  readonly isEncrypted?: boolean;
  readonly method?: number;
  /** False values in place of the true ones. */
  readonly toldBytes?: number;
  readonly toldCrc32?: number;
}

export interface ArchiveForm {
  /** All sizes are in the 64-bit format. */
  readonly is64?: boolean;
  /** Bytes before the archive. */
  readonly prefixBytes?: number;
  readonly comment?: string;
  /** All entries begin at the offset of the first entry. */
  readonly overlaps?: boolean;
}

export function zipOf(entries: readonly WrittenEntry[], form: ArchiveForm = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const entry of entries) {
    const content = Buffer.from(entry.content as Uint8Array);
    const packed = entry.packed ?? (entry.isStored ? content : deflateRawSync(content));
    const name = Buffer.from(entry.name);
    const told = {
      crc: entry.toldCrc32 ?? crc32(content),
      packed: packed.length,
      bytes: entry.toldBytes ?? content.length,
      position: form.overlaps ? 0 : at,
    };
    const flags = 0x0800 | (entry.hasDescriptor ? 8 : 0) | (entry.isEncrypted ? 1 : 0);
    const method = entry.method ?? (entry.isStored ? 0 : 8);
    const local = entry.hasDescriptor ? [0, 0, 0] : [told.crc, told.packed, told.bytes];
    const header = [u32(0x04034b50), u16(20, flags, method, 0, 0), u32(...local), u16(name.length, 0), name];
    const descriptor = entry.hasDescriptor ? [u32(0x08074b50, told.crc, told.packed, told.bytes)] : [];
    const written = Buffer.concat([...header, packed, ...descriptor]);
    const sizes = form.is64 ? [0xffffffff, 0xffffffff] : [told.packed, told.bytes];
    const extra = form.is64
      ? Buffer.concat([u16(1, 24), u64(told.bytes, told.packed, told.position)])
      : Buffer.alloc(0);
    directory.push(
      u32(0x02014b50),
      u16(20, 20, flags, method, 0, 0),
      u32(told.crc, ...sizes),
      u16(name.length, extra.length, 0, 0, 0),
      u32(0, form.is64 ? 0xffffffff : told.position),
      name,
      extra,
    );
    parts.push(written);
    at += written.length;
  }
  const list = Buffer.concat(directory);
  const count = entries.length;
  const end64 = [u32(0x06064b50), u64(44), u16(45, 45), u32(0, 0), u64(count, count, list.length, at)];
  const locator = [u32(0x07064b50, 0), u64(at + list.length), u32(1)];
  const short = form.is64 ? [0xffff, 0xffffffff, 0xffffffff] : [count, list.length, at];
  const comment = Buffer.from(form.comment ?? '');
  const end = [
    u32(0x06054b50),
    u16(0, 0, short[0]!, short[0]!),
    u32(short[1]!, short[2]!),
    u16(comment.length),
    comment,
  ];
  const prefix = Buffer.alloc(form.prefixBytes ?? 0, 'x');
  return Buffer.concat([prefix, ...parts, list, ...(form.is64 ? [...end64, ...locator] : []), ...end]);
}

/** Deflates `piece` repeated `times` times, with texts before and after: as small as a zip bomb, and made quickly. */
export function deflatedOften(before: string, piece: string, times: number, after: string): Buffer {
  const part = (text: string): Buffer => deflateRawSync(text, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const repeated = part(piece);
  return Buffer.concat([part(before), ...Array.from({ length: times }, () => repeated), deflateRawSync(after)]);
}

/** Bytes in memory as a file. */
export function inMemory(bytes: Uint8Array): RandomAccess {
  return {
    sizeBytes: bytes.length,
    readAt(target, position) {
      const piece = bytes.subarray(position, position + target.length);
      target.set(piece);
      return piece.length;
    },
  };
}

function u16(...values: number[]): Buffer {
  return Buffer.concat(values.map((value) => Buffer.from(Uint16Array.of(value).buffer)));
}

function u32(...values: number[]): Buffer {
  return Buffer.concat(values.map((value) => Buffer.from(Uint32Array.of(value).buffer)));
}

function u64(...values: number[]): Buffer {
  return Buffer.concat(values.map((value) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer)));
}
