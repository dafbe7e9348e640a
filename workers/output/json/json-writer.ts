// The formats json and ndjson: the data that all outputs of a Template share, the writer, and the input of its kernel.

import type { Batch, ColumnData, RawTable } from '../../batch/batch.ts';
import type { ColumnType, Schema } from '../../batch/schema.ts';
import { Type } from '../../bundled/type-box.ts';
import { KIND_BOOLEAN as CELL_BOOLEAN, KIND_JSON, KIND_NUMBER } from '../../kernel/layout/cells.ts';
import {
  CELL_CLASSES,
  CLASS_NULL,
  CLASSES_BYTES,
  EMITTER,
  EMITTER_JSON,
  EMPTY_IS_NULL,
  FLAG_NUMBER_STRING,
  FLAG_STRING,
  FLAGS,
  HEAD_BYTES,
  KIND,
  KIND_BOOLEAN,
  KIND_CLOSE,
  KIND_DATE,
  KIND_DATETIME,
  KIND_DECIMAL,
  KIND_FIELD,
  KIND_INTEGER,
  KIND_NATIVE,
  KIND_OPEN,
  KIND_VIEWS,
  NULLS_AT,
  NULLS_COUNT,
  OMIT_NULLS,
  OUT_NEXT,
  PREFIX_AT,
  RAW_AT,
  RAW_QUOTE,
  RAW_STRIDE_BYTES,
  ROW_AT,
  SECOND,
  SOURCE,
  STEP_BYTES,
  STEPS,
  TAIL_AT,
} from '../../kernel/layout/output-program.ts';
import { jsonOnOneLine, memberPieces, stringPieces } from '../../kernel/plain/emit-json.ts';
import type { Heap } from '../../memory/heap.ts';
import { Failed } from '../../protocol/failure.ts';
import type { Slices } from '../../scheduling/time-slices.ts';
import { nullable } from '../../template/section-schemas.ts';
import { type CellSource, cellContent, nativeKind, needsText, PLAIN_FORMAT, typedViews } from '../cell-content.ts';
import { defineOutputFormat, defineOutputSection, type OutputForm } from '../format.ts';
import { OutputBuffer, type OutputSink, type RowEmitter } from '../sink/output-sink.ts';
import { type RowsAhead, type RowWriter, rawUse, textPlacer, type WriterTools } from '../writer.ts';

// Settings of json and ndjson in a Template, and column names as paths into nested objects.

// Column names as paths into nested JSON objects (`nest`): builds the tree of a row, and finds names that conflict.

/** A member of an object: a column's value, or an object with further members. */
export type JsonMember =
  | { readonly key: string; readonly column: number }
  | { readonly key: string; readonly members: readonly JsonMember[] };

/** Deeper names stay flat. Real files never nest this deep, and readers of the output use recursion. */
export const NEST_DEPTH_MAX = 64;

interface ObjectNode {
  readonly key: string;
  readonly members: (LeafNode | ObjectNode)[];
  readonly byKey: Map<string, LeafNode | ObjectNode>;
}

interface LeafNode {
  readonly key: string;
  readonly column: number;
}

/**
 * The members of a row's object in the order of their first appearance. Members of one object are adjacent, so a
 * column may move forward to its siblings. A name with an empty part ("No.") is not a path and is kept unchanged.
 */
export function nestMembers(names: readonly string[], separator: string | null): readonly JsonMember[] {
  return buildTree(names, separator).members;
}

/**
 * Pairs of conflicting columns (by index, the later one second): one is a value where the other needs an object, such
 * as `a` and `a.b`. The check of a Template must refuse them.
 */
export function nestConflicts(names: readonly string[], separator: string | null): readonly [number, number][] {
  return buildTree(names, separator).conflicts;
}

function buildTree(names: readonly string[], separator: string | null) {
  const root: ObjectNode = objectNode('');
  const conflicts: [number, number][] = [];
  names.forEach((name, column) => {
    const path = pathOf(name, separator);
    let parent = root;
    for (const key of path.slice(0, -1)) {
      const known = parent.byKey.get(key) ?? addNode(parent, objectNode(key));
      if ('column' in known) {
        conflicts.push([known.column, column]);
        return;
      }
      parent = known;
    }
    const key = path.at(-1)!;
    const known = parent.byKey.get(key);
    if (known === undefined) addNode(parent, { key, column });
    else conflicts.push([firstColumn(known), column]);
  });
  return { members: root.members, conflicts };
}

function pathOf(name: string, separator: string | null): string[] {
  if (separator === null || separator === '') return [name];
  const path = name.split(separator);
  return path.includes('') || path.length > NEST_DEPTH_MAX ? [name] : path;
}

function objectNode(key: string): ObjectNode {
  return { key, members: [], byKey: new Map() };
}

function addNode<Node extends LeafNode | ObjectNode>(parent: ObjectNode, node: Node): Node {
  parent.byKey.set(node.key, node);
  parent.members.push(node);
  return node;
}

function firstColumn(node: LeafNode | ObjectNode): number {
  let at = node;
  while ('members' in at) at = at.members[0]!;
  return at.column;
}

// Settings of json and ndjson in a Template: the section `output.json`.

export interface JsonSettings {
  readonly layout: 'array' | 'ndjson';
  readonly decimals: 'number' | 'string';
  readonly nulls: 'include' | 'omit';
  /** Separator at which names are nested into objects; null = flat. */
  readonly nest: string | null;
}

const written = Type.Object({
  layout: nullable(Type.Enum(['array', 'ndjson']), 'null = according to the format.'),
  decimals: Type.Enum(['number', 'string'], {
    default: 'number',
    description: 'Exact decimals as numbers or as texts.',
  }),
  nulls: Type.Enum(['include', 'omit'], {
    default: 'include',
    description: 'Whether keys with the value null are written.',
  }),
  nest: nullable(
    Type.String({ minLength: 1 }),
    'Separator in column names that become nested objects, such as "."; null = flat.',
  ),
});

export const jsonSection = defineOutputSection({
  name: 'json',
  schema: written,
  settings: (json, format): JsonSettings => ({
    layout: json.layout ?? (format === 'ndjson' ? 'ndjson' : 'array'),
    decimals: json.decimals,
    nulls: json.nulls,
    nest: json.nest,
  }),
  check(json, format, report) {
    if (format === 'ndjson' && json.layout === 'array') {
      report('/layout', 'BAD_VALUE', 'The format ndjson has the layout ndjson. Write format: json for an array.');
    }
  },
  checkColumns(json, columns, report) {
    const names = columns.map(({ name }) => name);
    for (const [first, second] of nestConflicts(names, json.nest)) {
      const message = `The columns ${JSON.stringify(names[first])} and ${JSON.stringify(names[second])} have the same path when names are nested. Rename one of them.`;
      report('/nest', 'NAME_CONFLICT', message);
    }
  },
});

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
    after: isArray ? '' : '\n',
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
  readonly ahead: RowsAhead;
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
    this.ahead = {
      program: this.#program.at,
      load: (batch) => {
        this.#load(batch);
        return this.#program.at;
      },
      write: (rows, count) => {
        this.#rowsWritten += count;
        return this.#buffer.write(rows, count);
      },
      writeBytes: (bytes, count) => {
        this.#rowsWritten += count;
        this.#buffer.writeThrough(bytes);
      },
      announceRest: (bytes) => this.#buffer.announceRest(bytes),
    };
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
    const { members, omitNulls, before, after } = this.#rules;
    const batch = this.#batch!;
    const row = batch.physicalRow(position);
    yield Buffer.from(`${before}{`);
    for (const piece of memberPieces(members, (column) => this.#value(batch, column, row), omitNulls)) {
      yield Buffer.from(piece);
    }
    yield Buffer.from(`}${after}`);
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
  return kind === CELL_BOOLEAN || kind === KIND_JSON || (kind === KIND_NUMBER && !decimalsAsText);
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

// Writes the program of the JSON kernel into a Run's memory (field offsets: kernel/layout/output-program.ts). Keys
// and braces are written once, the locations of columns for each batch.

export interface JsonRules {
  readonly members: readonly JsonMember[];
  readonly schema: Schema;
  readonly decimalsAsText: boolean;
  readonly omitNulls: boolean;
  /** Text before the `{` of a row, and after its `}`. */
  readonly before: string;
  readonly after: string;
  /** See CsvRules. */
  readonly nullValues: readonly Uint8Array[];
  readonly emptyIsNull: boolean;
}

/** Location of a column's cells. 'native' is for views whose cells have kinds other than text. */
export type JsonSource = CellSource | { readonly kind: 'native'; readonly at: number; readonly kinds: number };

type Step =
  | { readonly column: number; readonly prefix: string }
  | { readonly open: string }
  | { readonly close: number };

const KINDS: Readonly<Record<JsonSource['kind'], number>> = {
  field: KIND_FIELD,
  views: KIND_VIEWS,
  integer: KIND_INTEGER,
  decimal: KIND_DECIMAL,
  date: KIND_DATE,
  datetime: KIND_DATETIME,
  boolean: KIND_BOOLEAN,
  native: KIND_NATIVE,
};

export class JsonProgram {
  /** Address of the program's head. */
  readonly at: number;
  #heap: Heap;
  /** Columns of the value steps, with the offset of each step. */
  #values: { column: number; at: number }[] = [];

  constructor(heap: Heap, rules: JsonRules) {
    this.#heap = heap;
    const { steps, tail } = layOut(rules);
    this.at = heap.allocate(HEAD_BYTES + steps.length * STEP_BYTES);
    const place = textPlacer(heap);
    const placed = (text: string): [number, number] => {
      const bytes = Buffer.from(text);
      return [place(bytes), bytes.length];
    };
    const nulls = rules.nullValues.flatMap((text) => [place(text), text.length]);
    const nullsAt = heap.allocate(nulls.length * 4);
    const classesAt = heap.allocate(CLASSES_BYTES);
    const { u8, u32 } = heap;
    u8.fill(0, classesAt, classesAt + CLASSES_BYTES);
    for (const text of rules.nullValues) u8[classesAt + text[0]!] = CLASS_NULL;
    u32.set(nulls, nullsAt >>> 2);
    u32.fill(0, this.at >>> 2, (this.at + HEAD_BYTES) >>> 2);
    this.#put(EMITTER, EMITTER_JSON);
    this.#put(CELL_CLASSES, classesAt);
    this.#put(NULLS_AT, nullsAt);
    this.#put(NULLS_COUNT, rules.nullValues.length);
    this.#put(EMPTY_IS_NULL, rules.emptyIsNull ? 1 : 0);
    this.#put(STEPS, steps.length);
    this.#putText(ROW_AT, placed(`${rules.before}{`));
    this.#putText(TAIL_AT, placed(`${tail}}${rules.after}`));
    this.#put(OMIT_NULLS, rules.omitNulls ? 1 : 0);
    steps.forEach((step, index) => {
      const at = HEAD_BYTES + index * STEP_BYTES;
      const string = 'column' in step && isString(rules.schema[step.column]!.type, rules.decimalsAsText);
      this.#put(at + KIND, 'open' in step ? KIND_OPEN : KIND_CLOSE);
      this.#put(at + SOURCE, 'close' in step ? this.#stepAt(step.close) : 0);
      this.#put(at + FLAGS, string ? FLAG_STRING | (rules.decimalsAsText ? FLAG_NUMBER_STRING : 0) : 0);
      this.#putText(at + PREFIX_AT, placed('prefix' in step ? step.prefix : 'open' in step ? step.open : ''));
      if ('column' in step) this.#values.push({ column: step.column, at });
    });
  }

  /** Writes the locations of the next batch's columns. */
  load(raw: RawTable | null, sources: readonly JsonSource[]): void {
    if (raw !== null) {
      this.#put(RAW_AT, raw.at);
      this.#put(RAW_STRIDE_BYTES, raw.stride * 4);
      this.#put(RAW_QUOTE, raw.quote);
    }
    for (const { column, at } of this.#values) {
      const source = sources[column]!;
      this.#put(at + KIND, KINDS[source.kind]);
      this.#put(at + SOURCE, source.kind === 'field' ? source.field : source.at);
      this.#put(at + SECOND, 'meta' in source ? source.meta : 'kinds' in source ? source.kinds : 0);
    }
  }

  /** Address after the last row that the kernel wrote. */
  get outNext(): number {
    return this.#heap.u32[(this.at + OUT_NEXT) >>> 2]!;
  }

  #put(word: number, value: number): void {
    this.#heap.u32[(this.at + word) >>> 2] = value;
  }

  /** Writes an address and a length into adjacent fields. */
  #putText(word: number, [at, length]: readonly [number, number]): void {
    this.#put(word, at);
    this.#put(word + 4, length);
  }

  #stepAt(index: number): number {
    return this.at + HEAD_BYTES + index * STEP_BYTES;
  }
}

/** True if values of the type are JSON strings. */
export function isString(type: ColumnType, decimalsAsText: boolean): boolean {
  return type === 'text' || type === 'date' || type === 'datetime' || (type === 'decimal' && decimalsAsText);
}

/**
 * The steps of a row. If nulls are included, the text between values is constant, and each value's prefix contains
 * the braces before it. If nulls are omitted, braces are separate steps and the kernel inserts the commas.
 */
function layOut(rules: JsonRules): { steps: Step[]; tail: string } {
  const steps: Step[] = [];
  let pending = '';
  const visit = (members: readonly JsonMember[]): void => {
    members.forEach((member, index) => {
      const comma = index > 0 && !rules.omitNulls ? ',' : '';
      const key = `${comma}${JSON.stringify(member.key)}:`;
      if ('column' in member) {
        const quote = isString(rules.schema[member.column]!.type, rules.decimalsAsText) ? '"' : '';
        steps.push({ column: member.column, prefix: `${pending}${key}${quote}` });
        pending = '';
      } else if (rules.omitNulls) {
        const opened = steps.push({ open: `${key}{` }) - 1;
        visit(member.members);
        steps.push({ close: opened });
      } else {
        pending += `${key}{`;
        visit(member.members);
        pending += '}';
      }
    });
  };
  visit(rules.members);
  return { steps, tail: pending };
}
