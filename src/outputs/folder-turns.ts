// Turns at a folder that may hang, such as one of another machine: a call that hangs keeps a thread of the four that Node
// has for files, and the others must go on with the node's own disk.
import { SharedStoreUnavailableError } from '../stores/store-unavailable.ts';

/** So long a client waits for its turn. */
const SOON_MILLISECONDS = 1_000;

export class FolderTurns {
  readonly #turnsMax: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(turnsMax: number) {
    this.#turnsMax = turnsMax;
  }

  /** Works as soon as it is its turn. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken >= this.#turnsMax) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    return this.#work(work);
  }

  /** Rejects with SharedStoreUnavailableError where the turn or the work takes too long; the work goes on. */
  async takeSoon<T extends { close(): Promise<void> } | null>(work: () => Promise<T>): Promise<T> {
    let isLate = false;
    const taken = this.take(async () => {
      if (isLate) throw tooLate();
      const made = await work();
      if (isLate) await made?.close();
      return made;
    });
    taken.catch(() => {});
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        isLate = true;
        reject(tooLate());
      }, SOON_MILLISECONDS);
    });
    return Promise.race([taken, late]).finally(() => clearTimeout(timer));
  }

  async #work<T>(work: () => Promise<T>): Promise<T> {
    this.#taken += 1;
    try {
      return await work();
    } finally {
      this.#taken -= 1;
      const [next] = this.#waiting;
      if (next !== undefined) {
        this.#waiting.delete(next);
        next();
      }
    }
  }
}

function tooLate(): SharedStoreUnavailableError {
  return new SharedStoreUnavailableError('the folder of outputs', new Error('it does not answer'), false);
}
