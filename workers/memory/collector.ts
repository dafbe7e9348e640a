// Collects a thread's garbage when large memory was dropped. V8 hardly knows how large a WebAssembly memory is and may leave
// a dozen dropped ones for seconds: the process would hold them, and the budget would miss them.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Dropped bytes that are worth a collection at once: it takes some 10 ms of a thread. */
const COLLECT_BYTES = 16 * 1024 * 1024;

/** Fewer wait for so many milliseconds: a thread that rests makes no garbage, so that V8 would leave them for ever. */
const COLLECT_LATER_MILLISECONDS = 1000;

/** A collection that left something is made again after so many milliseconds: something still referred to it. */
const AGAIN_MILLISECONDS = 200;

export interface Collector {
  /**
   * So many bytes are not referred to any more, at the latest when this turn of the loop is over.
   * @param isAwaited other Runs wait for them: few are worth a collection too
   */
  dropped(bytes: number, isAwaited: boolean): void;
  /** So many of them are free. */
  collected(bytes: number, isAwaited: boolean): void;
  /** Long texts of so many bytes were made, which V8 keeps outside its heap and may leave until there are 64 MiB of them. */
  madeTexts(bytes: number): void;
}

/** Of the calling thread. */
export class ThreadCollector implements Collector {
  #collect: (() => void) | null = null;
  #droppedBytes = 0;
  #textBytes = 0;
  /** Memories that others wait for. */
  #awaited = 0;
  #timer: NodeJS.Timeout | null = null;
  #later: NodeJS.Timeout | null = null;

  dropped(bytes: number, isAwaited: boolean): void {
    this.#droppedBytes += bytes;
    if (isAwaited) this.#awaited++;
    if (this.#isWorthwhile) this.#schedule(0);
    else this.#later ??= setTimeout(() => this.#collectRest(), COLLECT_LATER_MILLISECONDS).unref();
  }

  collected(bytes: number, isAwaited: boolean): void {
    this.#droppedBytes -= bytes;
    if (isAwaited) this.#awaited--;
  }

  /** At once: in the middle of a row there is no other time, and its next text is as long as its last. */
  madeTexts(bytes: number): void {
    this.#textBytes += bytes;
    if (this.#textBytes >= COLLECT_BYTES) this.#collectNow();
  }

  get #isWorthwhile(): boolean {
    return this.#droppedBytes >= COLLECT_BYTES || this.#awaited > 0;
  }

  #collectNow(): void {
    this.#textBytes = 0;
    this.#collect ??= collectFunction();
    this.#collect();
  }

  #collectRest(): void {
    this.#later = null;
    if (this.#droppedBytes > 0) this.#collectNow();
  }

  #schedule(milliseconds: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      if (!this.#isWorthwhile) return;
      this.#collectNow();
      this.#schedule(AGAIN_MILLISECONDS);
    }, milliseconds).unref();
  }
}

/** For tests and tools that own their process. */
export const NO_COLLECTOR: Collector = { dropped: () => {}, collected: () => {}, madeTexts: () => {} };

/** A full collection; there is no other way to it for a program that may not ask for flags of its command line. */
function collectFunction(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
