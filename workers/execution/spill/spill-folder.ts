// The files to which one Run spills state that the budget refuses. They go away with the Run, whatever happens.
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export class SpillFolder {
  readonly #directory: string;
  /** Null before the first file: most Runs make none. */
  #open: Set<number> | null = null;
  #made = false;
  #count = 0;

  /** @param directory a path of the Run's own, made at first use and removed by `remove` */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** A new empty file, opened for reading and writing. */
  create(): number {
    if (!this.#made) {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      this.#made = true;
    }
    const descriptor = openSync(join(this.#directory, `${this.#count++}.spill`), 'wx+', 0o600);
    this.#open ??= new Set();
    this.#open.add(descriptor);
    return descriptor;
  }

  close(descriptor: number): void {
    if (this.#open?.delete(descriptor)) closeSync(descriptor);
  }

  /** Closes and removes everything. */
  remove(): void {
    if (this.#open === null) return;
    for (const descriptor of this.#open) closeSync(descriptor);
    this.#open.clear();
    if (this.#made) rmSync(this.#directory, { recursive: true, force: true });
  }
}
