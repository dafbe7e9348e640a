// Replaces texts by digests with a kernel (kernel/assembly/digests.ts), without creating an object per cell.
import { createHash } from 'node:crypto';
import type { OperatorContext } from '../../template/operation.ts';
import type { CellEdit } from './cell-operator.ts';
import { placeBytes, placeText, settleText, startViews } from './text-chain.ts';

export type DigestEncoding = 'hex' | 'base64' | 'base64url';

export interface DigestRules {
  /** HMAC key, or null for the digest of the text alone. */
  readonly key: Uint8Array | null;
  readonly encoding: DigestEncoding;
  /** Number of characters to keep. */
  readonly length: number | undefined;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const ALPHABETS: Readonly<Record<DigestEncoding, string>> = {
  hex: '0123456789abcdef',
  base64: `${LETTERS}+/`,
  base64url: `${LETTERS}-_`,
};

/** More characters than a digest has, so that nothing is cut off. */
const ANY_LENGTH = 1000;

const BLOCK_BYTES = 64;
/** Padding bytes of HMAC (RFC 2104). */
const INNER = 0x36;
const OUTER = 0x5c;

/** Number of bytes that the kernel needs in addition to the cells. */
const SCRATCH_BYTES = 448;

/**
 * Returns a function that makes the edit for a column. All columns share what they need. Columns that are not texts are
 * handled by `otherwise`.
 */
export function digestEdits(context: OperatorContext, rules: DigestRules): (otherwise: CellEdit) => CellEdit {
  const { arena, kernel } = context;
  const { heap } = arena;
  const { key, encoding, length = ANY_LENGTH } = rules;
  const keyAt = key === null ? 0 : placeBytes(heap, keyBlocks(key)).at;
  const alphabet = placeText(heap, ALPHABETS[encoding]).at;
  const bits = Math.log2(ALPHABETS[encoding].length);
  const fill = encoding === 'base64' ? '='.charCodeAt(0) : 0;
  const scratch = heap.allocate(SCRATCH_BYTES);
  return (otherwise) => (work) => {
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

/** The blocks that HMAC puts before the message and before the inner digest. */
function keyBlocks(key: Uint8Array): Uint8Array {
  const short = key.length > BLOCK_BYTES ? createHash('sha256').update(key).digest() : key;
  const blocks = new Uint8Array(BLOCK_BYTES * 2);
  blocks.set(short);
  blocks.set(short, BLOCK_BYTES);
  return blocks.map((byte, at) => byte ^ (at < BLOCK_BYTES ? INNER : OUTER));
}
