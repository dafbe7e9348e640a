// The rows of one reference table as records (kernel/assembly/rows.ts), all columns text: in memory while the budget
// allows, else in a file of the Run that reads them.
import type { BudgetShare } from '../../memory/budget.ts';
import type { SpillBytes } from '../spill/spill-file.ts';

export class TableRows implements SpillBytes {
  /** Names of the columns in their order; unique. */
  readonly columns: readonly string[];
  readonly #budget: BudgetShare;
  /** Null once it is complete. */
  #spillTo: (() => SpillBytes) | null;
  readonly #chunks: Uint8Array[] = [];
  /** Position of each chunk's first byte. */
  readonly #starts: number[] = [];
  #file: SpillBytes | null = null;
  #sizeBytes = 0;
  rows = 0;

  /** @param spillTo makes the file to which everything goes when the budget refuses more */
  constructor(columns: readonly string[], budget: BudgetShare, spillTo: () => SpillBytes) {
    this.columns = columns;
    this.#budget = budget;
    this.#spillTo = spillTo;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** False when the rows are in a file of the Run that loaded them: they end with it. */
  get inMemory(): boolean {
    return this.#file === null;
  }

  /** All rows are there. A table outlives the Run that read it, and must not keep it with all its memory. */
  complete(): void {
    this.#spillTo = null;
  }

  append(bytes: Uint8Array): void {
    if (this.#file === null && !this.#budget.take(bytes.length)) this.#moveToFile();
    if (this.#file === null) {
      this.#starts.push(this.#sizeBytes);
      this.#chunks.push(bytes.slice());
    } else this.#file.append(bytes);
    this.#sizeBytes += bytes.length;
  }

  /** Fills `target` from `position` on; gives the bytes read, fewer only at the end. */
  read(target: Uint8Array, position: number): number {
    if (this.#file !== null) return this.#file.read(target, position);
    let at = 0;
    for (let index = this.#chunkAt(position); index < this.#chunks.length && at < target.length; index++) {
      const from = position + at - this.#starts[index]!;
      const part = this.#chunks[index]!.subarray(from, from + target.length - at);
      target.set(part, at);
      at += part.length;
    }
    return at;
  }

  /** Gives the memory or the file back. */
  drop(): void {
    this.#file?.drop();
    if (this.#file === null) this.#budget.give(this.#sizeBytes);
    this.#chunks.length = 0;
    this.#starts.length = 0;
    this.#sizeBytes = 0;
  }

  #moveToFile(): void {
    if (this.#spillTo === null) throw new Error('the table is complete');
    const file = this.#spillTo();
    for (const chunk of this.#chunks) file.append(chunk);
    this.#chunks.length = 0;
    this.#starts.length = 0;
    this.#budget.give(this.#sizeBytes);
    this.#file = file;
  }

  /** The last chunk that starts at the position or before it. */
  #chunkAt(position: number): number {
    let [low, high] = [0, this.#starts.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle]! <= position) low = middle;
      else high = middle;
    }
    return low;
  }
}
