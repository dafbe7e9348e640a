// Which rows of a large sample are looked at beside the first ones: those with cells of shapes that the first do not have, found
// by a thread of its own that reads the whole file once, and those that the last Run of the whole had trouble with. They hold
// until the file changes.
import type { ShapesRequest } from '../../workers/watch/watch-messages.ts';
import type { WatchThread } from './watch-thread.ts';

/** Rows that are read of a sample that is not read whole, wherever they stand the first. */
export const SAMPLE_ROWS_MAX = 1_000;

export type ShapeScan = Omit<ShapesRequest, 'kind' | 'firstRows'>;

export class SampleRows {
  readonly #openThread: () => WatchThread;
  readonly #onFault: (fault: unknown) => void;
  /** Of the file that the rows below are of. */
  #version = '';
  #shapes: readonly number[] = [];
  #troubled: readonly number[] = [];
  /** The file and how it is read, for which shapes were looked for last. */
  #scanned = '';
  #scanning: WatchThread | null = null;
  /** Until its threads are gone. */
  readonly #underWay = new Set<Promise<void>>();
  #scansDone = 0;

  constructor(openThread: () => WatchThread, onFault: (fault: unknown) => void) {
    this.#openThread = openThread;
    this.#onFault = onFault;
  }

  /** Counts how often other rows came to be at hand. */
  get scansDone(): number {
    return this.#scansDone;
  }

  /** Source rows, ascending; null: none beside the first ones. */
  picked(version: string): readonly number[] | null {
    this.#hold(version);
    const rows = new Set([...this.#shapes, ...this.#troubled]);
    for (let row = 1; row <= SAMPLE_ROWS_MAX; row++) rows.add(row);
    return rows.size > SAMPLE_ROWS_MAX ? [...rows].sort((a, b) => a - b) : null;
  }

  /** @param rows source rows of the whole file */
  noteTroubled(version: string, rows: readonly number[]): void {
    this.#hold(version);
    this.#troubled = rows;
  }

  /**
   * Looks for shapes where that was not done for this file, read in this way. Until it is done the rows that were found when it
   * was read otherwise are as good as any.
   */
  scan(version: string, scan: ShapeScan): void {
    this.#hold(version);
    const key = `${version} ${scan.template.sha256}`;
    if (key === this.#scanned) return;
    this.#scanned = key;
    this.#follow(this.#look(scan));
  }

  /** Resolves when no thread is left, nor its folder. */
  async close(): Promise<void> {
    this.#leave();
    await Promise.all(this.#underWay);
  }

  /** What is looked for is not wanted any more. */
  #leave(): void {
    const scanning = this.#scanning;
    this.#scanning = null;
    if (scanning !== null) this.#follow(scanning.close());
  }

  #follow(work: Promise<void>): void {
    const followed = work.catch(this.#onFault).finally(() => this.#underWay.delete(followed));
    this.#underWay.add(followed);
  }

  #hold(version: string): void {
    if (version === this.#version) return;
    this.#version = version;
    this.#shapes = [];
    this.#troubled = [];
    this.#scanned = '';
    this.#leave();
  }

  async #look(scan: ShapeScan): Promise<void> {
    this.#leave();
    const thread = this.#openThread();
    this.#scanning = thread;
    try {
      const rows = await thread.shapes({ ...scan, firstRows: SAMPLE_ROWS_MAX });
      if (this.#scanning !== thread || rows === null) return;
      this.#shapes = rows;
      this.#scansDone++;
    } finally {
      if (this.#scanning === thread) this.#scanning = null;
      await thread.close();
    }
  }
}
