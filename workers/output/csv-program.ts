// Lays out the program of the CSV kernel in a Run's memory (words: kernel/assembly/emit-layout.ts): the rules of the
// output once, the steps anew for each batch, whose columns may lie elsewhere.
import type { RawTable } from '../batch.ts';
import type { Heap } from '../heap.ts';
import type { CsvColumnRules, CsvRules } from './csv-rules.ts';
import { CLASSES_BYTES, type CsvTables } from './csv-tables.ts';

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
/** A guarded cell that also needs quotes grows by its mark and these. */
const CELL_QUOTES_BYTES = 2;
/** What the last copy of a run writes behind it: it goes in steps of 64 bytes. */
const RUN_EXTRA_BYTES = 64;
const FLAG_GUARD = 1;
const FLAG_QUOTE = 2;
const FLAG_QUOTE_EMPTY = 4;
const FLAG_SCAN = 8;

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
    const head = this.at >>> 2;
    u32.fill(0, head, head + HEAD_BYTES / 4);
    u32[head] = wordOf(rules.delimiter);
    u32[head + 1] = rules.delimiter.length;
    u32[head + 2] = wordOf(rules.lineEnding);
    u32[head + 3] = rules.lineEnding.length;
    u32[head + 4] = this.#tablesAt;
    u32[head + 5] = this.#tablesAt + CLASSES_BYTES;
    u32[head + 6] = rules.guard === 'fail' ? 1 : 0;
    u32[head + 10] = nullsAt;
    u32[head + 11] = tables.nulls.length;
    u32[head + 12] = rules.emptyIsNull ? 1 : 0;
    u32[head + 13] = tables.emptyIsSpecial ? 1 : 0;
    u32[head + 14] = rules.decimalMark;
  }

  /** The steps of the next batch. */
  load(raw: RawTable | null, steps: readonly PlacedStep[]): void {
    const { u32 } = this.#heap;
    const head = this.at >>> 2;
    if (raw !== null) {
      u32[head + 7] = raw.at;
      u32[head + 8] = raw.stride * 4;
      u32[head + 9] = raw.quote;
    }
    u32[head + 15] = steps.length;
    u32[head + 23] = this.#isRunsOnly(steps) ? 1 : 0;
    let word = (this.at + HEAD_BYTES) >>> 2;
    for (const { column, step } of steps) {
      const rules = this.#rules.columns[column]!;
      const texts = this.#tables.texts[column]!;
      u32[word] = KINDS.indexOf(step.kind);
      u32[word + 1] = 'first' in step ? step.first * 4 : step.at;
      u32[word + 2] = 'last' in step ? step.last * 4 : 'meta' in step ? step.meta : 0;
      u32[word + 3] = this.#flags(step, rules);
      u32[word + 4] = this.#tablesAt + texts.null;
      u32[word + 5] = rules.null.length;
      u32[word + 6] = this.#tablesAt + texts.true;
      u32[word + 7] = rules.true.length;
      u32[word + 8] = this.#tablesAt + texts.false;
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
    if (this.#tables.emptyIsSpecial || this.#rules.guard === 'fail') return false;
    return steps.length > 0 && steps.every(({ step }) => step.kind === 'run');
  }

  #flags(step: CsvStep, rules: CsvColumnRules): number {
    const guard = 'first' in step || (step.kind === 'views' && step.guard);
    const scan = 'meta' in step && this.#tables.typedNeedsScan;
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

/** Up to four bytes as a little-endian word. */
function wordOf(bytes: Uint8Array): number {
  return bytes.reduce((word, byte, index) => (word | (byte << (index * 8))) >>> 0, 0);
}
