// Lays out the program of the CSV kernel in a Run's memory (words: kernel/assembly/emit-layout.ts): the rules of the
// output once, the steps anew for each batch, whose columns may lie elsewhere.
import type { RawTable } from '../batch.ts';
import type { Heap } from '../heap.ts';
import { type FormulaGuard, GUARDED_ALWAYS, GUARDED_SIGNS } from '../kernel/plain/formula.ts';
import { textPlacer } from './text-placer.ts';

/** How cells are written, in bytes. Made by csv-rules.ts. */
export interface CsvRules {
  /** One character, 1 to 4 bytes. */
  readonly delimiter: Uint8Array;
  readonly lineEnding: Uint8Array;
  readonly guard: FormulaGuard;
  /** Texts that the reader takes as missing, without the empty one. */
  readonly nullValues: readonly Uint8Array[];
  readonly emptyIsNull: boolean;
  /** Byte of the decimal mark. */
  readonly decimalMark: number;
  readonly columns: readonly CsvColumnRules[];
}

export interface CsvColumnRules {
  /** Quoted whatever it holds. */
  readonly quote: boolean;
  /** An empty text is written as two quotes. */
  readonly quoteEmpty: boolean;
  /** What stands for null, with its quotes where it needs them. */
  readonly null: Uint8Array;
  readonly true: Uint8Array;
  readonly false: Uint8Array;
}

export type CsvStep =
  /** Neighbouring raw fields: 'run' as one range where it can, 'fields' each by itself. */
  | { readonly kind: 'run' | 'fields'; readonly first: number; readonly last: number }
  | { readonly kind: 'views'; readonly at: number; readonly guard: boolean }
  | {
      readonly kind: 'integer' | 'decimal' | 'date' | 'datetime' | 'boolean';
      readonly at: number;
      readonly meta: number;
    };

/** A step and the column of the output that it begins with. */
export interface PlacedStep {
  readonly column: number;
  readonly step: CsvStep;
}

const KINDS = ['run', 'fields', 'views', 'integer', 'decimal', 'date', 'datetime', 'boolean'];
const HEAD_BYTES = 128;
const STEP_BYTES = 64;
const CLASSES_BYTES = 256;
/** A guarded cell that also needs quotes grows by its mark and these. */
const CELL_QUOTES_BYTES = 2;
const RUN_EXTRA_BYTES = 16;
const FLAG_GUARD = 1;
const FLAG_QUOTE = 2;
const FLAG_QUOTE_EMPTY = 4;
const FLAG_SCAN = 8;
const CLASS_QUOTE = 1;
const CLASS_GUARD = 2;
const CLASS_SIGN = 4;
const CLASS_NULL = 8;
const QUOTE = 0x22;

export class CsvProgram {
  /** Address of the head. */
  readonly at: number;
  #heap: Heap;
  #rules: CsvRules;
  /** Per column the addresses of null, true and false. */
  #texts: { null: number; true: number; false: number }[];
  #emptyIsSpecial: boolean;

  constructor(heap: Heap, rules: CsvRules) {
    this.#heap = heap;
    this.#rules = rules;
    this.#emptyIsSpecial = rules.columns.some((column) => column.null.length > 0 || column.quoteEmpty);
    this.at = heap.allocate(HEAD_BYTES + rules.columns.length * STEP_BYTES);
    const place = textPlacer(heap);
    this.#texts = rules.columns.map((column) => ({
      null: place(column.null),
      true: place(column.true),
      false: place(column.false),
    }));
    const nulls = rules.nullValues.map((text) => ({ at: place(text), length: text.length }));
    const nullsAt = heap.allocate(nulls.length * 8);
    const classesAt = heap.allocate(CLASSES_BYTES * 2);
    const { u8, u32 } = heap;
    nulls.forEach((text, index) => {
      u32.set([text.at, text.length], (nullsAt >>> 2) + index * 2);
    });
    const classes = cellClasses(rules);
    u8.set(classes, classesAt);
    u8.set(runClasses(rules, classes), classesAt + CLASSES_BYTES);
    u32.set(
      [
        ...[wordOf(rules.delimiter), rules.delimiter.length, wordOf(rules.lineEnding), rules.lineEnding.length],
        ...[classesAt, classesAt + CLASSES_BYTES, rules.guard === 'fail' ? 1 : 0, 0, 0, 0],
        ...[nullsAt, nulls.length, rules.emptyIsNull ? 1 : 0, this.#emptyIsSpecial ? 1 : 0, rules.decimalMark, 0, 0, 0],
      ],
      this.at >>> 2,
    );
  }

  /** The steps of the next batch. */
  load(raw: RawTable | null, steps: readonly PlacedStep[]): void {
    const { u32 } = this.#heap;
    const head = this.at >>> 2;
    if (raw !== null) u32.set([raw.at, raw.stride * 4, raw.quote], head + 7);
    u32[head + 15] = steps.length;
    u32[head + 23] = this.#isRunsOnly(steps) ? 1 : 0;
    let word = (this.at + HEAD_BYTES) >>> 2;
    for (const { column, step } of steps) {
      const rules = this.#rules.columns[column]!;
      const texts = this.#texts[column]!;
      u32[word] = KINDS.indexOf(step.kind);
      u32[word + 1] = 'first' in step ? step.first * 4 : step.at;
      u32[word + 2] = 'last' in step ? step.last * 4 : 'meta' in step ? step.meta : 0;
      u32[word + 3] = this.#flags(step, rules);
      u32[word + 4] = texts.null;
      u32[word + 5] = rules.null.length;
      u32[word + 6] = texts.true;
      u32[word + 7] = rules.true.length;
      u32[word + 8] = texts.false;
      u32[word + 9] = rules.false.length;
      u32[word + 13] = 'first' in step ? roomOfRun(step.last - step.first + 1, rules.null.length) : 0;
      word += STEP_BYTES >>> 2;
    }
  }

  /** Address behind the last row that the kernel wrote. */
  get outNext(): number {
    return this.#heap.u32[(this.at >>> 2) + 16]!;
  }

  /** Formulas that the kernel guarded so far. */
  get guarded(): number {
    return this.#heap.u32[(this.at >>> 2) + 17]!;
  }

  #isRunsOnly(steps: readonly PlacedStep[]): boolean {
    if (this.#emptyIsSpecial || this.#rules.guard === 'fail') return false;
    return steps.length > 0 && steps.every(({ step }) => step.kind === 'run');
  }

  #flags(step: CsvStep, rules: CsvColumnRules): number {
    const guard = 'first' in step || (step.kind === 'views' && step.guard);
    const scan = 'meta' in step && typedNeedsScan(this.#rules);
    return (
      (guard ? FLAG_GUARD : 0) |
      (rules.quote ? FLAG_QUOTE : 0) |
      (rules.quoteEmpty ? FLAG_QUOTE_EMPTY : 0) |
      (scan ? FLAG_SCAN : 0)
    );
  }
}

/** Of each cell two quotes or what stands for null; and what the last copy writes behind its end. */
function roomOfRun(cells: number, nullLength: number): number {
  return cells * (nullLength + CELL_QUOTES_BYTES) + RUN_EXTRA_BYTES;
}

/** True when the text of a number or date can hold the delimiter. */
function typedNeedsScan(rules: CsvRules): boolean {
  return Buffer.from(`0123456789+-:TZ.${String.fromCharCode(rules.decimalMark)}`).includes(rules.delimiter[0]!);
}

/** By first byte of a text: what the guard and the null values have to look at. */
function cellClasses(rules: CsvRules): Uint8Array {
  const classes = new Uint8Array(CLASSES_BYTES);
  if (rules.guard !== 'off') {
    for (const byte of GUARDED_ALWAYS) classes[byte]! |= CLASS_GUARD;
    for (const byte of GUARDED_SIGNS) classes[byte]! |= rules.guard === 'strict' ? CLASS_GUARD : CLASS_SIGN;
    if (rules.guard === 'strict') classes[0]! |= CLASS_GUARD;
  }
  for (const text of rules.nullValues) classes[text[0]!]! |= CLASS_NULL;
  return classes;
}

/** By first byte of a raw field of a run. An unquoted field never begins with the delimiter, CR or LF: those are empty ones. */
function runClasses(rules: CsvRules, cells: Uint8Array): Uint8Array {
  const classes = cells.slice();
  classes[rules.delimiter[0]!] = 0;
  classes[0x0a] = 0;
  classes[0x0d] = 0;
  classes[QUOTE]! |= CLASS_QUOTE;
  return classes;
}

/** Up to four bytes as a little-endian word. */
function wordOf(bytes: Uint8Array): number {
  return bytes.reduce((word, byte, index) => (word | (byte << (index * 8))) >>> 0, 0);
}
