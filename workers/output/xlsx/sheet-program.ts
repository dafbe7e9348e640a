// Lays out the program of the sheet kernel in a Run's memory (words: kernel/layout/sheet-program.ts): the texts around cells
// once, the places of the columns anew for each batch.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { ColumnType } from '../../batch/schema.ts';
import {
  BOOLEAN_FORM,
  CELL_KIND,
  CELL_SECOND,
  CELL_SOURCE,
  CELL_STEP_BYTES,
  CELLS_BOOLEAN,
  CELLS_DATE,
  CELLS_DATETIME,
  CELLS_DECIMAL,
  CELLS_INTEGER,
  CELLS_NUMBER,
  CELLS_VIEWS,
  DATE_FORM,
  DATETIME_FORM,
  FORM_BYTES_MAX,
  NUMBER_FORM,
  OPEN_AT,
  OPEN_BYTES_MAX,
  OPEN_LENGTH,
  ROW_NUMBER,
  SHEET_HEAD_BYTES,
  SHEET_OUT_NEXT,
  SHEET_STEPS,
  TEXT_FORM,
  TIME_FORM,
} from '../../kernel/layout/sheet-program.ts';
import type { SheetColumnText, SheetForm } from '../../kernel/plain/emit-sheet.ts';
import type { Heap } from '../../memory/heap.ts';
import { type TypedFormat, typedViews } from '../typed-text.ts';

/** Texts of doubles; a sheet has no infinity, so their names are texts. */
export const SHEET_FORMAT: TypedFormat = {
  decimalMark: '.',
  formatDate: null,
  nonFinite: 'name',
  boolean: ['true', 'false'],
};

/** Where a column's cells lie in a batch; `beside`: their meta or kinds, 0 = none. */
export interface SheetSource {
  readonly kind: keyof typeof KINDS;
  readonly at: number;
  readonly beside: number;
}

const KINDS = {
  views: CELLS_VIEWS,
  number: CELLS_NUMBER,
  integer: CELLS_INTEGER,
  decimal: CELLS_DECIMAL,
  date: CELLS_DATE,
  datetime: CELLS_DATETIME,
  boolean: CELLS_BOOLEAN,
} as const;

const FORM_WORDS: readonly (readonly [SheetForm, number])[] = [
  ['text', TEXT_FORM],
  ['number', NUMBER_FORM],
  ['boolean', BOOLEAN_FORM],
  ['date', DATE_FORM],
  ['datetime', DATETIME_FORM],
  ['time', TIME_FORM],
];

export class SheetProgram {
  /** Address of the head. */
  readonly at: number;
  readonly #heap: Heap;

  constructor(heap: Heap, columns: readonly SheetColumnText[]) {
    this.#heap = heap;
    this.at = heap.allocate(SHEET_HEAD_BYTES + columns.length * CELL_STEP_BYTES);
    const openings = heap.allocate(columns.length * OPEN_BYTES_MAX);
    const forms = [...new Set(columns.flatMap((column) => Object.values(column.forms)))];
    const formsAt = heap.allocate(forms.length * FORM_BYTES_MAX);
    const placed = new Map(forms.map((text, index) => [text, formsAt + index * FORM_BYTES_MAX]));
    const { u8 } = heap;
    for (const [text, at] of placed) u8.set(Buffer.from(text), at);
    this.#put(SHEET_STEPS, columns.length);
    for (const [index, column] of columns.entries()) {
      const step = SHEET_HEAD_BYTES + index * CELL_STEP_BYTES;
      const open = openings + index * OPEN_BYTES_MAX;
      u8.set(Buffer.from(column.open), open);
      this.#put(step + OPEN_AT, open);
      this.#put(step + OPEN_LENGTH, column.open.length);
      for (const [form, word] of FORM_WORDS) {
        const text = column.forms[form];
        this.#put(step + word, placed.get(text)!);
        this.#put(step + word + 4, text.length);
      }
    }
  }

  load(sources: readonly SheetSource[]): void {
    for (const [index, { kind, at, beside }] of sources.entries()) {
      const step = SHEET_HEAD_BYTES + index * CELL_STEP_BYTES;
      this.#put(step + CELL_KIND, KINDS[kind]);
      this.#put(step + CELL_SOURCE, at);
      this.#put(step + CELL_SECOND, beside);
    }
  }

  /** Number of the next row, from 1. */
  get row(): number {
    return this.#heap.u32[(this.at + ROW_NUMBER) >>> 2]!;
  }

  set row(row: number) {
    this.#put(ROW_NUMBER, row);
  }

  /** Address behind the last row that the kernel wrote. */
  get outNext(): number {
    return this.#heap.u32[(this.at + SHEET_OUT_NEXT) >>> 2]!;
  }

  #put(word: number, value: number): void {
    this.#heap.u32[(this.at + word) >>> 2] = value;
  }
}

/** Where a column of a batch without raw columns lies; texts of doubles are made in its arena. Only texts have native kinds. */
export function sheetSource(batch: Batch, column: ColumnData, type: ColumnType): SheetSource {
  if (column.kind === 'raw') throw new Error('a raw column came to a writer that takes none');
  if (column.kind === 'views')
    return { kind: 'views', at: column.at, beside: type === 'text' ? (column.kinds ?? 0) : 0 };
  if (column.type === 'number') return { kind: 'number', at: typedViews(batch, column, SHEET_FORMAT), beside: 0 };
  return { kind: column.type, at: column.at, beside: column.meta };
}
