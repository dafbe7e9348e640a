// Writer of workbooks: the parts of the frame, and between them the rows of one or several sheets. The kernel writes
// the rows; the scalar reference implementation writes rows that the kernel cannot. States: within a sheet ->
// finished.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import type { ColumnType } from '../../batch/schema.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
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
} from '../../kernel/layout/output-program.ts';
import {
  booleanContent,
  dateContent,
  datetimeContent,
  decimalContent,
  doubleContent,
  integerContent,
  nativeContent,
  type SheetColumnText,
  type SheetContent,
  type SheetForm,
  sheetCell,
} from '../../kernel/plain/emit-sheet.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Slices } from '../../scheduling/time-slices.ts';
import { type TypedFormat, typedText, typedViews } from '../cell-content.ts';
import { OutputBuffer, type RowEmitter } from '../sink/output-sink.ts';
import { Deflater, ZipFile } from '../sink/zip-file.ts';
import type { RowWriter, WriterTools } from '../writer.ts';
import type { WorkbookPart } from './workbook-frame.ts';
import { withLocalTimes, type XlsxForm } from './xlsx-form.ts';
import { sheetName } from './xlsx-section.ts';

// Writes the program of the sheet kernel into a Run's memory (field offsets: kernel/layout/output-program.ts). The
// texts around cells are written once, the locations of columns for each batch.

/** Format of doubles. Sheets have no infinities, so their names are written as texts. */
const SHEET_FORMAT: TypedFormat = {
  decimalMark: '.',
  formatDate: null,
  nonFinite: 'name',
  boolean: ['true', 'false'],
};

/** Location of a column's cells in a batch. `beside`: address of their meta or kinds; 0 = absent. */
interface SheetSource {
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

class SheetProgram {
  /** Address of the program's head. */
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

  /** Number of the next row, starting at 1. */
  get row(): number {
    return this.#heap.u32[(this.at + ROW_NUMBER) >>> 2]!;
  }

  set row(row: number) {
    this.#put(ROW_NUMBER, row);
  }

  /** Address after the last row that the kernel wrote. */
  get outNext(): number {
    return this.#heap.u32[(this.at + SHEET_OUT_NEXT) >>> 2]!;
  }

  #put(word: number, value: number): void {
    this.#heap.u32[(this.at + word) >>> 2] = value;
  }
}

/**
 * Location of a column in a batch without raw columns. Texts of doubles are created in the batch's arena. Only texts
 * have native kinds.
 */
function sheetSource(batch: Batch, column: ColumnData, type: ColumnType): SheetSource {
  if (column.kind === 'raw') throw new Error('the writer does not accept raw columns');
  if (column.kind === 'views')
    return { kind: 'views', at: column.at, beside: type === 'text' ? (column.kinds ?? 0) : 0 };
  if (column.type === 'number') return { kind: 'number', at: typedViews(batch, column, SHEET_FORMAT), beside: 0 };
  return { kind: column.type, at: column.at, beside: column.meta };
}

// The content of one cell for the scalar reference implementation of the sheet kernel.

/** Returns null if no cell is written. */
function sheetContent(batch: Batch, column: number, source: SheetSource, row: number): SheetContent | null {
  const data = batch.columns[column]!;
  if (data.kind === 'typed') return typedContent(batch, data, row);
  const { u8, u32 } = batch.heap;
  const view = (source.at + row * VIEW_BYTES) >>> 2;
  const start = u32[view]!;
  if (start === 0) return null;
  const text = Buffer.from(u8.buffer, start, u32[view + 1]!).toString();
  return source.beside === 0 ? { form: 'text', text } : nativeContent(u8[source.beside + row]!, text);
}

function typedContent({ heap }: Batch, data: TypedColumn, row: number): SheetContent | null {
  if (heap.u8[data.meta + row] === META_NULL) return null;
  const value = (): bigint => heap.i64[(data.at >>> 3) + row]!;
  switch (data.type) {
    case 'boolean':
      return booleanContent(heap.u8[data.meta + row] === 1);
    case 'integer':
      return integerContent(value());
    case 'date':
      return dateContent(Number(value()));
    case 'datetime':
      return datetimeContent(value());
    default: {
      const text = typedText(heap, data, row, SHEET_FORMAT)!;
      return data.type === 'decimal' ? decimalContent(text) : doubleContent(text);
    }
  }
}

/**
 * Size of the buffer for rows. Together with the deflater's block, which has the same size, it is as large as the
 * single buffer of other formats.
 */
const BUFFER_BYTES = 262_144;

export class XlsxWriter implements RowWriter, RowEmitter {
  /** No guard is needed: texts are text cells, regardless of their first character. */
  readonly formulasGuarded = 0;
  /** Rows contain their number, which is unknown before sorting has ended. */
  readonly ahead = null;
  readonly #form: XlsxForm;
  readonly #tools: WriterTools;
  readonly #rowsMax: number;
  readonly #program: SheetProgram;
  readonly #buffer: OutputBuffer;
  readonly #zip: ZipFile;
  readonly #sheetNames: string[] = [];
  /** The batch that is being written. */
  #batch: Batch | null = null;
  #sources: readonly SheetSource[] = [];

  /** @param rowsMax maximum number of rows of a sheet, including the header */
  constructor(form: XlsxForm, rowsMax: number, tools: WriterTools) {
    const { heap, kernel, clock, sink, bufferBytes = BUFFER_BYTES } = tools;
    this.#form = form;
    this.#tools = tools;
    this.#rowsMax = rowsMax;
    this.#program = new SheetProgram(heap, form.columns);
    const zip = new ZipFile(sink, new Deflater(heap, kernel));
    this.#zip = zip;
    const rows = {
      write: (bytes: Uint8Array) => zip.write(bytes),
      get sizeBytes() {
        return sink.sizeBytes;
      },
    };
    this.#buffer = new OutputBuffer(heap, rows, clock, bufferBytes);
    this.#addParts(form.frame.first);
    this.#beginSheet();
  }

  *push(batch: Batch): Slices {
    for (let from = 0; from < batch.live; ) {
      const left = this.#rowsMax + 1 - this.#program.row;
      if (left === 0) {
        this.#endSheet();
        this.#beginSheet();
        continue;
      }
      const rows = withLocalTimes(batch.slice(from, Math.min(batch.live, from + left)), this.#form.clocks);
      this.#batch = rows;
      this.#sources = rows.columns.map((column, index) => sheetSource(rows, column, this.#form.types[index]!));
      this.#program.load(this.#sources);
      yield* this.#buffer.write(this, rows.live);
      this.#batch = null;
      from += rows.live;
    }
  }

  finish(): void {
    this.#endSheet();
    this.#addParts(this.#form.frame.last(this.#sheetNames));
    this.#zip.finish();
  }

  emit(from: number, to: number, out: number, limit: number): { rows: number; next: number } {
    const { kernel } = this.#tools;
    const rows = kernel.exports.emitSheet(this.#program.at, this.#batch!.selection, from, to, out, limit);
    return { rows, next: this.#program.outNext };
  }

  *pieces(position: number): Iterable<Uint8Array> {
    const batch = this.#batch!;
    const physical = batch.physicalRow(position);
    const { row } = this.#program;
    yield Buffer.from(`<row r="${row}">`);
    for (const [index, source] of this.#sources.entries()) {
      const content = sheetContent(batch, index, source, physical);
      if (content !== null) yield Buffer.from(sheetCell(this.#form.columns[index]!, row, content));
    }
    yield Buffer.from('</row>');
    this.#program.row = row + 1;
  }

  #beginSheet(): void {
    const { frame, header, settings } = this.#form;
    const sheet = this.#sheetNames.length;
    this.#sheetNames.push(sheetName(settings.sheet, sheet));
    this.#zip.begin(`xl/worksheets/sheet${sheet + 1}.xml`);
    this.#zip.write(Buffer.from(frame.beforeRows + header));
    this.#program.row = header === '' ? 1 : 2;
  }

  #endSheet(): void {
    this.#buffer.flush();
    const lastRow = Math.max(1, this.#program.row - 1);
    this.#zip.write(Buffer.from(this.#form.frame.afterRows(lastRow)));
    this.#zip.end();
  }

  #addParts(parts: readonly WorkbookPart[]): void {
    for (const { name, xml } of parts) this.#zip.add(name, Buffer.from(xml));
  }
}
