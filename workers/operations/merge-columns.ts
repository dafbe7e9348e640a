// The operation `merge_columns`: several cells of a row become one text.
import { type Static, Type } from '../bundled/type-box.ts';
import type { Column } from '../schema.ts';
import type { Scope } from '../template/scope.ts';
import { exactlyOne } from './base-parameters.ts';
import { columnIndex, startCellOperator } from './cells/cell-operator.ts';
import { CellReader } from './cells/cell-values.ts';
import { textOfValue } from './cells/text-of-value.ts';
import { valueEdit } from './cells/value-cells.ts';
import { columnSet } from './column-set.ts';
import { defineOperation } from './operation.ts';

const parameters = Type.Object(
  {
    columns: Type.Optional(columnSet),
    separator: Type.Optional(Type.String({ default: ' ', description: 'What stands between two cells.' })),
    skip_empty: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Leaves empty cells and their separators out. With `false` each cell has its place: all separators stand, also ' +
          'where all cells are empty.',
      }),
    ),
    template: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'A text with names of columns in braces, such as `{street} {no}`; `{{` and `}}` are braces.',
      }),
    ),
    into: Type.String({ minLength: 1, description: 'Name of the column that is made; it may be one of the merged.' }),
    keep_source: Type.Optional(Type.Boolean({ default: false, description: 'Keeps the merged columns.' })),
  },
  exactlyOne(['columns'], ['template']),
);

/** A piece of the text: as it stands, or the number of a column. */
type Piece = string | number;

export const mergeColumns = defineOperation({
  name: 'merge_columns',
  summary: 'Joins the cells of several columns into one text, in the place of the first of them.',
  parameters,
  cells: false,
  memory: 'R',
  examples: [
    {
      title: 'With a separator',
      operation: { op: 'merge_columns', columns: ['first', 'last'], into: 'name' },
      input: {
        columns: ['id', 'first', 'last', 'x'],
        rows: [
          ['1', 'Ada', 'Lovelace', 'a'],
          ['2', null, 'Bob', 'b'],
          ['3', null, null, 'c'],
        ],
      },
      output: {
        columns: ['id', 'name', 'x'],
        rows: [
          ['1', 'Ada Lovelace', 'a'],
          ['2', 'Bob', 'b'],
          ['3', null, 'c'],
        ],
      },
    },
    {
      title: 'Each cell in its place, as split_column takes them apart again',
      operation: { op: 'merge_columns', columns: ['a', 'b', 'c'], separator: ';', skip_empty: false, into: 'all' },
      input: {
        columns: ['a', 'b', 'c'],
        rows: [
          ['1', '2', '3'],
          ['1', null, '3'],
          [null, null, null],
        ],
      },
      output: { columns: ['all'], rows: [['1;2;3'], ['1;;3'], [';;']] },
    },
    {
      title: 'By a template',
      operation: { op: 'merge_columns', template: '{zip} {city} ({country})', into: 'city', keep_source: true },
      input: {
        columns: ['zip', 'city', 'country'],
        rows: [
          ['1010', 'Wien', 'AT'],
          [null, null, null],
        ],
      },
      output: {
        columns: ['zip', 'city', 'country'],
        rows: [
          ['1010', '1010 Wien (AT)', 'AT'],
          [null, null, null],
        ],
      },
    },
  ],
  effect(given, scope) {
    const { sources, pieces } = given.template === undefined ? listed(given, scope) : templated(given.template, scope);
    const first = scope.columns.find(({ id }) => sources.some((source) => source.id === id));
    const named = sources.find(({ name }) => name === given.into);
    const stays = given.keep_source === true || named?.id === first?.id;
    // A column that goes away may give its name to the one in the place of the first.
    if (named !== undefined && !stays) scope.remove(named);
    const same = stays ? named : undefined;
    if (same !== undefined && same.type !== 'text') scope.retype(same, 'text');
    const target = same ?? scope.add(given.into, 'text', '/into', first && { column: first, side: 'before' });
    if (given.keep_source !== true) for (const source of sources) if (source.id !== same?.id) scope.remove(source);
    return { sources, pieces, target, given };
  },
  edits: (plan) => (plan === null ? [] : [plan.target.id]),
  start(plan, context) {
    if (plan === null) return { push: context.next };
    const readers = plan.sources.map((source) => new CellReader(source.type, columnIndex(context.input, source)));
    const text = plan.pieces === null ? separated(readers, plan.given) : filled(readers, plan.pieces);
    const source = plan.sources.find(({ id }) => id === plan.target.id) ?? null;
    const edit = valueEdit(context, {
      type: 'text',
      bind: (batch) => readers.forEach((reader) => void reader.bind(batch)),
      compute: text,
    });
    return startCellOperator(context, [{ source, target: plan.target }], [edit]);
  },
});

interface Merged {
  readonly sources: readonly Column[];
  /** Null: all sources with the separator. */
  readonly pieces: readonly Piece[] | null;
}

function listed({ columns = [] }: Static<typeof parameters>, scope: Scope): Merged {
  return { sources: scope.resolve(columns, '/columns'), pieces: null };
}

function templated(template: string, scope: Scope): Merged {
  const sources: Column[] = [];
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of template.matchAll(/\{\{|\}\}|\{([^{}]+)\}/g)) {
    pieces.push(template.slice(from, match.index));
    from = match.index + match[0].length;
    const name = match[1];
    if (name === undefined) pieces.push(match[0].charAt(0));
    const column = name === undefined ? null : scope.read(name, '/template');
    if (column === null) continue;
    const known = sources.findIndex(({ id }) => id === column.id);
    pieces.push(known < 0 ? sources.push(column) - 1 : known);
  }
  pieces.push(template.slice(from));
  if (sources.length === 0)
    scope.problem(
      '/template',
      'NO_COLUMN',
      'The template names no column. Write names in braces, such as "{street} {no}".',
    );
  return { sources, pieces };
}

function separated(readers: readonly CellReader[], given: Static<typeof parameters>): (row: number) => unknown {
  const { separator = ' ', skip_empty: skipEmpty = true } = given;
  return (row) => {
    const texts = readers.map((reader) => textOfValue(reader.read(row)));
    const text = (skipEmpty ? texts.filter((part) => part !== '') : texts).join(separator);
    return text === '' ? null : text;
  };
}

/** A row in which all named cells are empty gives null, not the bare text between them. */
function filled(readers: readonly CellReader[], pieces: readonly Piece[]): (row: number) => unknown {
  return (row) => {
    const texts = readers.map((reader) => textOfValue(reader.read(row)));
    if (texts.every((text) => text === '')) return null;
    return pieces.map((piece) => (typeof piece === 'string' ? piece : texts[piece])).join('');
  };
}
