// The operation `flatten_json`: values inside JSON become columns.
import { CellReader } from '../batch/cell-values.ts';
import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { columnIndex, startCellOperator } from '../execution/cells/cell-operator.ts';
import { nativeJson } from '../execution/cells/json-cells.ts';
import { CellFault, valueEdit } from '../execution/cells/value-cells.ts';
import { columnName } from '../execution/parameters/column-set.ts';
import { KIND_TEXT } from '../kernel/layout/native-kinds.ts';
import type { Scope } from '../template/scope.ts';
import { jsonEntries, jsonItems, jsonKind } from '../values/json-parts.ts';
import { defineOperation, type Operator, type OperatorContext } from './operation.ts';

/** Fields that one operation may take out. */
const FIELDS_MAX = 1000;

const parameters = Type.Object({
  column: columnName,
  fields: Type.Record(Type.String({ minLength: 1, maxLength: 500 }), Type.String({ minLength: 1 }), {
    minProperties: 1,
    maxProperties: FIELDS_MAX,
    description:
      '`{path: new column}`: keys with dots between them, items of arrays by their number from 0, as in `customer.name` ' +
      'or `lines[0].price`; a key with other signs as in `["a.b"]`.',
  }),
});

/** A key, or the number of an item. */
type Part = string | number;

interface Field {
  readonly path: readonly Part[];
  readonly target: Column;
}

interface Plan {
  readonly column: Column;
  readonly fields: readonly Field[];
}

export const flattenJson = defineOperation({
  name: 'flatten_json',
  summary:
    'Takes values out of JSON into new columns of text. Numbers keep their digits, objects and arrays stay JSON, what is ' +
    'not there is null; a cell that is no JSON is the error BAD_JSON. The column stays.',
  parameters,
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Parts of an order',
      operation: {
        op: 'flatten_json',
        column: 'order',
        fields: { id: 'no', 'customer.name': 'customer', 'lines[0].price': 'price', lines: 'lines' },
      },
      input: {
        columns: ['order'],
        rows: [
          ['{"id": 12345678901234567890, "customer": {"name": "Ada"}, "lines": [{"price": 1.50}]}'],
          ['{"id": "7", "lines": []}'],
          ['no JSON'],
          [null],
        ],
      },
      output: {
        columns: ['order', 'no', 'customer', 'price', 'lines'],
        rows: [
          [
            '{"id": 12345678901234567890, "customer": {"name": "Ada"}, "lines": [{"price": 1.50}]}',
            '12345678901234567890',
            'Ada',
            '1.50',
            '[{"price": 1.50}]',
          ],
          ['{"id": "7", "lines": []}', '7', null, null, '[]'],
          ['no JSON', null, null, null, null],
          [null, null, null, null, null],
        ],
      },
    },
  ],
  effect: plan,
  edits: () => [],
  start: (planned, context) => (planned === null ? { push: context.next } : startFields(planned, context)),
});

function plan({ column: name, fields }: Static<typeof parameters>, scope: Scope): Plan | null {
  const column = scope.read(name, '/column');
  if (column !== null && column.type !== 'text' && column.type !== 'json') {
    const message = `The column ${JSON.stringify(name)} is ${column.type} at this step; this operation takes text or json.`;
    scope.problem('/column', 'WRONG_TYPE', message);
  }
  const planned = Object.entries(fields).flatMap(([source, made]): Field[] => {
    const path = readPath(source);
    const pointer = `/fields/${source.replace(/~/g, '~0').replace(/\//g, '~1')}`;
    const target = scope.add(made, 'text', pointer);
    if (path !== null) return [{ path, target }];
    scope.problem(pointer, 'BAD_PATH', 'Write a path such as "customer.name", "lines[0].price" or "[\\"a.b\\"]".');
    return [];
  });
  return column === null ? null : { column, fields: planned };
}

/** Null when it is no path. */
function readPath(source: string): Part[] | null {
  const parts: Part[] = [];
  const pattern = /(?:^|\.)([^.[\]"]+)|\[([0-9]{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y;
  while (pattern.lastIndex < source.length) {
    const match = pattern.exec(source);
    if (match === null) return null;
    const [, key, item, quoted] = match;
    if (key !== undefined) parts.push(key);
    else if (item !== undefined) parts.push(Number(item));
    else {
      try {
        parts.push(JSON.parse(quoted!) as string);
      } catch {
        return null;
      }
    }
  }
  return parts;
}

/** The first field reads a row's cell for all of them, and is the one that fails. */
function startFields({ column, fields }: Plan, context: OperatorContext): Operator {
  const reader = new CellReader(column.type, columnIndex(context.input, column));
  const tree = pathTree(fields);
  const found = new Map<number, readonly (string | null)[] | null>();
  const edits = fields.map((_, index) =>
    valueEdit(context, {
      type: 'text',
      bind(batch) {
        reader.bind(batch);
        if (index === 0) found.clear();
      },
      compute(row) {
        if (index === 0) found.set(row, readFields(jsonText(reader, row), fields, tree));
        const values = found.get(row);
        if (values === undefined) throw new Error('the first field has read each row');
        return values === null ? (index === 0 ? new CellFault('BAD_JSON') : null) : values[index]!;
      },
    }),
  );
  return startCellOperator(
    context,
    fields.map(({ target }) => ({ source: column, target })),
    edits,
  );
}

/** The text of a cell, of one that the file knows for something else than text its JSON. */
function jsonText(reader: CellReader, row: number): string | null {
  const text = reader.text(row);
  const kind = reader.kind(row);
  return text === null || kind === KIND_TEXT ? text : nativeJson(text, kind);
}

/** Null when the text is no JSON. */
function readFields(text: string | null, fields: readonly Field[], tree: PathTree): readonly (string | null)[] | null {
  const values = fields.map((): string | null => null);
  if (text === null) return values;
  if (jsonKind(text) === 'none') return null;
  readTree(text.trim(), tree, values);
  return values;
}

/** The paths of all fields, so that one walk through a text finds them all. */
interface PathTree {
  /** The fields that want the value here. */
  readonly fields: number[];
  readonly children: Map<Part, PathTree>;
  /** No item of an array behind this one is wanted. */
  lastItem: number;
  /** Whether a member of an object is wanted. */
  wantsMembers: boolean;
}

function pathTree(fields: readonly Field[]): PathTree {
  const root = emptyTree();
  for (const [index, { path }] of fields.entries()) {
    let tree = root;
    for (const part of path) {
      if (typeof part === 'number') tree.lastItem = Math.max(tree.lastItem, part);
      else tree.wantsMembers = true;
      const child = tree.children.get(part) ?? emptyTree();
      tree.children.set(part, child);
      tree = child;
    }
    tree.fields.push(index);
  }
  return root;
}

function emptyTree(): PathTree {
  return { fields: [], children: new Map(), lastItem: -1, wantsMembers: false };
}

function readTree(
  value: string,
  { fields, children, lastItem, wantsMembers }: PathTree,
  values: (string | null)[],
): void {
  const cell = fields.length === 0 ? null : cellOf(value);
  for (const field of fields) values[field] = cell;
  if (children.size === 0) return;
  if (value.startsWith('[')) {
    let place = 0;
    for (const item of jsonItems(value)) {
      if (place > lastItem) return;
      const child = children.get(place++);
      if (child !== undefined) readTree(item, child, values);
    }
  } else if (wantsMembers && value.startsWith('{')) {
    const found = new Map<PathTree, string>();
    for (const [key, member] of jsonEntries(value)) {
      const child = children.get(key);
      if (child !== undefined) found.set(child, member);
    }
    for (const [child, member] of found) readTree(member, child, values);
  }
}

function cellOf(value: string): string | null {
  if (value === 'null') return null;
  return value.startsWith('"') ? (JSON.parse(value) as string) : value;
}
