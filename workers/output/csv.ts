// The writer of CSV and TSV: batches to bytes by the kernel, the header and rows too large for it by the plain twin.
import type { Batch } from '../batch.ts';
import { Failed } from '../failure.ts';
import { csvCell } from '../kernel/plain/emit-csv.ts';
import { cellContent } from './cell-content.ts';
import { type CsvColumnRules, CsvProgram, type CsvRules, type CsvStep, type PlacedStep } from './csv-program.ts';
import { csvRules } from './csv-rules.ts';
import { csvSteps } from './csv-steps.ts';
import { OutputBuffer, type RowEmitter } from './output-buffer.ts';
import type { TypedFormat } from './typed-text.ts';
import type { RowsAhead, RowWriter, WriterOptions } from './writer.ts';

export function createCsvWriter(options: WriterOptions, format: TypedFormat): RowWriter {
  return new CsvWriter(options, format);
}

class CsvWriter implements RowWriter, RowEmitter {
  readonly mimeType: string;
  readonly ending: string;
  readonly ahead: RowsAhead | null;
  #options: WriterOptions;
  #format: TypedFormat;
  #rules: CsvRules;
  #program: CsvProgram;
  #buffer: OutputBuffer;
  /** Guarded by the plain twin; the kernel counts its own. */
  #guardedPlain = 0;
  /** Of the batch that is being written. */
  #batch: Batch | null = null;
  #steps: PlacedStep[] = [];

  constructor(options: WriterOptions, format: TypedFormat) {
    const { output, schema, heap } = options;
    this.mimeType = output.format === 'tsv' ? 'text/tab-separated-values' : 'text/csv';
    this.ending = output.format === 'tsv' ? 'tsv' : 'csv';
    this.#options = options;
    this.#format = format;
    this.#rules = csvRules(output, schema, options.nullValues);
    this.#program = new CsvProgram(heap, this.#rules);
    this.#buffer = new OutputBuffer(heap, options.sink, options.bufferBytes);
    if (output.csv.header) this.#buffer.writeBytes(this.#header());
    this.ahead = this.#rules.guard === 'fail' ? null : this.#rowsAhead();
  }

  get formulasGuarded(): number {
    return this.#guardedPlain + this.#program.guarded;
  }

  push(batch: Batch): void {
    this.#batch = batch;
    this.#load(batch);
    this.#buffer.write(this, batch.live);
    this.#batch = null;
  }

  finish(): void {
    this.#buffer.flush();
  }

  emit(from: number, to: number, out: number, limit: number): { rows: number; next: number } {
    const { kernel } = this.#options;
    const rows = kernel.exports.emitCsv(this.#program.at, this.#batch!.selection, from, to, out, limit);
    if (this.#rules.guard === 'fail' && this.#program.guarded > 0) this.#refuseRow(from + rows - 1);
    return { rows, next: this.#program.outNext };
  }

  *pieces(position: number): Iterable<Uint8Array> {
    for (const cell of this.#cells(position)) {
      if (cell.guarded) this.#guardedPlain++;
      if (cell.guarded && this.#rules.guard === 'fail') throw refusal(cell.column, this.#sourceRow(position));
      if (cell.column > 0) yield this.#rules.delimiter;
      yield cell.bytes;
    }
    yield this.#rules.lineEnding;
  }

  #load(batch: Batch): void {
    this.#steps = csvSteps(batch, this.#options.schema, this.#rules, this.#format);
    this.#program.load(batch.raw, this.#steps);
  }

  #rowsAhead(): RowsAhead {
    return {
      load: (batch) => {
        this.#load(batch);
        return { at: this.#program.at, isJson: false };
      },
      write: (rows, count) => this.#buffer.write(rows, count),
    };
  }

  #header(): Uint8Array {
    const { schema, output } = this.#options;
    const quote = output.csv.quoting !== 'minimal';
    const rules = {
      delimiter: this.#rules.delimiter,
      guard: this.#rules.guard,
      quote,
      quoteEmpty: schema.length === 1,
    };
    const pieces = schema.flatMap(({ name }, column) => {
      const { bytes, guarded } = csvCell(Buffer.from(name), rules);
      if (guarded && rules.guard === 'fail') throw refusal(column, null);
      if (guarded) this.#guardedPlain++;
      return column === 0 ? [bytes] : [rules.delimiter, bytes];
    });
    return Buffer.concat([...pieces, this.#rules.lineEnding]);
  }

  /** The kernel stopped behind a row with a formula: finds its column. */
  #refuseRow(position: number): never {
    for (const cell of this.#cells(position)) {
      if (cell.guarded) throw refusal(cell.column, this.#sourceRow(position));
    }
    throw new Error('the kernel and its twin disagree about a formula');
  }

  #sourceRow(position: number): number {
    const batch = this.#batch!;
    return batch.sourceRow(batch.physicalRow(position));
  }

  *#cells(position: number): Generator<{ column: number; bytes: Uint8Array; guarded: boolean }> {
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

  #cell(batch: Batch, column: number, step: CsvStep, index: number, row: number, rules: CsvColumnRules) {
    const source = 'first' in step ? ({ kind: 'field', field: step.first + index } as const) : step;
    const content = cellContent(batch, column, source, row, this.#format, this.#rules);
    if (content === null) return { bytes: rules.null, guarded: false };
    const guard = 'meta' in step || (step.kind === 'views' && !step.guard) ? 'off' : this.#rules.guard;
    return csvCell(content, { ...rules, delimiter: this.#rules.delimiter, guard });
  }
}

/**
 * TEMPLATE_CHECK_FAILED: `formula_guard: fail` is a check that the Template asks for on its result; no operation and none
 * of the row error codes stand behind it. The column is named by its place: its name may come from the file.
 */
function refusal(column: number, sourceRow: number | null): Failed {
  const place = sourceRow === null ? 'the header' : `source row ${sourceRow}`;
  return new Failed(
    'TEMPLATE_CHECK_FAILED',
    `A spreadsheet could take column ${column + 1} of the output in ${place} for a formula (formula_guard: fail).`,
  );
}
