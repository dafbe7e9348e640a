// The bytes of an upload: forwards as they come, and at any place once the file is whole.

import type { DecodeWork } from './decode-work.ts';

/** Bytes of an upload in order. Synchronous where bytes are there, a wait where they are not. */
export interface ByteSource {
  /** Copies the next bytes into `target`; 0 when none are there now (see `ended`). */
  read(target: Uint8Array): number;
  /** All bytes from here to the end, where they are in memory and fewer than `bytes`; else null. They stay to be read. */
  whole?(bytes: number): Uint8Array | null;
  /** True when everything was read and nothing will follow. */
  readonly ended: boolean;
  /** The file in which what comes next stands as it is; null, as without it: it stands nowhere, or was read before. */
  rest?(): FileRest | null;
  /** Goes on at a byte of that file. */
  seek?(at: number): void;
  /** Others have brought the bytes of that file up to this one: for whoever shows how far it is. */
  passed?(at: number): void;
  /** Bytes of that file that became a text which was read; without it as many as the text has. */
  bytesOf?(text: Uint8Array): number;
  /** How others make text of its bytes; null, as without it: they are text. */
  decode?(): DecodeWork | null;
  /** Resolves when `read` would give bytes, or at the end. Rejects with Cancelled. */
  wait(): Promise<void>;
  close(): void;
}

/** Bytes of a file that are not read yet. */
export interface FileRest {
  readonly path: string;
  /** The next byte, and the one behind the last that is there. */
  readonly from: number;
  readonly to: number;
  /** Whether `to` is the end of the file. */
  readonly ends: boolean;
}

/** All bytes of a file that is complete, for formats that begin at its end or go to and fro. */
export interface WholeSource {
  readonly sizeBytes: number;
  /** The file in which the bytes from `position` on stand as they are; without it: they stand nowhere. */
  restAt?(position: number): FileRest;
  /** As that of a ByteSource. */
  passed?(at: number): void;
  /** Fills `target` with the bytes from `position` on; gives how many, fewer only at the end of the file. */
  readAt(target: Uint8Array, position: number): number;
  close(): void;
}

/**
 * The bytes as they were received, in memory or in the spool: forwards while they come; once all have arrived also at any
 * place, and again from the first one (a Run that begins anew).
 */
export interface StoredSource extends ByteSource, WholeSource {
  /** All bytes are there. `sizeBytes` and `readAt` are for then. */
  readonly hasArrived: boolean;
  /** Resolves when all bytes are there. Rejects with Cancelled: also when its Run is to make room for others (set_aside). */
  arrival(): Promise<void>;
  /** Where it was last read, in bytes from its first one. */
  readonly reachedBytes: number;
  rewind(): void;
}
