// Interfaces for the bytes of an upload.

// Instructions with which another thread that has the file decodes its bytes to text, like the source that created
// them.

/** For a single-byte encoding: addresses in the Run's memory, and the content of the table. */
export interface DecodeWork {
  readonly state: number;
  readonly table: number;
  readonly words: Uint8Array;
  /** Address of the file's bytes before decoding, and the space there. */
  readonly piece: number;
  readonly pieceBytes: number;
  /** True if a line of UTF-8 ends the work of that thread. The source finds the same line. */
  readonly isMixtureSearched: boolean;
}

// Interfaces for the bytes of an upload: sequential access while it arrives, and random access once it is complete.

/** Bytes of an upload in order. Reading is synchronous if bytes are available; otherwise the reader waits. */
export interface ByteSource {
  /**
   * Copies the next bytes into `target` and returns their number. Returns 0 if no bytes are available now (see
   * `ended`).
   */
  read(target: Uint8Array): number;
  /**
   * Returns all remaining bytes if they are in memory and fewer than `bytes`, otherwise null. Does not consume them.
   */
  whole?(bytes: number): Uint8Array | null;
  /** True if everything has been read and nothing will follow. */
  readonly ended: boolean;
  /**
   * Returns the file that contains the next bytes unchanged. If no file does, or if the bytes have been read before,
   * the result is null or the method is missing.
   */
  rest?(): FileRest | null;
  /** Continues at an offset of that file. */
  seek?(at: number): void;
  /** Reports that other threads have read that file up to this offset, for displays of the progress. */
  passed?(at: number): void;
  /**
   * Returns the number of bytes of that file from which the given text was decoded. Without this method, it is the
   * length of the text.
   */
  bytesOf?(text: Uint8Array): number;
  /**
   * Returns the number of bytes that a conversion has added to a line before a place in it. Both are offsets in the
   * converted text. Without this method, it is 0.
   */
  addedBytes?(lineStart: number, at: number): number;
  /**
   * Describes how another thread decodes the bytes of that file. If they need no decoding, the result is null or the
   * method is missing.
   */
  decode?(): DecodeWork | null;
  /** Resolves when `read` would return bytes, or at the end. Rejects with Cancelled. */
  wait(): Promise<void>;
  close(): void;
}

/** A part of a file that several threads read: the records that begin in a range of bytes. */
export interface FilePart {
  readonly from: number;
  /** Offset after the last byte. */
  readonly to: number;
  /** Adds decompressed bytes. Returns the number of those that all threads have decompressed. */
  addInflated(bytes: number): number;
}

/** The bytes of a file that have not been read yet. */
export interface FileRest {
  readonly path: string;
  /** Offset of the next byte, and the offset after the last byte available. */
  readonly from: number;
  readonly to: number;
  /** True if `to` is the end of the file. */
  readonly ends: boolean;
}

/** All bytes of a complete file, for formats that need random access. */
export interface WholeSource {
  readonly sizeBytes: number;
  /** Returns the file that contains the bytes from `position` on unchanged. If no file does, the method is missing. */
  restAt?(position: number): FileRest;
  /** Same as in ByteSource. */
  passed?(at: number): void;
  /**
   * Fills `target` with the bytes from `position` on and returns their number, which is smaller only at the end of the
   * file.
   */
  readAt(target: Uint8Array, position: number): number;
  close(): void;
}

/**
 * The bytes as received, in memory or in the spool: sequential while they arrive. Once complete, also random access,
 * and reading again from the first byte (a Run that restarts).
 */
export interface StoredSource extends ByteSource, WholeSource {
  /** True if all bytes have arrived. `sizeBytes` and `readAt` may be used only then. */
  readonly hasArrived: boolean;
  /**
   * Resolves when all bytes have arrived. Rejects with Cancelled, also if the Run is suspended to release memory for
   * other Runs (`suspend`).
   */
  arrival(): Promise<void>;
  /** Offset after the bytes last read, from the first byte of the source. */
  readonly reachedBytes: number;
  /** Set if the Run reads the records of one part, which it has to find in the whole file. */
  readonly part?: FilePart | null;
  rewind(): void;
}
