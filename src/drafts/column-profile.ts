// What is counted of one column over a whole sample. It keeps cells only as far as rules need them: few different ones.
import { type CompiledForm, DateCells } from './date-cells.ts';
import { DigestRoom, type RepeatCounter } from './digest-counts.ts';
import { NumberCells } from './number-cells.ts';

/** A cell as the engine wrote it: a text, or what a file knew as a number, a boolean or JSON. */
export type SampleCell = string | number | boolean | object | null;

/** Different values that are kept, of at most so many characters. */
const VALUES_MAX = 50;
const VALUE_LENGTH_MAX = 60;

/** Texts that mean "missing", as people and programs write them. */
const MISSING = /^(?:-{1,3}|–|—|n\/?a|#n\/a|null|none|nil|k\.\s?a\.|keine angabe|\\n)$/i;

export class ColumnProfile {
  /** Cells with anything but blanks. */
  cells = 0;
  blanks = 0;
  /** Cells with blanks around them. */
  padded = 0;
  /** Cells with several blanks, or others than a space, between words. */
  spaced = 0;
  /** Cells that a file knew as numbers, and as anything else but text. */
  nativeNumbers = 0;
  nativeOthers = 0;
  readonly numbers = new NumberCells();
  readonly dates: DateCells;
  /** Texts such as `-` and `n/a`, and how often. */
  readonly missing = new Map<string, number>();
  /** Null: there are more. */
  values: Map<string, number> | null = new Map();
  readonly #repeats: RepeatCounter;
  /** Blank cells under one that is not, in the same column. */
  blanksBelow = 0;

  constructor(forms: readonly CompiledForm[], room: DigestRoom = new DigestRoom()) {
    this.dates = new DateCells(forms);
    this.#repeats = room.counter();
  }

  add(cell: SampleCell): void {
    if (typeof cell === 'number') this.nativeNumbers++;
    else if (typeof cell === 'boolean' || (typeof cell === 'object' && cell !== null)) this.nativeOthers++;
    const raw = cell === null ? '' : typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
    const text = raw.trim();
    if (text === '') {
      this.blanks++;
      if (this.cells > 0) this.blanksBelow++;
      if (raw !== '') this.padded++;
      return;
    }
    this.cells++;
    if (raw !== text) this.padded++;
    if (/\s{2}|[\t\u00a0]/.test(text)) this.spaced++;
    if (MISSING.test(text)) this.missing.set(text, (this.missing.get(text) ?? 0) + 1);
    else if (typeof cell === 'string') {
      this.numbers.add(text);
      this.dates.add(text);
    }
    this.#count(text);
  }

  /** Cells that may be values: all but those that mean "missing". */
  get valueCells(): number {
    return [...this.missing.values()].reduce((left, count) => left - count, this.cells);
  }

  /** Cells that were there before; null: too many to tell. */
  get repeats(): number | null {
    return this.#repeats.repeats;
  }

  /** Whether a cell has this text; false, too, where there are too many to tell. */
  has(text: string): boolean {
    return this.values?.has(text) ?? this.#repeats.has(text);
  }

  #count(text: string): void {
    if (this.values !== null) {
      const known = this.values.get(text);
      if (known !== undefined) this.values.set(text, known + 1);
      else if (this.values.size < VALUES_MAX && text.length <= VALUE_LENGTH_MAX) this.values.set(text, 1);
      else this.values = null;
    }
    this.#repeats.add(text);
  }
}
