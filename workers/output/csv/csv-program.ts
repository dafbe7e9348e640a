// Lays out the program of the CSV kernel in a Run's memory (words: kernel/layout/output-program.ts): the rules of the
// output once, the steps anew for each batch, whose columns may lie elsewhere.
import type { RawTable } from '../../batch/batch.ts';
import {
  CELL_CLASSES,
  CLASSES_BYTES,
  DECIMAL_MARK,
  DELIMITER,
  DELIMITER_LENGTH,
  EMITTER,
  EMITTER_CSV,
  EMPTY_IS_NULL,
  EMPTY_IS_SPECIAL,
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
  RAW_AT,
  RAW_QUOTE,
  RAW_STRIDE_BYTES,
  ROOM,
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
import type { Heap } from '../../memory/heap.ts';
import type { CsvColumnRules, CsvRules } from './csv-rules.ts';
import type { CsvTables } from './csv-tables.ts';

export type CsvStep =
  /** Neighbouring raw fields: 'run' as one range where it can, 'fields' each by itself. */
  | { readonly kind: 'run' | 'fields'; readonly first: number; readonly last: number }
  /** `kinds`: as in ViewsColumn. */
  | { readonly kind: 'views'; readonly at: number; readonly guard: boolean; readonly kinds?: number | undefined }
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
/** A guarded cell that also needs quotes grows by its mark and these. */
const CELL_QUOTES_BYTES = 2;
/** What the last copy of a run writes behind it: it goes in steps of 64 bytes. */
const RUN_EXTRA_BYTES = 64;

export class CsvProgram {
  /** Address of the head. */
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

  /** The steps of the next batch. */
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

  /** Address behind the last row that the kernel wrote. */
  get outNext(): number {
    return this.#heap.u32[(this.at + OUT_NEXT) >>> 2]!;
  }

  /** Formulas that the kernel guarded so far. */
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
    this.#put(at + ROOM, 'first' in step ? roomOfRun(step.last - step.first + 1, rules.null.length) : 0);
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

/** Of each cell two quotes or what stands for null; and what the last copy writes behind its end. */
function roomOfRun(cells: number, nullLength: number): number {
  return cells * (nullLength + CELL_QUOTES_BYTES) + RUN_EXTRA_BYTES;
}

/** Up to four bytes as a little-endian word. */
function wordOf(bytes: Uint8Array): number {
  return bytes.reduce((word, byte, index) => (word | (byte << (index * 8))) >>> 0, 0);
}
