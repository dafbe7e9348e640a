// How a thread that has the file makes text of its bytes, as the source that told it does.

/** Of a single-byte encoding: addresses of the Run's, and what stands at the table. */
export interface DecodeWork {
  readonly state: number;
  readonly table: number;
  readonly words: Uint8Array;
  /** Where the file's bytes stand before they are decoded, and for how many there is room. */
  readonly piece: number;
  readonly pieceBytes: number;
}
