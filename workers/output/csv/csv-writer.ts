// The formats csv and tsv: the data that all outputs of a Template share, the lines above the header, and the writer.
// The kernel converts batches to bytes, and the scalar implementation writes the rest.

import type { Batch } from '../../batch/batch.ts';
import { nameShown, type Schema } from '../../batch/schema.ts';
import type { MetaValues } from '../../input/reader.ts';
import { csvCell, csvCellPieces, type PlainCsvPieces } from '../../kernel/plain/emit-csv.ts';
import { PAUSE, type Sliced, type Slices } from '../../scheduling/time-slices.ts';
import { cellContent, isNativeValue, nativeKind, type TypedFormat } from '../cell-content.ts';
import { type CreateWriter, defineOutputFormat, type OutputForm } from '../format.ts';
import { encodedSink, OutputBuffer, type RowEmitter } from '../sink/output-sink.ts';
import type { RowsAhead, RowWriter, WriterTools } from '../writer.ts';
import { CsvProgram, type CsvStep, type CsvTables, csvSteps, csvTables, type PlacedStep } from './csv-program.ts';
import {
  type CsvColumnRules,
  type CsvRules,
  type CsvSettings,
  csvRules,
  csvSection,
  filledIn,
  formulaRefusal,
  type PreambleCell,
  typedFormat,
} from './csv-section.ts';

// Tracks the row and column of the current character while a CSV is written.

const QUOTE = 0x22;
const LINE_FEED = 0x0a;

/** Lines before the rows of the table. */
export interface CsvHead {
  readonly delimiter: string;
  readonly names: readonly string[];
  readonly preambleRows: number;
  readonly hasHeader: boolean;
}

class CsvPosition {
  /** For each ASCII unit, 1 if `pass` must be called for it. */
  readonly marks = new Uint8Array(0x80);
  readonly #head: CsvHead;
  readonly #delimiter: number;
  #row = 0;
  #column = 0;
  #isQuoted = false;

  constructor(head: CsvHead) {
    this.#head = head;
    this.#delimiter = head.delimiter.charCodeAt(0);
    for (const unit of [QUOTE, LINE_FEED, this.#delimiter]) if (unit < this.marks.length) this.marks[unit] = 1;
  }

  /** Call this for every marked unit, and for units beyond ASCII. */
  pass(unit: number): void {
    if (unit === QUOTE) this.#isQuoted = !this.#isQuoted;
    else if (this.#isQuoted) return;
    else if (unit === this.#delimiter) this.#column++;
    else if (unit === LINE_FEED) {
      this.#row++;
      this.#column = 0;
    }
  }

  /**
   * Position such as "row 2 of the output, column 3". @param showsNames whether to include the column's name, which
   * may be a header of the file
   */
  text(showsNames: boolean): string {
    const { preambleRows, hasHeader, names } = this.#head;
    const name = names[this.#column];
    const column = showsNames && name !== undefined ? `column ${nameShown(name)}` : `column ${this.#column + 1}`;
    if (this.#row < preambleRows) return `the preamble of the output, line ${this.#row + 1}`;
    const row = this.#row - preambleRows - (hasHeader ? 1 : 0);
    return row < 0 ? `the header of the output, ${column}` : `row ${row + 1} of the output, ${column}`;
  }
}

// Data that all CSV outputs of one Template and schema share: the rules in bytes, the header, and the tables of the
// kernel's program. The plan caches it, because for a small file creating it costs more than the rows.

interface CsvForm {
  readonly rules: CsvRules;
  readonly format: TypedFormat;
  readonly tables: CsvTables;
  /** The header line; null if the output has no header. */
  readonly header: Uint8Array | null;
  /** Number of column names in the header that the formula guard changed. */
  readonly headerGuarded: number;
}

/**
 * A name that needs no quoting or escaping unless it contains the delimiter. Most names match, and a file may have
 * thousands.
 */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_ .-]*$/;

/** Maps each byte to one character, so that non-ASCII bytes are unchanged. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

/** Number of names between two pauses. */
const NAMES_AT_ONCE = 256;

/** Throws Failed if the formula guard refuses a column name. */
function* csvForm(form: OutputForm<CsvSettings>): Sliced<CsvForm> {
  const { settings, schema } = form;
  const rules = csvRules(form);
  const names = settings.header ? schema.map(({ name }) => name) : [];
  const quote = settings.quoting !== 'minimal';
  const cellRules = { delimiter: rules.delimiter, guard: rules.guard, quote, quoteEmpty: schema.length === 1 };
  const delimiter = latin1(rules.delimiter);
  const isPlain = (name: string): boolean => !quote && PLAIN_NAME.test(name) && !name.includes(delimiter);
  let headerGuarded = 0;
  const cells: string[] = [];
  for (const [column, name] of names.entries()) {
    if (column % NAMES_AT_ONCE === NAMES_AT_ONCE - 1) yield PAUSE;
    if (isPlain(name)) {
      cells.push(name);
      continue;
    }
    const { bytes, guarded } = csvCell(Buffer.from(name), cellRules);
    if (guarded && rules.guard === 'fail') throw formulaRefusal(column, null);
    if (guarded) headerGuarded++;
    cells.push(latin1(bytes));
  }
  const header = settings.header ? Buffer.from(cells.join(delimiter) + latin1(rules.lineEnding), 'latin1') : null;
  return { rules, format: typedFormat(settings), tables: csvTables(rules), header, headerGuarded };
}

// The lines above the header of a CSV (output.csv.preamble), which may contain values from the file.

/** The lines, and the number of cells that the formula guard changed. Throws Failed if it refuses a cell. */
function preambleBytes(
  { preamble, quoting }: CsvSettings,
  { delimiter, lineEnding, guard }: CsvRules,
  meta: MetaValues,
): { readonly bytes: Uint8Array; readonly guarded: number } {
  let guardedCells = 0;
  const quote = (cell: PreambleCell): boolean => quoting === 'all' || (quoting === 'text' && typeof cell === 'string');
  const lines = preamble.map((cells) => {
    const made = cells.map((cell, column) => {
      if (cell === null) return '';
      const text = filledIn(String(cell), meta);
      const rules = {
        delimiter,
        quote: quote(cell),
        quoteEmpty: false,
        guard: typeof cell === 'string' ? guard : 'off',
      };
      const { bytes, guarded } = csvCell(Buffer.from(text), rules);
      if (guarded && guard === 'fail') throw formulaRefusal(column, null);
      if (guarded) guardedCells++;
      return Buffer.from(bytes).toString();
    });
    return made.join(Buffer.from(delimiter).toString()) + Buffer.from(lineEnding).toString();
  });
  return { bytes: Buffer.from(lines.join('')), guarded: guardedCells };
}

// Writer of CSV and TSV. The kernel converts batches to bytes; the scalar reference implementation writes the header
// and rows that are too large for the kernel.

class CsvWriter implements RowWriter, RowEmitter {
  readonly ahead: RowsAhead | null;
  #tools: WriterTools;
  #schema: Schema;
  #format: TypedFormat;
  #rules: CsvRules;
  #program: CsvProgram;
  #buffer: OutputBuffer;
  /** Formulas guarded by the scalar implementation. The kernel counts its own. */
  #guardedPlain = 0;
  /** The batch that is being written. */
  #batch: Batch | null = null;
  #steps: PlacedStep[] = [];

  constructor({ settings, schema }: OutputForm<CsvSettings>, shared: CsvForm, tools: WriterTools) {
    const { heap, sink, clock, bufferBytes, continues = false } = tools;
    const { rules, format, tables, header, headerGuarded } = shared;
    this.#tools = tools;
    this.#schema = schema;
    this.#format = format;
    this.#rules = rules;
    this.#program = new CsvProgram(heap, rules, tables);
    const position = new CsvPosition({
      delimiter: settings.delimiter,
      names: schema.map(({ name }) => name),
      preambleRows: continues ? 0 : settings.preamble.length,
      hasHeader: header !== null && !continues,
    });
    const encoded = encodedSink(sink, { ...settings, bom: settings.bom && !continues }, position);
    this.#buffer = new OutputBuffer(heap, encoded, clock, bufferBytes);
    if (!continues) {
      if (settings.preamble.length > 0) this.#writePreamble(settings);
      if (header !== null) this.#buffer.writeBytes(header);
      this.#guardedPlain += headerGuarded;
    }
    this.ahead = this.#rules.guard === 'fail' ? null : this.#rowsAhead();
  }

  get formulasGuarded(): number {
    return this.#guardedPlain + this.#program.guarded;
  }

  push(batch: Batch): Slices {
    this.#batch = batch;
    this.#load(batch);
    return this.#buffer.write(this, batch.live);
  }

  finish(): void {
    this.#buffer.flush();
  }

  emit(from: number, to: number, out: number, limit: number): { rows: number; next: number } {
    const { kernel } = this.#tools;
    const rows = kernel.exports.emitCsv(this.#program.at, this.#batch!.selection, from, to, out, limit);
    if (this.#rules.guard === 'fail' && this.#program.guarded > 0) this.#refuseRow(from + rows - 1);
    return { rows, next: this.#program.outNext };
  }

  *pieces(position: number): Iterable<Uint8Array> {
    for (const cell of this.#cells(position)) {
      if (cell.guarded) this.#guardedPlain++;
      if (cell.guarded && this.#rules.guard === 'fail') throw formulaRefusal(cell.column, this.#sourceRow(position));
      if (cell.column > 0) yield this.#rules.delimiter;
      yield* cell.pieces;
    }
    yield this.#rules.lineEnding;
  }

  #writePreamble(settings: CsvSettings): void {
    const { bytes, guarded } = preambleBytes(settings, this.#rules, this.#tools.meta ?? {});
    this.#buffer.writeBytes(bytes);
    this.#guardedPlain += guarded;
  }

  #load(batch: Batch): void {
    this.#steps = csvSteps(batch, this.#schema, this.#rules, this.#format);
    this.#program.load(batch.raw, this.#steps);
  }

  #rowsAhead(): RowsAhead {
    return {
      program: this.#program.at,
      load: (batch) => {
        this.#load(batch);
        return this.#program.at;
      },
      write: (rows, count) => this.#buffer.write(rows, count),
      writeBytes: (bytes) => this.#buffer.writeThrough(bytes),
      announceRest: (bytes) => this.#buffer.announceRest(bytes),
    };
  }

  /** Finds the column of the formula at which the kernel stopped. */
  #refuseRow(position: number): never {
    for (const cell of this.#cells(position)) {
      if (cell.guarded) throw formulaRefusal(cell.column, this.#sourceRow(position));
    }
    throw new Error('the kernel and its scalar implementation disagree about a formula');
  }

  #sourceRow(position: number): number {
    const batch = this.#batch!;
    return batch.sourceRow(batch.physicalRow(position));
  }

  *#cells(position: number): Generator<PlainCsvPieces & { readonly column: number }> {
    const batch = this.#batch!;
    const row = batch.physicalRow(position);
    for (const { column, step } of this.#steps) {
      const fields = 'first' in step ? step.last - step.first + 1 : 1;
      for (let index = 0; index < fields; index++) {
        const rules = this.#rules.columns[column + index]!;
        yield { column: column + index, ...this.#cell(batch, column + index, step, index, row, rules) };
      }
    }
  }

  #cell(
    batch: Batch,
    column: number,
    step: CsvStep,
    index: number,
    row: number,
    rules: CsvColumnRules,
  ): PlainCsvPieces {
    const source = 'first' in step ? ({ kind: 'field', field: step.first + index } as const) : step;
    const content = cellContent(batch, column, source, row, this.#format, this.#rules);
    if (content === null) return { pieces: [rules.null], guarded: false };
    const { delimiter } = this.#rules;
    if (isNativeValue(nativeKind(batch.heap, batch.columns[column]!, row))) {
      return csvCellPieces(content, { ...rules, quote: rules.quoteNative, delimiter, guard: 'off' });
    }
    const guard = 'meta' in step || (step.kind === 'views' && !step.guard) ? 'off' : this.#rules.guard;
    return csvCellPieces(content, { ...rules, delimiter, guard });
  }
}

// The formats csv and tsv: rows of fields, one line each.

export const csv = defineOutputFormat({
  name: 'csv',
  section: csvSection,
  keepsBytes: true,
  needsTypes: true,
  file: ({ delimiter }) => ({
    mimeType: 'text/csv',
    extension: 'csv',
    ...(delimiter === '\t' && { otherExtensions: ['tsv'] }),
    splittable: true,
  }),
  *prepare(form): Sliced<CreateWriter> {
    const shared = yield* csvForm(form);
    return (tools) => new CsvWriter(form, shared, tools);
  },
});

/** The section replaces the default delimiter by a tab. */
export const tsv = defineOutputFormat({
  ...csv,
  name: 'tsv',
  file: () => ({ mimeType: 'text/tab-separated-values', extension: 'tsv', splittable: true }),
});
