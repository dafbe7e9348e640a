// The writer of JSON (an array of objects) and NDJSON: batches to bytes by the kernel, rows too large for it by the plain
// twin. Bytes of an array: "[\n" row ",\n" row "\n]\n", and "[]\n" without rows.
import type { Batch, ColumnData } from '../batch.ts';
import { Failed } from '../failure.ts';
import { jsonOnOneLine, memberPieces } from '../kernel/plain/emit-json.ts';
import { type CellSource, cellContent } from './cell-content.ts';
import { rawUse } from './csv-steps.ts';
import { isString, JsonProgram, type JsonRules } from './json-program.ts';
import { nestConflicts, nestMembers } from './nest.ts';
import { OutputBuffer, type RowEmitter } from './output-buffer.ts';
import type { OutputSink } from './output-sink.ts';
import { needsText, PLAIN_FORMAT, typedViews } from './typed-text.ts';
import type { RowsAhead, RowWriter, WriterOptions } from './writer.ts';

/** Throws Failed (TEMPLATE_CHECK_FAILED) when names that the file brought cannot be nested side by side. */
export function createJsonWriter(options: WriterOptions): RowWriter {
  const { output, schema } = options;
  const conflict = nestConflicts(
    schema.map(({ name }) => name),
    output.json.nest,
  )[0];
  if (conflict !== undefined) {
    const [first, second] = conflict.map((column) => column + 1);
    throw new Failed(
      'TEMPLATE_CHECK_FAILED',
      `Columns ${first} and ${second} of the output claim the same place when their names are nested (output.json.nest). Rename one of them.`,
    );
  }
  return new JsonWriter(options);
}

class JsonWriter implements RowWriter, RowEmitter {
  readonly mimeType: string;
  readonly ending: string;
  readonly formulasGuarded = 0;
  readonly ahead: RowsAhead = {
    load: (batch) => {
      this.#load(batch);
      return { at: this.#program.at, isJson: true };
    },
    write: (rows, count) => {
      this.#buffer.write(rows, count);
      this.#rowsWritten += count;
    },
  };
  #options: WriterOptions;
  #rules: JsonRules;
  #program: JsonProgram;
  #buffer: OutputBuffer;
  #isArray: boolean;
  #rowsWritten = 0;
  #batch: Batch | null = null;
  #sources: CellSource[] = [];

  constructor(options: WriterOptions) {
    const { output, schema, nullValues, heap } = options;
    this.#isArray = output.format === 'json' && output.json.layout === 'array';
    this.mimeType = this.#isArray ? 'application/json' : 'application/x-ndjson';
    this.ending = this.#isArray ? 'json' : 'ndjson';
    this.#options = options;
    this.#rules = {
      members: nestMembers(
        schema.map(({ name }) => name),
        output.json.nest,
      ),
      schema,
      decimalsAsText: output.json.decimals === 'string',
      omitNulls: output.json.nulls === 'omit',
      before: this.#isArray ? ',\n' : '',
      behind: this.#isArray ? '' : '\n',
      nullValues: nullValues.filter((text) => text !== '').map((text) => Buffer.from(text)),
      emptyIsNull: nullValues.includes(''),
    };
    this.#program = new JsonProgram(heap, this.#rules);
    const sink = this.#isArray ? bracketSink(options.sink) : options.sink;
    this.#buffer = new OutputBuffer(heap, sink, options.bufferBytes);
  }

  push(batch: Batch): void {
    this.#batch = batch;
    this.#load(batch);
    this.#buffer.write(this, batch.live);
    this.#rowsWritten += batch.live;
    this.#batch = null;
  }

  finish(): void {
    this.#buffer.flush();
    if (this.#isArray) this.#options.sink.write(Buffer.from(this.#rowsWritten > 0 ? '\n]\n' : '[]\n'));
  }

  emit(from: number, to: number, out: number, limit: number): { rows: number; next: number } {
    const { kernel } = this.#options;
    const rows = kernel.exports.emitJson(this.#program.at, this.#batch!.selection, from, to, out, limit);
    return { rows, next: this.#program.outNext };
  }

  *pieces(position: number): Iterable<Uint8Array> {
    const { members, omitNulls, before, behind } = this.#rules;
    const batch = this.#batch!;
    const row = batch.physicalRow(position);
    yield Buffer.from(`${before}{`);
    for (const piece of memberPieces(members, (column) => this.#value(batch, column, row), omitNulls)) {
      yield Buffer.from(piece);
    }
    yield Buffer.from(`}${behind}`);
  }

  #load(batch: Batch): void {
    const raw = rawUse(batch.raw, { nullValues: this.#rules.nullValues, delimiter: null }) !== 'views';
    this.#sources = batch.columns.map((column, index) => this.#source(batch, column, index, raw));
    this.#program.load(batch.raw, this.#sources);
  }

  #source(batch: Batch, column: ColumnData, index: number, raw: boolean): CellSource {
    if (column.kind === 'views') return { kind: 'views', at: column.at };
    if (column.kind === 'raw') {
      const asField = raw && this.#options.schema[index]!.type === 'text';
      return asField ? { kind: 'field', field: column.field } : { kind: 'views', at: batch.views(index) };
    }
    if (column.type === 'number' || needsText(column, PLAIN_FORMAT)) {
      return { kind: 'views', at: typedViews(batch, column, PLAIN_FORMAT) };
    }
    return { kind: column.type, at: column.at, meta: column.meta };
  }

  #value(batch: Batch, column: number, row: number): string | null {
    const content = cellContent(batch, column, this.#sources[column]!, row, PLAIN_FORMAT, this.#rules);
    if (content === null) return null;
    const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString();
    const { type } = this.#options.schema[column]!;
    return isString(type, this.#rules.decimalsAsText) ? JSON.stringify(text) : jsonOnOneLine(text);
  }
}

/** Turns the comma before the first row into the bracket that opens the array. */
function bracketSink(sink: OutputSink): OutputSink {
  let opened = false;
  return {
    write(bytes) {
      if (opened) sink.write(bytes);
      else {
        opened = true;
        sink.write(Buffer.from('['));
        sink.write(bytes.subarray(1));
      }
    },
    get sizeBytes() {
      return sink.sizeBytes;
    },
  };
}
