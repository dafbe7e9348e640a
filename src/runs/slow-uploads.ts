// Which uploads arrive slowly: looks at those that are not whole a few times a second, and lets the engine's work on each
// decide what to do about it.

/** An upload that brings fewer bytes than this in so many milliseconds is slow: below 64 KiB/s its Run waits far more than it works. */
const SLOW_BYTES = 128 * 1024;
const SLOW_MILLISECONDS = 2000;

const LOOK_MILLISECONDS = 250;

/** The pace of one upload. */
export class UploadPace {
  #bytes = 0;
  #since: number;

  /** @param now as below: milliseconds, of performance.now */
  constructor(now: number) {
    this.#since = now;
  }

  /** @param bytes of the upload that have arrived */
  isSlow(bytes: number, now: number): boolean {
    if (bytes - this.#bytes >= SLOW_BYTES) this.restart(bytes, now);
    return now - this.#since >= SLOW_MILLISECONDS;
  }

  /** It had to wait for us: its pace counts from now on. */
  restart(bytes: number, now: number): void {
    this.#bytes = bytes;
    this.#since = now;
  }
}

export interface WatchedUpload {
  /** @param now milliseconds, of performance.now */
  look(now: number): void;
}

export class SlowUploads {
  readonly #watched = new Set<WatchedUpload>();
  #watch: NodeJS.Timeout | null = null;

  add(upload: WatchedUpload): void {
    this.#watched.add(upload);
    this.#watch ??= setInterval(() => this.#look(), LOOK_MILLISECONDS);
  }

  /** Idempotent. */
  remove(upload: WatchedUpload): void {
    this.#watched.delete(upload);
  }

  #look(): void {
    const now = performance.now();
    for (const upload of this.#watched) upload.look(now);
    if (this.#watched.size > 0 || this.#watch === null) return;
    clearInterval(this.#watch);
    this.#watch = null;
  }
}
