// The writer of JSON (an array of objects) and NDJSON: batches to bytes by the kernel, rows too large for it by the plain
// twin. Bytes of an array: "[\n" row ",\n" row "\n]\n", and "[]\n" without rows.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { KIND_BOOLEAN, KIND_JSON, KIND_NUMBER } from '../../kernel/layout/native-kinds.ts';
import { jsonOnOneLine, memberPieces, stringPieces } from '../../kernel/plain/emit-json.ts';
import type { Slices } from '../../run/time-slices.ts';
import { cellContent } from '../cell-content.ts';
import { nativeKind } from '../native-kind.ts';
import { rawUse } from '../raw-use.ts';
import { OutputBuffer, type RowEmitter } from '../sink/output-buffer.ts';
import type { OutputSink } from '../sink/output-sink.ts';
import { needsText, PLAIN_FORMAT, typedViews } from '../typed-text.ts';
import type { RowsAhead, RowWriter, WriterTools } from '../writer.ts';
import type { JsonForm } from './json-form.ts';
import { isString, JsonProgram, type JsonRules, type JsonSource } from './json-program.ts';

export class JsonWriter implements RowWriter, RowEmitter {
  readonly formulasGuarded = 0;
  readonly ahead: RowsAhead = {
    load: (batch) => {
      this.#load(batch);
      return this.#program.at;
    },
    write: (rows, count) => {
      this.#rowsWritten += count;
      return this.#buffer.write(rows, count);
    },
  };
  #tools: WriterTools;
  #rules: JsonRules;
  #program: JsonProgram;
  #buffer: OutputBuffer;
  #isArray: boolean;
  #rowsWritten = 0;
  #batch: Batch | null = null;
  #sources: JsonSource[] = [];

  constructor({ rules, isArray }: JsonForm, tools: WriterTools) {
    const { heap, clock, bufferBytes } = tools;
    this.#tools = tools;
    this.#isArray = isArray;
    this.#rules = rules;
    this.#program = new JsonProgram(heap, rules);
    this.#buffer = new OutputBuffer(heap, isArray ? bracketSink(tools.sink) : tools.sink, clock, bufferBytes);
  }

  *push(batch: Batch): Slices {
    this.#batch = batch;
    this.#load(batch);
    yield* this.#buffer.write(this, batch.live);
    this.#rowsWritten += batch.live;
    this.#batch = null;
  }

  finish(): void {
    this.#buffer.flush();
    if (this.#isArray) this.#tools.sink.write(Buffer.from(this.#rowsWritten > 0 ? '\n]\n' : '[]\n'));
  }

  emit(from: number, to: number, out: number, limit: number): { rows: number; next: number } {
    const { kernel } = this.#tools;
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

  #source(batch: Batch, column: ColumnData, index: number, raw: boolean): JsonSource {
    if (column.kind === 'views') {
      const { at, kinds } = column;
      return kinds === undefined || this.#rules.schema[index]!.type !== 'text'
        ? { kind: 'views', at }
        : { kind: 'native', at, kinds };
    }
    if (column.kind === 'raw') {
      const asField = raw && this.#rules.schema[index]!.type === 'text';
      return asField ? { kind: 'field', field: column.field } : { kind: 'views', at: batch.views(index) };
    }
    if (column.type === 'number' || needsText(column, PLAIN_FORMAT)) {
      return { kind: 'views', at: typedViews(batch, column, PLAIN_FORMAT) };
    }
    return { kind: column.type, at: column.at, meta: column.meta };
  }

  #value(batch: Batch, column: number, row: number): Iterable<string> | null {
    const source = this.#sources[column]!;
    const views = source.kind === 'native' ? ({ kind: 'views', at: source.at } as const) : source;
    const content = cellContent(batch, column, views, row, PLAIN_FORMAT, this.#rules);
    if (content === null) return null;
    const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString();
    const { type } = this.#rules.schema[column]!;
    const kind = nativeKind(batch.heap, batch.columns[column]!, row);
    const native = type === 'text' && isBare(kind, this.#rules.decimalsAsText);
    return isString(type, this.#rules.decimalsAsText) && !native ? stringPieces(text) : [jsonOnOneLine(text)];
  }
}

/** True for a native kind whose canonical text is JSON as it stands. */
function isBare(kind: number, decimalsAsText: boolean): boolean {
  return kind === KIND_BOOLEAN || kind === KIND_JSON || (kind === KIND_NUMBER && !decimalsAsText);
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
