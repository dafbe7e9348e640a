// One slot with a text in it, and what a format finds there.
import type { ReadAheadExports } from '../../kernel/bindings/exports.ts';
import type { Chunk } from './read-ahead-memory.ts';

/** The kernels over the memory of one slot. */
export type SlotKernels = Pick<ReadAheadExports, 'scan' | 'readJson' | 'decodeSingleBytes'>;

export interface FilledSlot {
  readonly u8: Uint8Array;
  readonly u32: Uint32Array;
  readonly kernels: SlotKernels;
  /** The text: from the first byte of a row to behind its last byte. */
  readonly base: number;
  readonly filled: number;
  /** The file ends with this text, which has a line feed at its end. */
  readonly isAtEnd: boolean;
}

/** Complete and sound rows in a text: where they end, and what the format tells of them. */
export type FoundRows = Pick<Chunk, 'entries' | 'rowEnds' | 'lines' | 'literal'> & { readonly end: number };

/** Null: no row is complete, or one is not sound. */
export type FindRows = (slot: FilledSlot) => FoundRows | null;
