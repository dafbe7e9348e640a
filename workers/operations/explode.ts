// The operation `explode`: creates one row per value of a cell with several values.
import type { ColumnType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { ExplodedRows, type ExplodePlan } from '../execution/cells/copied-rows.ts';
import { columnName } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';

/** Default maximum number of rows from one cell: far more than people write into a cell. */
const ITEMS_MAX = 10_000;

/** Largest maximum that a Template may set: a cell of 4 MiB has no more values. */
const ITEMS_MOST = 5_000_000;

const parameters = Type.Object({
  column: columnName,
  separator: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Separator of the values. Without it, the cells are JSON arrays.',
    }),
  ),
  json: Type.Optional(
    Type.Literal(true, {
      description: 'The cells are JSON arrays, as without `separator`; anything else is the error BAD_JSON.',
    }),
  ),
  trim: Type.Optional(Type.Boolean({ default: true, description: 'Removes white space around the parts.' })),
  index_into: Type.Optional(
    Type.String({ minLength: 1, description: 'A new column with the number of the value in its cell, from 1.' }),
  ),
  max_items: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ITEMS_MOST,
      default: ITEMS_MAX,
      description: 'A cell with more values is the error SPLIT_COUNT.',
    }),
  ),
});

export const explode = defineOperation({
  name: 'explode',
  purpose: 'makes one row for each value of a cell: parts between separators, or items of a JSON array',
  summary:
    'Makes one row for each value of a cell. If a cell has no value, its row is kept. Empty values are null. Texts in a JSON array become texts, and other values remain as written.',
  knownAs: [
    {
      names: 'nest unnest unnest_longer split_rows split_to_rows expand_rows explode_rows flatten_rows separate_rows',
      form: "column: ..., separator: ','",
    },
  ],
  parametersKnownAs: { by: 'Write separator: ","; without it, the cells are JSON arrays.' },
  parameters,
  cells: false,
  memory: 'O',
  worksInParts: () => true,
  examples: [
    {
      title: 'Several numbers in one cell',
      operation: { op: 'explode', column: 'orders', separator: ';', index_into: 'no' },
      input: {
        columns: ['orders', 'name'],
        rows: [
          ['7; 8;;9', 'Ada'],
          [null, 'Bob'],
          ['5', 'Cyd'],
        ],
      },
      output: {
        columns: ['orders', 'name', 'no'],
        rows: [
          ['7', 'Ada', '1'],
          ['8', 'Ada', '2'],
          [null, 'Ada', '3'],
          ['9', 'Ada', '4'],
          [null, 'Bob', null],
          ['5', 'Cyd', '1'],
        ],
      },
    },
    {
      title: 'An array',
      operation: { op: 'explode', column: 'tags', json: true },
      input: {
        columns: ['id', 'tags'],
        rows: [
          ['1', '["a", 2.50, null, {"x": [1]}]'],
          ['2', '[]'],
        ],
      },
      output: {
        columns: ['id', 'tags'],
        rows: [
          ['1', 'a'],
          ['1', '2.50'],
          ['1', null],
          ['1', '{"x": [1]}'],
          ['2', null],
        ],
      },
    },
  ],
  effect: plan,
  edits: (planned) => (planned === null ? [] : [planned.column.id]),
  start: (planned, context) => (planned === null ? { push: context.next } : new ExplodedRows(planned, context)),
});

function plan(given: Static<typeof parameters>, scope: Scope): ExplodePlan | null {
  const { separator, trim = true, index_into: index, max_items: itemsMax = ITEMS_MAX } = given;
  const column = scope.read(given.column, '/column');
  if (given.json !== undefined && separator !== undefined)
    scope.problem('/json', 'BAD_PARAMETERS', 'A cell has a separator or is a JSON array: leave out one of the two.');
  if (column === null) return null;
  if (index !== undefined) scope.add(index, 'integer', '/index_into');
  const takes: readonly ColumnType[] = separator === undefined ? ['text', 'json'] : ['text'];
  if (!takes.includes(column.type)) {
    const name = JSON.stringify(column.name);
    const message = `The column ${name} is ${column.type} at this step; this operation takes ${takes.join(' or ')}.`;
    scope.problem('/column', 'WRONG_TYPE', message);
    return null;
  }
  return { column, separator: separator ?? null, trim, hasIndex: index !== undefined, itemsMax };
}
