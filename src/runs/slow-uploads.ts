// Detects slow uploads: checks incomplete uploads a few times per second, and lets the engine's work on each decide
// how to react.

/**
 * An upload is slow if fewer bytes than this arrive within the time below: under 64 KiB/s, its Run waits far more
 * than it works.
 */
const SLOW_BYTES = 128 * 1024;
const SLOW_MILLISECONDS = 2000;

const CHECK_MILLISECONDS = 250;

/** Tracks the speed of one upload. */
export class UploadPace {
  #bytes = 0;
  #since: number;

  /** @param now milliseconds, of performance.now */
  constructor(now: number) {
    this.#since = now;
  }

  /** @param bytes number of upload bytes that have arrived */
  isSlow(bytes: number, now: number): boolean {
    if (bytes - this.#bytes >= SLOW_BYTES) this.restart(bytes, now);
    return now - this.#since >= SLOW_MILLISECONDS;
  }

  /** Restarts the measurement after the upload had to wait for this service. */
  restart(bytes: number, now: number): void {
    this.#bytes = bytes;
    this.#since = now;
  }
}

export interface WatchedUpload {
  /** @param now milliseconds, of performance.now */
  check(now: number): void;
}

export class SlowUploads {
  readonly #watched = new Set<WatchedUpload>();
  #watch: NodeJS.Timeout | null = null;

  add(upload: WatchedUpload): void {
    this.#watched.add(upload);
    this.#watch ??= setInterval(() => this.#check(), CHECK_MILLISECONDS);
  }

  /** Idempotent. */
  remove(upload: WatchedUpload): void {
    this.#watched.delete(upload);
  }

  #check(): void {
    const now = performance.now();
    for (const upload of this.#watched) upload.check(now);
    if (this.#watched.size > 0 || this.#watch === null) return;
    clearInterval(this.#watch);
    this.#watch = null;
  }
}
