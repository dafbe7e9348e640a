// Shares the event loop among bodies that arrive faster than they can be processed: bodies that have just delivered
// much wait in a ring, and each turn of the loop lets some of them continue. Knows neither sockets nor the meaning of
// bytes. Work is measured in bytes; each chunk counts as CHUNK_WORK_BYTES more, because it costs a call.

/** Cost of processing a chunk in addition to its bytes, as an equivalent number of bytes: 2 us. */
export const CHUNK_WORK_BYTES = 512;

/** Total number of bytes that the bodies admitted in one turn should deliver: some milliseconds of work. */
const TURN_BYTES = 2 * 1024 * 1024;

/**
 * Minimum number of bytes assumed for a body, because it may have buffered more while it waited: one buffer of the HTTP
 * library.
 */
const READ_BYTES_MIN = 512 * 1024;

export interface TurnReader {
  /** Work of its last read, in bytes. */
  readonly lastReadWork: number;
  /** Permits reading until it waits again. */
  continueReading(): void;
}

export class ReadTurns {
  #ring = new Set<TurnReader>();
  #scheduled = false;
  #hasMemory: () => boolean;
  /** Number of the current turn of the loop, for readers that measure what one turn delivers. */
  #turnNumber = 0;
  #isTurnOpen = false;

  /** @param hasMemory whether there is memory for more bytes; when there is memory again, `memoryFreed` must be called */
  constructor(hasMemory: () => boolean) {
    this.#hasMemory = hasMemory;
  }

  /** Equal for all calls within one turn of the loop. */
  get turnNumber(): number {
    if (!this.#isTurnOpen) {
      this.#isTurnOpen = true;
      this.#turnNumber += 1;
      setImmediate(() => {
        this.#isTurnOpen = false;
      });
    }
    return this.#turnNumber;
  }

  /** Lets the reader continue when its turn comes. */
  wait(reader: TurnReader): void {
    this.#ring.add(reader);
    this.#schedule();
  }

  /** Removes a reader that is gone or must not read. */
  leave(reader: TurnReader): void {
    this.#ring.delete(reader);
  }

  /** Called when there may be memory again. */
  memoryFreed(): void {
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#ring.size === 0 || !this.#hasMemory()) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#turn();
    });
  }

  #turn(): void {
    let work = 0;
    for (const reader of this.#ring) {
      if (!this.#hasMemory()) return;
      work += Math.max(reader.lastReadWork, READ_BYTES_MIN);
      this.#ring.delete(reader);
      reader.continueReading();
      if (work >= TURN_BYTES) break;
    }
    this.#schedule();
  }
}
