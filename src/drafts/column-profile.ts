// Statistics of one column over a whole sample, and counts of repeated cells and rows.
import { type CompiledForm, DateCells, NumberCells } from './typed-cells.ts';

// Counts repeated cells and rows of a sample by digests of their text. One memory limit applies to all counters
// together, however large the sample and its cells are.

/** Maximum number of digests kept for one sample. A digest takes about 40 bytes in a set, so this is 40 MB. */
const DIGESTS_MAX = 1_000_000;

/**
 * Shared limit on the digests of one sample. When it is exceeded, the counter that was created last is given up
 * first.
 */
export class DigestBudget {
  readonly #keepers: RepeatCounter[] = [];
  readonly #digestsMax: number;
  #kept = 0;

  constructor(digestsMax: number = DIGESTS_MAX) {
    this.#digestsMax = digestsMax;
  }

  /** Counters created earlier are kept longer. */
  counter(): RepeatCounter {
    const counter = new RepeatCounter(this);
    this.#keepers.push(counter);
    return counter;
  }

  take(): void {
    this.#kept++;
    while (this.#kept > this.#digestsMax) this.#kept -= this.#keepers.pop()!.giveUp();
  }
}

export class RepeatCounter {
  readonly #budget: DigestBudget;
  #digests: Set<number> | null = new Set();
  #repeats = 0;

  constructor(budget: DigestBudget) {
    this.#budget = budget;
  }

  add(text: string): void {
    if (this.#digests === null) return;
    const digest = digestOf(text);
    if (this.#digests.has(digest)) {
      this.#repeats++;
      return;
    }
    this.#digests.add(digest);
    this.#budget.take();
  }

  /** True if the text occurred before. Always false after this counter was given up. */
  has(text: string): boolean {
    return this.#digests?.has(digestOf(text)) ?? false;
  }

  /** Texts that occurred before; null: this counter was given up because of the memory limit. */
  get repeats(): number | null {
    return this.#digests === null ? null : this.#repeats;
  }

  /** @returns the number of digests that were released */
  giveUp(): number {
    const kept = this.#digests?.size ?? 0;
    this.#digests = null;
    return kept;
  }
}

/**
 * 53-bit digest of a text, from two 32-bit sums over its UTF-16 code units (cyrb53 by bryc, public domain). The
 * chance that a sample of a million texts contains a collision is 1 in 18,000. That is acceptable because results
 * based on digests are only proposed, never applied.
 */
function digestOf(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}

// Statistics of one column over a whole sample. Keeps cell values only while the column has few distinct values,
// which is all that the rules need.

/** A cell as the engine wrote it: a string, or a number, boolean or JSON value if the input format has types. */
export type SampleCell = string | number | boolean | object | null;

/** Distinct values kept per column, and the length of the longest value kept, in characters. */
const VALUES_MAX = 50;
const VALUE_LENGTH_MAX = 60;

/** Strings that mean "missing", as people and programs write them. */
const MISSING = /^(?:-{1,3}|–|—|n\/?a|#n\/a|null|none|nil|k\.\s?a\.|keine angabe|\\n)$/i;

export class ColumnProfile {
  /** Cells that are not blank. */
  cells = 0;
  blanks = 0;
  /** Cells with leading or trailing whitespace. */
  padded = 0;
  /** Cells with several whitespace characters, or whitespace other than a space, between words. */
  spaced = 0;
  /** Cells that the input format delivers as numbers, and as other types except strings. */
  nativeNumbers = 0;
  nativeOthers = 0;
  readonly numbers = new NumberCells();
  readonly dates: DateCells;
  /** Strings such as `-` and `n/a` with their number of occurrences. */
  readonly missing = new Map<string, number>();
  /** Distinct values with their number of occurrences; null: too many to keep. */
  values: Map<string, number> | null = new Map();
  readonly #repeats: RepeatCounter;
  /** Blank cells directly below a filled cell of the same column. */
  blanksBelow = 0;

  constructor(forms: readonly CompiledForm[], budget: DigestBudget = new DigestBudget()) {
    this.dates = new DateCells(forms);
    this.#repeats = budget.counter();
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
    else if (typeof cell === 'number') this.numbers.addNative(text);
    else if (typeof cell === 'string') {
      this.numbers.add(text);
      this.dates.add(text);
    }
    this.#count(text);
  }

  /** Cells that may be values, which means all cells except those that mean "missing". */
  get valueCells(): number {
    return [...this.missing.values()].reduce((left, count) => left - count, this.cells);
  }

  /** Cells equal to an earlier cell; null: too many distinct values to count. */
  get repeats(): number | null {
    return this.#repeats.repeats;
  }

  /** True if a cell has this text. Always false if there were too many distinct values to keep. */
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
