// Shares the event loop among the bodies that arrive faster than they can be handled: those that have just brought much
// wait in a ring, and each turn of the loop lets some of them read on. It knows neither sockets nor what bytes mean.

/** What the bodies let in by one turn of the loop should bring together, in bytes: some milliseconds of work. */
const TURN_BYTES = 2 * 1024 * 1024;

/** What a body is held to bring at least: it may have gathered more while it waited. One buffer of the HTTP library. */
const READ_BYTES_MIN = 512 * 1024;

export interface TurnReader {
  /** What it brought when it last read, in bytes. */
  readonly lastReadBytes: number;
  /** It may read until it waits again. */
  readOn(): void;
}

export class ReadTurns {
  #ring = new Set<TurnReader>();
  #scheduled = false;
  #hasRoom: () => boolean;

  /** @param hasRoom whether what is read can be kept; when it can again, `look` must be called */
  constructor(hasRoom: () => boolean) {
    this.#hasRoom = hasRoom;
  }

  /** Lets the reader read on when its turn comes. */
  wait(reader: TurnReader): void {
    this.#ring.add(reader);
    this.#schedule();
  }

  /** The reader is gone or must not read. */
  leave(reader: TurnReader): void {
    this.#ring.delete(reader);
  }

  /** There may be room again. */
  look(): void {
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#ring.size === 0 || !this.#hasRoom()) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#turn();
    });
  }

  #turn(): void {
    let bytes = 0;
    for (const reader of this.#ring) {
      if (!this.#hasRoom()) return;
      bytes += Math.max(reader.lastReadBytes, READ_BYTES_MIN);
      this.#ring.delete(reader);
      reader.readOn();
      if (bytes >= TURN_BYTES) break;
    }
    this.#schedule();
  }
}
