// The formats json and ndjson: the data that all outputs of a Template share, and the writer.

import type { Batch, ColumnData } from '../../batch/batch.ts';
import { KIND_BOOLEAN, KIND_JSON, KIND_NUMBER } from '../../kernel/layout/cells.ts';
import { jsonOnOneLine, memberPieces, stringPieces } from '../../kernel/plain/emit-json.ts';
import { Failed } from '../../protocol/failure.ts';
import type { Slices } from '../../scheduling/time-slices.ts';
import { cellContent, nativeKind, needsText, PLAIN_FORMAT, typedViews } from '../cell-content.ts';
import { defineOutputFormat, type OutputForm } from '../format.ts';
import { OutputBuffer, type OutputSink, type RowEmitter } from '../sink/output-sink.ts';
import { type RowsAhead, type RowWriter, rawUse, type WriterTools } from '../writer.ts';
import { isString, JsonProgram, type JsonRules, type JsonSource } from './json-program.ts';
import { type JsonSettings, jsonSection, nestConflicts, nestMembers } from './json-section.ts';

// Data that all JSON outputs of one Template and schema share.

interface JsonForm {
  readonly rules: JsonRules;
  /** True if the rows are an array, false for one line per row. */
  readonly isArray: boolean;
}

/** Throws Failed (TEMPLATE_CHECK_FAILED) if column names from the file conflict when they are nested. */
function jsonForm({ settings, schema, nullValues }: OutputForm<JsonSettings>): JsonForm {
  const names = schema.map(({ name }) => name);
  const conflict = nestConflicts(names, settings.nest)[0];
  if (conflict !== undefined) {
    const [first, second] = conflict.map((column) => column + 1);
    throw new Failed(
      'TEMPLATE_CHECK_FAILED',
      `Columns ${first} and ${second} of the output have the same path when their names are nested (output.json.nest). Rename one of them.`,
    );
  }
  const isArray = settings.layout === 'array';
  const rules = {
    members: nestMembers(names, settings.nest),
    schema,
    decimalsAsText: settings.decimals === 'string',
    omitNulls: settings.nulls === 'omit',
    before: isArray ? ',\n' : '',
    behind: isArray ? '' : '\n',
    nullValues: nullValues.filter((text) => text !== '').map((text) => Buffer.from(text)),
    emptyIsNull: nullValues.includes(''),
  };
  return { rules, isArray };
}

// Writer of JSON (an array of objects) and NDJSON. The kernel converts batches to bytes; the scalar reference
// implementation writes rows that are too large for it. An array is "[\n" row ",\n" row "\n]\n", or "[]\n" without
// rows.

class JsonWriter implements RowWriter, RowEmitter {
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

/** True for a native kind whose canonical text is valid JSON. */
function isBare(kind: number, decimalsAsText: boolean): boolean {
  return kind === KIND_BOOLEAN || kind === KIND_JSON || (kind === KIND_NUMBER && !decimalsAsText);
}

/** Replaces the comma before the first row by the bracket that opens the array. */
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

// The formats json (an array of objects or, depending on its layout, one line per row) and ndjson.

export const json = defineOutputFormat({
  name: 'json',
  section: jsonSection,
  keepsBytes: true,
  needsTypes: true,
  // An array cannot be split: no part contains its brackets, and the first row has no comma before it.
  file: ({ layout }) =>
    layout === 'array'
      ? { mimeType: 'application/json', extension: 'json', splittable: false }
      : { mimeType: 'application/x-ndjson', extension: 'ndjson', splittable: true },
  prepare(form) {
    const shared = jsonForm(form);
    return (tools) => new JsonWriter(shared, tools);
  },
});

/** The section allows only one layout for this format. */
export const ndjson = defineOutputFormat({ ...json, name: 'ndjson' });
