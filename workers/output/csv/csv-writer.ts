// The writer of CSV and TSV: batches to bytes by the kernel, the header and rows too large for it by the plain twin.
import type { Batch } from '../../batch/batch.ts';
import type { Schema } from '../../batch/schema.ts';
import { csvCellPieces, type PlainCsvPieces } from '../../kernel/plain/emit-csv.ts';
import type { Slices } from '../../run/time-slices.ts';
import { cellContent } from '../cell-content.ts';
import type { OutputForm } from '../format.ts';
import { isNativeValue, nativeKind } from '../native-kind.ts';
import { encodedSink } from '../sink/encoded-sink.ts';
import { OutputBuffer, type RowEmitter } from '../sink/output-buffer.ts';
import type { TypedFormat } from '../typed-text.ts';
import type { RowsAhead, RowWriter, WriterTools } from '../writer.ts';
import type { CsvForm } from './csv-form.ts';
import { preambleBytes } from './csv-preamble.ts';
import { CsvProgram, type CsvStep, type PlacedStep } from './csv-program.ts';
import type { CsvColumnRules, CsvRules } from './csv-rules.ts';
import type { CsvSettings } from './csv-section.ts';
import { csvSteps } from './csv-steps.ts';
import { formulaRefusal } from './formula-refusal.ts';

export class CsvWriter implements RowWriter, RowEmitter {
  readonly ahead: RowsAhead | null;
  #tools: WriterTools;
  #schema: Schema;
  #format: TypedFormat;
  #rules: CsvRules;
  #program: CsvProgram;
  #buffer: OutputBuffer;
  /** Guarded by the plain twin; the kernel counts its own. */
  #guardedPlain = 0;
  /** Of the batch that is being written. */
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
    const encoded = encodedSink(sink, { ...settings, bom: settings.bom && !continues });
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
      load: (batch) => {
        this.#load(batch);
        return this.#program.at;
      },
      write: (rows, count) => this.#buffer.write(rows, count),
    };
  }

  /** The kernel stopped behind a row with a formula: finds its column. */
  #refuseRow(position: number): never {
    for (const cell of this.#cells(position)) {
      if (cell.guarded) throw formulaRefusal(cell.column, this.#sourceRow(position));
    }
    throw new Error('the kernel and its twin disagree about a formula');
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
