// Rows that a scout finds for one reader: sends it on errands where enough of the file is there, and puts what it found
// into the Run's window and index, as if they had read and scanned it themselves.
import { REGION_PADDING_BYTES } from '../../heap.ts';
import type { StructuralIndex } from '../csv/structural-index.ts';
import type { Window } from '../csv/window.ts';
import type { Scout } from './scout.ts';
import { SLOT_BYTES, type Stretch } from './scout-memory.ts';

/** Between two looks at a scout whose disk is slow. */
const PAUSE_MILLISECONDS = 1;

export class ScoutedRows {
  readonly #scout: Scout;
  readonly #window: Window;
  readonly #index: StructuralIndex;
  readonly #dialect: { readonly delimiter: number; readonly quote: number };
  /** Byte of the file behind what the errand has brought; null: there is no errand. */
  #at: number | null = null;
  #isUseful = true;
  #hasBrought = false;

  constructor(scout: Scout, window: Window, index: StructuralIndex, delimiter: number, quote: number) {
    this.#scout = scout;
    this.#window = window;
    this.#index = index;
    this.#dialect = { delimiter, quote };
  }

  /** True between `advance` telling 'wait' and what it waits for. */
  get isAway(): boolean {
    return this.#at !== null;
  }

  /** 'rows': the next ones are in the index. 'alone': the reader goes on by itself. Called when all rows were taken. */
  advance(): 'rows' | 'wait' | 'alone' {
    if (this.#at === null && !this.#send()) return 'alone';
    const stretch = this.#scout.next();
    if (stretch === 'none') return 'wait';
    if (stretch === 'over') {
      this.#end();
      return 'alone';
    }
    this.#take(stretch);
    return 'rows';
  }

  wait(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
  }

  close(): void {
    if (this.#at !== null) this.#scout.recall();
    this.#at = null;
  }

  #send(): boolean {
    const rest = this.#isUseful && !this.#window.large ? this.#window.rest(this.#index.rowStart) : null;
    if (rest === null) return false;
    const { errandBytesMin, errandBytesMax } = this.#scout.settings;
    this.#scout.prepare(rest);
    if (rest.to - rest.from < errandBytesMin || !this.#fitsSlot()) return false;
    const { base, windowBytes } = this.#window;
    const { state, entries, entriesMax } = this.#index;
    const to = Math.min(rest.to, rest.from + errandBytesMax);
    const range = { ...rest, to, ends: rest.ends && to === rest.to };
    const places = { base, windowBytes, state, entries, entriesMax };
    if (!this.#scout.send({ ...range, dialect: this.#dialect, ...places })) return false;
    this.#at = rest.from;
    this.#hasBrought = false;
    this.#index.restart(this.#index.rowStart);
    this.#window.leave(this.#index.rowStart);
    return true;
  }

  #fitsSlot(): boolean {
    const behindWindow = this.#window.base + this.#window.roomBytes;
    const behindEntries = this.#index.entries + this.#index.entriesMax * 4;
    return Math.max(behindWindow, behindEntries) + REGION_PADDING_BYTES <= SLOT_BYTES;
  }

  #take(stretch: Stretch): void {
    const { base } = this.#window;
    const { bytes } = this.#scout;
    this.#window.put(bytes.subarray(base, base + stretch.bytes), stretch.last);
    this.#index.put(bytes, stretch, base, base + stretch.bytes);
    this.#scout.taken();
    this.#hasBrought = true;
    this.#at! += stretch.bytes;
    if (stretch.last) this.close();
  }

  /** A file in which it found nothing it could bring has more such rows. */
  #end(): void {
    this.#isUseful = this.#hasBrought;
    this.#window.goOnAt(this.#at!);
    this.#index.restart(this.#window.start);
    this.close();
  }
}
