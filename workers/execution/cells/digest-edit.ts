// Puts digests in the place of texts by a kernel (kernel/assembly/sha256.ts), of many cells without an object for any.
import { createHash } from 'node:crypto';
import type { OperatorContext } from '../../operations/operation.ts';
import type { CellEdit } from './cell-operator.ts';
import { placeBytes, placeText } from './placed-text.ts';
import { settleText, startViews } from './text-cells.ts';

export type DigestEncoding = 'hex' | 'base64' | 'base64url';

export interface DigestRules {
  /** Key of HMAC; null: the digest of the text alone. */
  readonly key: Uint8Array | null;
  readonly encoding: DigestEncoding;
  /** Only so many letters. */
  readonly length: number | undefined;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const ALPHABETS: Readonly<Record<DigestEncoding, string>> = {
  hex: '0123456789abcdef',
  base64: `${LETTERS}+/`,
  base64url: `${LETTERS}-_`,
};

/** More letters than a digest has. */
const ANY_LENGTH = 1000;

const BLOCK_BYTES = 64;
/** RFC 2104. */
const INNER = 0x36;
const OUTER = 0x5c;

/** Bytes that the kernel wants beside the cells. */
const SCRATCH_BYTES = 448;

/** Cells that are no texts go `otherwise`. */
export function digestEdit(context: OperatorContext, rules: DigestRules, otherwise: CellEdit): CellEdit {
  const { arena, kernel } = context;
  const { heap } = arena;
  const { key, encoding, length = ANY_LENGTH } = rules;
  const keyAt = key === null ? 0 : placeBytes(heap, keyBlocks(key)).at;
  const alphabet = placeText(heap, ALPHABETS[encoding]).at;
  const bits = Math.log2(ALPHABETS[encoding].length);
  const fill = encoding === 'base64' ? '='.charCodeAt(0) : 0;
  const scratch = heap.allocate(SCRATCH_BYTES);
  return (work) => {
    const { batch, column, rows, count } = work;
    if (batch.columns[column]!.kind === 'typed') return otherwise(work);
    const before = batch.views(column);
    const made = startViews(context, work, before);
    if (made === null) return null;
    const { digestTexts } = kernel.exports;
    const given = [made.at, rows, count, keyAt, alphabet, bits, fill, length, scratch] as const;
    const next = digestTexts(...given, arena.next, arena.limit) >>> 0;
    if (next === 0) return null;
    arena.next = next;
    settleText(context, work, work.inPlace ? before : 0, made.at, false);
    return { kind: 'views', at: made.at };
  };
}

/** What HMAC puts before the message, and before the inner digest. */
function keyBlocks(key: Uint8Array): Uint8Array {
  const short = key.length > BLOCK_BYTES ? createHash('sha256').update(key).digest() : key;
  const blocks = new Uint8Array(BLOCK_BYTES * 2);
  blocks.set(short);
  blocks.set(short, BLOCK_BYTES);
  return blocks.map((byte, at) => byte ^ (at < BLOCK_BYTES ? INNER : OUTER));
}
