// The operation `flatten_json`: copies values inside JSON into columns.

import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { startCellOperator } from '../execution/cells/cell-operator.ts';
import { type JsonPath, jsonFieldEdits } from '../execution/cells/json.ts';
import { DEPTH_MAX } from '../kernel/layout/json.ts';
import { columnName } from '../template/base-parameters.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import { anyKey } from '../template/section-schemas.ts';

/** Maximum number of fields of one operation. */
const FIELDS_MAX = 1000;

const parameters = Type.Object({
  column: columnName,
  fields: Type.Record(anyKey, Type.String({ minLength: 1 }), {
    minProperties: 1,
    maxProperties: FIELDS_MAX,
    description:
      '`{path: new column}`. A path consists of keys separated by dots and of indexes of arrays from 0, as in `customer.name` or `lines[0].price`; write other keys as in `["a.b"]`. A path has at most 200 parts.',
  }),
});

interface Field {
  readonly path: JsonPath;
  readonly target: Column;
}

interface Plan {
  readonly column: Column;
  readonly fields: readonly Field[];
}

export const flattenJson = defineOperation({
  name: 'flatten_json',
  purpose: 'extracts values from JSON by their paths',
  summary:
    'Extracts values from JSON into new text columns. Numbers keep their digits, objects and arrays remain JSON, and missing values are null. A cell that is not JSON is the error BAD_JSON. The source column is kept.',
  knownAs: [
    {
      names: 'normalize_json json_normalize expand_json unnest_json flatten expand_column expand_record unnest_wider',
      form: 'column: ..., fields: {customer.name: customer}',
    },
  ],
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
    if (path !== null && path.length > DEPTH_MAX) {
      scope.problem(
        `/fields`,
        'BAD_PATH',
        `A path has at most ${DEPTH_MAX} parts, as JSON is nested at most ${DEPTH_MAX} deep.`,
      );
      return [];
    }
    const pointer = `/fields/${source.replace(/~/g, '~0').replace(/\//g, '~1')}`;
    const target = scope.add(made, 'text', pointer);
    if (path !== null) return [{ path, target }];
    scope.problem(pointer, 'BAD_PATH', 'Write a path such as "customer.name", "lines[0].price" or "[\\"a.b\\"]".');
    return [];
  });
  return column === null ? null : { column, fields: planned };
}

/** Returns null if the text is not a valid path. */
function readPath(source: string): JsonPath | null {
  const parts: (string | number)[] = [];
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

function startFields({ column, fields }: Plan, context: OperatorContext): Operator {
  return startCellOperator(
    context,
    fields.map(({ target }) => ({ source: column, target })),
    jsonFieldEdits(
      context,
      column,
      fields.map(({ path }) => path),
    ),
  );
}
