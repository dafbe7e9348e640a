// Collects a thread's garbage when large memory was dropped. V8 hardly knows how large a WebAssembly memory is and may leave
// a dozen dropped ones for seconds: the process would hold them, and the budget would miss them.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Dropped bytes that are worth a collection: it takes some 10 ms of a thread. */
const COLLECT_BYTES = 16 * 1024 * 1024;

/** A collection that left something is made again after so many milliseconds: something still referred to it. */
const AGAIN_MILLISECONDS = 200;

export interface Collector {
  /** So many bytes are not referred to any more, at the latest when this turn of the loop is over. */
  dropped(bytes: number): void;
  /** So many of them are free. */
  collected(bytes: number): void;
}

/** Of the calling thread. */
export class ThreadCollector implements Collector {
  #collect: (() => void) | null = null;
  #droppedBytes = 0;
  #timer: NodeJS.Timeout | null = null;

  dropped(bytes: number): void {
    this.#droppedBytes += bytes;
    if (this.#droppedBytes >= COLLECT_BYTES) this.#schedule(0);
  }

  collected(bytes: number): void {
    this.#droppedBytes -= bytes;
  }

  #schedule(milliseconds: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      if (this.#droppedBytes < COLLECT_BYTES) return;
      this.#collect ??= collectFunction();
      this.#collect();
      this.#schedule(AGAIN_MILLISECONDS);
    }, milliseconds).unref();
  }
}

/** For tests and tools that own their process. */
export const NO_COLLECTOR: Collector = { dropped: () => {}, collected: () => {} };

/** A full collection; there is no other way to it for a program that may not ask for flags of its command line. */
function collectFunction(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
