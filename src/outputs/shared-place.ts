// The port to a place that all nodes see, for outputs that are too large for Redis. The first part of a name is the hour in
// which what it names expires: no index is needed to remove it.
import type { RangeReader } from '../http/send-bytes.ts';

export interface SharedPlace {
  /**
   * Keeps what is in memory, or the file at a path. Where it rejects, nothing of it remains under the name: with
   * SharedStoreUnavailableError where the place does not answer within `milliseconds`, or with Failed.
   * @returns its SHA-256 in lower-case hex
   */
  put(name: string, content: Uint8Array | string, sizeBytes: number, milliseconds: number): Promise<string>;

  /**
   * Opens `lengthBytes` from `start` on; they are read one after the other. null: it has been removed. Rejects with
   * SharedStoreUnavailableError.
   */
  open(name: string, start: number, lengthBytes: number): Promise<RangeReader | null>;

  /** It need not be there. */
  remove(name: string): Promise<void>;

  /** Removes what expired before this hour. */
  sweep(hour: string): Promise<void>;

  /** How often it did not do what was asked, by reason. */
  readonly troubles: ReadonlyMap<string, number>;

  /** Nothing is waited for any more: the node ends. */
  hurry(): void;

  close(): void;
}

/** Of a place that does not answer a client who waits. */
export const SOON_MILLISECONDS = 1_000;

/** `2026-11-23T17`. */
const HOUR_CHARACTERS = 13;
const HOUR = /^\d{4}-\d\d-\d\dT\d\d$/;

/** @param time milliseconds since 1970 */
export function hourOf(time: number): string {
  return new Date(time).toISOString().slice(0, HOUR_CHARACTERS);
}

export function isHour(text: string): boolean {
  return HOUR.test(text);
}
