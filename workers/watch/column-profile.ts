// Statistics of one column over all its rows: blanks, distinct values, most frequent values, shapes, minimum,
// maximum, and histogram. Reads each cell once, and limits its memory.
import type { ColumnType } from '../batch/schema.ts';
import { Decimal } from '../values/decimal.ts';

/** Maximum number of distinct values that are counted; above it, the profile reports "more than". */
const VALUES_MAX = 20_000;

/**
 * Longer texts are not stored as values: the profile is meant for columns of values, not of documents. In characters.
 */
const VALUE_CHARACTERS_MAX = 200;

/** Number of characters of a shape. Later characters rarely distinguish columns. */
export const SHAPE_CHARACTERS_MAX = 40;

/** Shape character of each ASCII character, by its code. */
export const ASCII_SHAPES = Uint8Array.from({ length: 128 }, (_, code) =>
  shapeOfAny(String.fromCharCode(code)).charCodeAt(0),
);

/** Codes of the shape characters whose runs are merged. */
export const RUNS: ReadonlySet<number> = new Set([...'Aa9'].map((shown) => shown.charCodeAt(0)));

/** Maximum number of shapes that are counted. */
const SHAPES_MAX = 1_000;

/** Maximum number of numbers kept for the histogram, 8 bytes each. */
const NUMBERS_MAX = 1_000_000;

export const FREQUENT_VALUES = 20;
const FREQUENT_SHAPES = 5;
export const HISTOGRAM_BARS = 12;

export interface Counted {
  readonly text: string;
  readonly count: number;
}

export interface Profile {
  readonly rows: number;
  /** Nulls, and texts that contain only spaces. */
  readonly blank: number;
  /** At most VALUES_MAX; if `moreDistinct` is true, there are more. */
  readonly distinct: number;
  readonly moreDistinct: boolean;
  readonly frequent: readonly Counted[];
  /** Letters are shown as a and A, digits as 9. A run of more than one is shown as one character and a plus. */
  readonly shapes: readonly Counted[];
  /** Minimum as text; null if there are no values. Numbers and dates are compared by value, others as text. */
  readonly least: string | null;
  readonly most: string | null;
  /**
   * Number of rows in each of HISTOGRAM_BARS intervals from minimum to maximum; null if the column has no numbers or
   * dates.
   */
  readonly histogram: readonly number[] | null;
  /**
   * Where the second and each further interval begins, rounded, as texts of the column's type; empty without a histogram.
   * The intervals have about the same width.
   */
  readonly edges: readonly string[];
}

export class ColumnProfile {
  readonly #type: ColumnType;
  readonly #hasOrder: boolean;
  readonly #values = new Map<string, number>();
  readonly #shapes = new Map<string, number>();
  #numbers: Float64Array;
  #numbersCount = 0;
  #rows = 0;
  #blank = 0;
  #moreDistinct = false;
  #least: { readonly text: string; readonly order: number | string } | null = null;
  #most: { readonly text: string; readonly order: number | string } | null = null;

  constructor(type: ColumnType) {
    this.#type = type;
    this.#hasOrder = !['text', 'json', 'boolean'].includes(type);
    this.#numbers = new Float64Array(this.#hasOrder ? 1024 : 0);
  }

  /** @param value as CellReader returns it; used for ordering */
  add(text: string | null, value: unknown): void {
    this.#rows++;
    if (text === null || text.trim() === '') {
      this.#blank++;
      return;
    }
    this.#count(text);
    const order = this.#hasOrder ? orderOf(value) : text.slice(0, VALUE_CHARACTERS_MAX);
    if (this.#least === null || order < this.#least.order) this.#least = { text: cut(text), order };
    if (this.#most === null || order > this.#most.order) this.#most = { text: cut(text), order };
    if (typeof order === 'number') this.#keep(order);
  }

  get profile(): Profile {
    const histogram = this.#histogram();
    return {
      rows: this.#rows,
      blank: this.#blank,
      distinct: this.#values.size,
      moreDistinct: this.#moreDistinct,
      frequent: mostFrequent(this.#values, FREQUENT_VALUES),
      shapes: mostFrequent(this.#shapes, FREQUENT_SHAPES),
      least: this.#least?.text ?? null,
      most: this.#most?.text ?? null,
      histogram: histogram?.bars ?? null,
      edges: histogram?.edges ?? [],
    };
  }

  #count(text: string): void {
    const known = this.#values.get(text);
    if (known !== undefined) this.#values.set(text, known + 1);
    else if (this.#values.size < VALUES_MAX && text.length <= VALUE_CHARACTERS_MAX) this.#values.set(text, 1);
    else this.#moreDistinct = true;
    if (this.#hasOrder) return;
    const shape = shapeOf(text);
    const count = this.#shapes.get(shape);
    if (count !== undefined || this.#shapes.size < SHAPES_MAX) this.#shapes.set(shape, (count ?? 0) + 1);
  }

  #keep(value: number): void {
    if (this.#numbersCount === NUMBERS_MAX || !Number.isFinite(value)) return;
    if (this.#numbersCount === this.#numbers.length) {
      const larger = new Float64Array(this.#numbers.length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#numbersCount++] = value;
  }

  #histogram(): { readonly bars: readonly number[]; readonly edges: readonly string[] } | null {
    if (this.#numbersCount === 0) return null;
    const values = this.#numbers.subarray(0, this.#numbersCount);
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const value of values) {
      if (value < least) least = value;
      if (value > most) most = value;
    }
    const { starts, edges } = intervals(this.#type, least, most);
    const bars = Array.from({ length: HISTOGRAM_BARS }, () => 0);
    const width = (most - least) / HISTOGRAM_BARS;
    for (const value of values) {
      let bar = width > 0 ? Math.min(HISTOGRAM_BARS - 1, Math.floor((value - least) / width)) : 0;
      // The intervals begin at rounded values.
      while (bar > 0 && value < starts[bar - 1]!) bar--;
      while (bar < starts.length && value >= starts[bar]!) bar++;
      bars[bar]!++;
    }
    return { bars, edges };
  }
}

const DAY_MILLISECONDS = 86_400_000;

/** Where the second and each further interval begins, as numbers and as texts of the type. */
function intervals(
  type: ColumnType,
  least: number,
  most: number,
): { readonly starts: readonly number[]; readonly edges: readonly string[] } {
  const width = (most - least) / HISTOGRAM_BARS;
  const { step, text } = roundingOf(type, width);
  const starts: number[] = [];
  const edges: string[] = [];
  for (let bar = 1; bar < HISTOGRAM_BARS; bar++) {
    const edge = text(Math.ceil((least + bar * width) / step) * step);
    edges.push(edge);
    // The text is what a filter compares with.
    starts.push(type === 'date' || type === 'datetime' ? Date.parse(edge) : Number(edge));
  }
  return { starts, edges };
}

/** The unit of the edges: a day, a whole number, or a tenth of the width's first digit. */
function roundingOf(type: ColumnType, width: number): { readonly step: number; text(value: number): string } {
  if (type === 'date') return { step: DAY_MILLISECONDS, text: (value) => new Date(value).toISOString().slice(0, 10) };
  if (type === 'datetime') return { step: 1, text: (value) => new Date(value).toISOString() };
  const digits = width > 0 ? 1 - Math.floor(Math.log10(width)) : 0;
  if (type === 'integer') return { step: 1, text: (value) => BigInt(value).toString() };
  // Large numbers are whole, and toFixed writes at most 100 digits.
  const fixed = Math.max(0, Math.min(100, digits));
  return { step: 10 ** -fixed, text: (value) => value.toFixed(fixed) };
}

/** Replaces letters by a and A, digits by 9, and a run of more than one by one character and a plus. */
export function shapeOf(text: string): string {
  return asciiShape(text) ?? shapeOfAny(text);
}

/**
 * Returns null if the text contains other characters than ASCII. Most cells are ASCII, and a profile covers millions
 * of cells.
 */
function asciiShape(text: string): string | null {
  let shape = '';
  let last = 0;
  let run = 0;
  const end = Math.min(text.length, SHAPE_CHARACTERS_MAX);
  for (let index = 0; index < end; index++) {
    const code = text.charCodeAt(index);
    if (code >= ASCII_SHAPES.length) return null;
    const shown = ASCII_SHAPES[code]!;
    run = shown === last && RUNS.has(shown) ? run + 1 : 1;
    last = shown;
    if (run <= 2) shape += run === 2 ? '+' : String.fromCharCode(shown);
  }
  return shape;
}

function shapeOfAny(text: string): string {
  return text
    .slice(0, SHAPE_CHARACTERS_MAX)
    .replace(/\p{Lu}/gu, 'A')
    .replace(/\p{L}/gu, (letter) => (letter === 'A' ? letter : 'a'))
    .replace(/\p{Nd}/gu, '9')
    .replace(/([Aa9])\1+/g, '$1+');
}

function cut(text: string): string {
  return text.length <= VALUE_CHARACTERS_MAX ? text : `${text.slice(0, VALUE_CHARACTERS_MAX)}…`;
}

/** Sort key of numbers, decimals, dates and times: a double, which is exact enough for a chart. */
function orderOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Decimal) return Number(value.toString());
  return Date.parse(String(value));
}

/** The entries with the highest counts. Equal counts are sorted by text. */
function mostFrequent(counts: ReadonlyMap<string, number>, countMax: number): Counted[] {
  const sorted = [...counts].sort(([a, some], [b, others]) => others - some || (a < b ? -1 : 1));
  return sorted.slice(0, countMax).map(([text, count]) => ({ text, count }));
}
