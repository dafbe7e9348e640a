// The program of the CSV kernel in a Run's memory, and how the columns of each batch are written.

import { type Batch, type ColumnData, type RawTable, textField, ValuesOfField } from '../../batch/batch.ts';
import type { Schema } from '../../batch/schema.ts';
import {
  CELL_CLASSES,
  CLASS_BLANK,
  CLASS_GUARD,
  CLASS_NULL,
  CLASS_QUOTE,
  CLASS_SIGN,
  CLASSES_BYTES,
  DECIMAL_MARK,
  DELIMITER,
  DELIMITER_LENGTH,
  EMITTER,
  EMITTER_CSV,
  EMPTY_IS_NULL,
  EMPTY_IS_SPECIAL,
  EXTRA_BYTES_MAX,
  FALSE_AT,
  FALSE_LENGTH,
  FLAG_GUARD,
  FLAG_KINDS,
  FLAG_QUOTE,
  FLAG_QUOTE_EMPTY,
  FLAG_QUOTE_NATIVE,
  FLAG_SCAN,
  FLAGS,
  GUARDED,
  HEAD_BYTES,
  KIND,
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_DECIMAL,
  KIND_FIELD,
  KIND_INTEGER,
  KIND_RUN,
  KIND_VIEWS,
  LINE_ENDING,
  LINE_ENDING_LENGTH,
  NULL_AT,
  NULL_LENGTH,
  NULLS_AT,
  NULLS_COUNT,
  OUT_NEXT,
  QUOTE,
  RAW_AT,
  RAW_QUOTE,
  RAW_STRIDE_BYTES,
  RUN_CLASSES,
  RUNS_ONLY,
  SECOND,
  SOURCE,
  STEP_BYTES,
  STEPS,
  STOP_AT_FORMULA,
  TRUE_AT,
  TRUE_LENGTH,
} from '../../kernel/layout/output-program.ts';
import { GUARDED_ALWAYS, GUARDED_BLANKS, GUARDED_SIGNS } from '../../kernel/plain/emit-csv.ts';
import type { Heap } from '../../memory/heap.ts';
import { needsText, type TypedFormat, typedViews } from '../cell-content.ts';
import { type RawUse, rawUse } from '../writer.ts';
import type { CsvColumnRules, CsvRules } from './csv-section.ts';

// The part of the CSV kernel's program that is the same in every Run of a plan, as bytes to copy into a Run's memory:
// classes of first bytes, then the texts for null, true and false, then the null values.

/** The kernel copies texts in steps of 16 bytes. */
const TEXT_SLACK_BYTES = 16;

/** Offsets are relative to the first byte. */
export interface CsvTables {
  /** The classes of cells, the classes of runs, and the texts. */
  readonly bytes: Uint8Array;
  /** Offsets of the texts of each column. */
  readonly texts: readonly { readonly null: number; readonly true: number; readonly false: number }[];
  /** Offset and length of each null value. */
  readonly nulls: readonly { readonly at: number; readonly length: number }[];
  /** True if an empty cell is not always written as an empty field. */
  readonly emptyIsSpecial: boolean;
  /** True if the text of a number or date can contain the delimiter. */
  readonly typedNeedsScan: boolean;
}

export function csvTables(rules: CsvRules): CsvTables {
  const classes = cellClasses(rules);
  const pieces: Uint8Array[] = [classes, runClasses(rules, classes)];
  let length = CLASSES_BYTES * 2;
  const known = new Map<string, number>();
  const place = (text: Uint8Array): number => {
    const key = Buffer.from(text).toString('latin1');
    const at = known.get(key) ?? length;
    if (known.has(key)) return at;
    known.set(key, at);
    pieces.push(text, new Uint8Array(TEXT_SLACK_BYTES));
    length += text.length + TEXT_SLACK_BYTES;
    return at;
  };
  const placed = new Map(
    [...new Set(rules.columns)].map((column) => [
      column,
      { null: place(column.null), true: place(column.true), false: place(column.false) },
    ]),
  );
  const texts = rules.columns.map((column) => placed.get(column)!);
  const nulls = rules.nullValues.map((text) => ({ at: place(text), length: text.length }));
  return {
    bytes: Buffer.concat(pieces),
    texts,
    nulls,
    emptyIsSpecial: rules.columns.some((column) => column.null.length > 0 || column.quoteEmpty),
    typedNeedsScan: typedNeedsScan(rules),
  };
}

function typedNeedsScan(rules: CsvRules): boolean {
  return Buffer.from(`0123456789+-:TZ.${String.fromCharCode(rules.decimalMark)}`).includes(rules.delimiter[0]!);
}

/** Classes by the first byte of a text: the checks that the formula guard and the null values need. */
function cellClasses(rules: CsvRules): Uint8Array {
  const classes = new Uint8Array(CLASSES_BYTES);
  if (rules.guard !== 'off') {
    for (const byte of GUARDED_ALWAYS) classes[byte]! |= CLASS_GUARD;
    for (const byte of GUARDED_SIGNS) classes[byte]! |= rules.guard === 'strict' ? CLASS_GUARD : CLASS_SIGN;
    for (const byte of GUARDED_BLANKS) classes[byte]! |= CLASS_BLANK;
    if (rules.guard === 'strict') classes[0]! |= CLASS_GUARD;
  }
  for (const text of rules.nullValues) classes[text[0]!]! |= CLASS_NULL;
  return classes;
}

/**
 * Classes by the first byte of a raw field in a run. An unquoted field that starts with the delimiter, CR or LF is an
 * empty field.
 */
function runClasses(rules: CsvRules, cells: Uint8Array): Uint8Array {
  const classes = cells.slice();
  classes[rules.delimiter[0]!] = 0;
  classes[0x0a] = 0;
  classes[0x0d] = 0;
  classes[QUOTE]! |= CLASS_QUOTE;
  return classes;
}

// Writes the program of the CSV kernel into a Run's memory (field offsets: kernel/layout/output-program.ts). The
// rules of the output are written once, the steps for each batch, because the columns of a batch may be elsewhere.

export type CsvStep =
  /** Adjacent raw fields. 'run' copies them as one range if possible, 'fields' copies them one by one. */
  | { readonly kind: 'run' | 'fields'; readonly first: number; readonly last: number }
  /** `kinds`: as in ViewsColumn. */
  | { readonly kind: 'views'; readonly at: number; readonly guard: boolean; readonly kinds?: number | undefined }
  | {
      readonly kind: 'integer' | 'decimal' | 'date' | 'datetime' | 'boolean';
      readonly at: number;
      readonly meta: number;
    };

/** A step, and the first output column that it writes. */
export interface PlacedStep {
  readonly column: number;
  readonly step: CsvStep;
}

const KINDS: Readonly<Record<CsvStep['kind'], number>> = {
  run: KIND_RUN,
  fields: KIND_FIELD,
  views: KIND_VIEWS,
  integer: KIND_INTEGER,
  decimal: KIND_DECIMAL,
  date: KIND_DATE,
  datetime: KIND_DATETIME,
  boolean: KIND_BOOLEAN,
};
/** Maximum growth of a guarded cell that also needs quotes, in addition to the guard character. In bytes. */
const CELL_QUOTES_BYTES = 2;
/** Bytes that the last copy of a run may write after its end, because it copies 64 bytes at a time. */
const RUN_EXTRA_BYTES = 64;

export class CsvProgram {
  /** Address of the program's head. */
  readonly at: number;
  #heap: Heap;
  #rules: CsvRules;
  #tables: CsvTables;
  #tablesAt: number;

  constructor(heap: Heap, rules: CsvRules, tables: CsvTables) {
    this.#heap = heap;
    this.#rules = rules;
    this.#tables = tables;
    this.at = heap.allocate(HEAD_BYTES + rules.columns.length * STEP_BYTES);
    this.#tablesAt = heap.allocate(tables.bytes.length);
    const nullsAt = heap.allocate(tables.nulls.length * 8);
    const { u8, u32 } = heap;
    u8.set(tables.bytes, this.#tablesAt);
    let nullWord = nullsAt >>> 2;
    for (const { at, length } of tables.nulls) {
      u32[nullWord++] = this.#tablesAt + at;
      u32[nullWord++] = length;
    }
    u32.fill(0, this.at >>> 2, (this.at + HEAD_BYTES) >>> 2);
    this.#put(EMITTER, EMITTER_CSV);
    this.#put(DELIMITER, wordOf(rules.delimiter));
    this.#put(DELIMITER_LENGTH, rules.delimiter.length);
    this.#put(LINE_ENDING, wordOf(rules.lineEnding));
    this.#put(LINE_ENDING_LENGTH, rules.lineEnding.length);
    this.#put(CELL_CLASSES, this.#tablesAt);
    this.#put(RUN_CLASSES, this.#tablesAt + CLASSES_BYTES);
    this.#put(STOP_AT_FORMULA, rules.guard === 'fail' ? 1 : 0);
    this.#put(NULLS_AT, nullsAt);
    this.#put(NULLS_COUNT, tables.nulls.length);
    this.#put(EMPTY_IS_NULL, rules.emptyIsNull ? 1 : 0);
    this.#put(EMPTY_IS_SPECIAL, tables.emptyIsSpecial ? 1 : 0);
    this.#put(DECIMAL_MARK, rules.decimalMark);
  }

  /** Writes the steps of the next batch. */
  load(raw: RawTable | null, steps: readonly PlacedStep[]): void {
    if (raw !== null) {
      this.#put(RAW_AT, raw.at);
      this.#put(RAW_STRIDE_BYTES, raw.stride * 4);
      this.#put(RAW_QUOTE, raw.quote);
    }
    this.#put(STEPS, steps.length);
    this.#put(RUNS_ONLY, this.#isRunsOnly(steps) ? 1 : 0);
    let at = HEAD_BYTES;
    for (const { column, step } of steps) {
      this.#putStep(at, column, step);
      at += STEP_BYTES;
    }
  }

  /** Address after the last row that the kernel wrote. */
  get outNext(): number {
    return this.#heap.u32[(this.at + OUT_NEXT) >>> 2]!;
  }

  /** Number of formulas that the kernel has guarded. */
  get guarded(): number {
    return this.#heap.u32[(this.at + GUARDED) >>> 2]!;
  }

  #put(word: number, value: number): void {
    this.#heap.u32[(this.at + word) >>> 2] = value;
  }

  #putStep(at: number, column: number, step: CsvStep): void {
    const rules = this.#rules.columns[column]!;
    const texts = this.#tables.texts[column]!;
    this.#put(at + KIND, KINDS[step.kind]);
    this.#put(at + SOURCE, 'first' in step ? step.first * 4 : step.at);
    this.#put(at + SECOND, secondOf(step));
    this.#put(at + FLAGS, this.#flags(step, rules));
    this.#put(at + NULL_AT, this.#tablesAt + texts.null);
    this.#put(at + NULL_LENGTH, rules.null.length);
    this.#put(at + TRUE_AT, this.#tablesAt + texts.true);
    this.#put(at + TRUE_LENGTH, rules.true.length);
    this.#put(at + FALSE_AT, this.#tablesAt + texts.false);
    this.#put(at + FALSE_LENGTH, rules.false.length);
    this.#put(
      at + EXTRA_BYTES_MAX,
      'first' in step ? extraBytesOfRun(step.last - step.first + 1, rules.null.length) : 0,
    );
  }

  #isRunsOnly(steps: readonly PlacedStep[]): boolean {
    if (this.#tables.emptyIsSpecial || this.#rules.guard === 'fail') return false;
    return steps.length > 0 && steps.every(({ step }) => step.kind === 'run');
  }

  #flags(step: CsvStep, rules: CsvColumnRules): number {
    const guard = 'first' in step || (step.kind === 'views' && step.guard);
    const scan = 'meta' in step && this.#tables.typedNeedsScan;
    const native = step.kind === 'views' && step.kinds !== undefined;
    return (
      (guard ? FLAG_GUARD : 0) |
      (native ? FLAG_KINDS | (rules.quoteNative ? FLAG_QUOTE_NATIVE : 0) : 0) |
      (rules.quote ? FLAG_QUOTE : 0) |
      (rules.quoteEmpty ? FLAG_QUOTE_EMPTY : 0) |
      (scan ? FLAG_SCAN : 0)
    );
  }
}

function secondOf(step: CsvStep): number {
  if ('last' in step) return step.last * 4;
  return step.kind === 'views' ? (step.kinds ?? 0) : step.meta;
}

/**
 * Maximum size of a run: for each cell, two quotes or the text for null, and the bytes that the last copy writes
 * after its end.
 */
function extraBytesOfRun(cells: number, nullLength: number): number {
  return cells * (nullLength + CELL_QUOTES_BYTES) + RUN_EXTRA_BYTES;
}

/** Up to four bytes as a little-endian 32-bit number. */
function wordOf(bytes: Uint8Array): number {
  return bytes.reduce((word, byte, index) => (word | (byte << (index * 8))) >>> 0, 0);
}

// Decides for each batch how its columns are written: which adjacent columns are copied as one range, which raw
// fields are examined one by one, and which columns are first converted to clean views.

export function csvSteps(batch: Batch, schema: Schema, rules: CsvRules, format: TypedFormat): PlacedStep[] {
  const use = rawUse(batch.raw, rules);
  // Raw columns are text, and settings that quote one text column quote all of them.
  const raw = use === 'runs' && rules.columns.some(({ quote }) => quote) ? 'fields' : use;
  const steps: PlacedStep[] = [];
  for (let column = 0; column < schema.length; column++) {
    const step = stepOf(batch, column, raw, rules, format);
    const last = steps.at(-1);
    if (last !== undefined && 'first' in step && 'first' in last.step && last.step.last + 1 === step.first) {
      const joined: CsvStep = { kind: step.kind, first: last.step.first, last: step.last };
      steps[steps.length - 1] = { column: last.column, step: joined };
    } else steps.push({ column, step });
  }
  return steps;
}

function stepOf(batch: Batch, index: number, raw: RawUse, rules: CsvRules, format: TypedFormat): CsvStep {
  const column = batch.columns[index]!;
  const field = raw === 'runs' ? unchangedField(column, rules) : undefined;
  if (field !== undefined) return { kind: 'run', first: field, last: field };
  if (column.kind === 'raw') {
    if (raw === 'views') return { kind: 'views', at: batch.views(index), guard: true };
    return { kind: raw === 'runs' ? 'run' : 'fields', first: column.field, last: column.field };
  }
  if (column.kind === 'views') return { kind: 'views', at: column.at, guard: true, kinds: column.kinds };
  if (column.type === 'number' || needsText(column, format)) {
    return { kind: 'views', at: typedViews(batch, column, format), guard: false };
  }
  return { kind: column.type, at: column.at, meta: column.meta };
}

/** The raw field whose bytes equal the text of a parsed column, so that they can be copied. */
function unchangedField(column: ColumnData, rules: CsvRules): number | undefined {
  if (column.kind !== 'typed') return textField(column);
  // In strict mode, the formula guard examines the sign of texts, but not of numbers.
  return rules.guard === 'strict' ? undefined : ValuesOfField.fieldOf(column, rules.decimalMark);
}
