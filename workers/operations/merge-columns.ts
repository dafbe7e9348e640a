// The operation `merge_columns`: joins several cells of a row into one text.
import { CELL_BYTES_MAX, type ColumnData } from '../batch/batch.ts';
import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { type CellEdit, type CellWork, startCellOperator } from '../execution/cells/cell-operator.ts';
import { placeText, settleText } from '../execution/cells/text-chain.ts';
import { CellFault, textOfValue, valueEdit } from '../execution/cells/value-cells.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import { columnSet, exactlyOne, PARAMETER_LENGTH_MAX } from '../template/base-parameters.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';
import type { ColumnPosition, Scope } from '../template/scope.ts';

const parameters = Type.Object(
  {
    columns: Type.Optional(columnSet),
    separator: Type.Optional(
      Type.String({ maxLength: PARAMETER_LENGTH_MAX, default: ' ', description: 'Separator between two cells.' }),
    ),
    skip_empty: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Skips empty cells and their separators. With `false`, all separators are written, even if all cells are empty.',
      }),
    ),
    template: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'A text with names of columns in braces, such as `{street} {no}`; `{{` and `}}` are braces.',
      }),
    ),
    into: Type.String({
      minLength: 1,
      description:
        'Name of the new column. It may be one of the merged columns, which then keeps its cells in rows that `where` excludes. Otherwise the new column is null there.',
    }),
    keep_source: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Keeps the merged columns, and adds the new column at the end. By default, the new column replaces the first of them, and the others are removed, including their cells in rows that `where` excludes.',
      }),
    ),
  },
  exactlyOne(['columns'], ['template']),
);

/** A piece of the text: literal text, or the number of a column. */
type Piece = string | number;

interface Merged {
  readonly sources: readonly Column[];
  /** null for all sources with the separator in between. */
  readonly pieces: readonly Piece[] | null;
}

interface Plan extends Merged {
  readonly target: Column;
  readonly given: Static<typeof parameters>;
}

export const mergeColumns = defineOperation({
  name: 'merge_columns',
  purpose: 'joins cells into one text, with a `separator` or a `template` such as `{street} {no}`',
  summary: 'Joins the cells of several columns into one text, at the position of the first of them.',
  knownAs: [
    {
      names: 'concat concatenate unite combine combine_columns join_columns paste concat_columns concat_ws',
      form: null,
    },
  ],
  parameters,
  cells: true,
  memory: 'R',
  editedColumns: replacedColumn,
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
      title: 'With separators of empty cells, so that split_column restores the columns',
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
      title: 'With a template',
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
  effect: plan,
  edits: ({ target }) => [target.id],
  start: startMerge,
});

function plan(given: Static<typeof parameters>, scope: Scope): Plan {
  const { sources, pieces } = given.template === undefined ? listed(given, scope) : templated(given.template, scope);
  const sourceIds = new Set(sources.map(({ id }) => id));
  const first = scope.columns.find(({ id }) => sourceIds.has(id));
  const same = sources.find(({ name }) => name === given.into);
  if (same !== undefined && same.type !== 'text') scope.retype(same, 'text');
  const stays = given.keep_source === true;
  if (same !== undefined && !stays) moveTo(first!, same, scope);
  // The new column replaces the first removed column. If the sources are kept, it goes to the end.
  const place: ColumnPosition | undefined = stays ? undefined : first && { column: first, side: 'before' };
  const target = same ?? scope.add(given.into, 'text', '/into', place);
  if (!stays) for (const source of sources) if (source.id !== same?.id) scope.remove(source);
  return { sources, pieces, target, given };
}

/** Moves a column to the place of another one, which then follows it. */
function moveTo(place: Column, moved: Column, scope: Scope): void {
  const rest = scope.columns.filter(({ id }) => id !== moved.id);
  const columns = rest.flatMap((column) => (column.id === place.id ? [moved, column] : [column]));
  if (moved.id !== place.id) scope.arrange(columns, { rest: true });
}

/** If the operation lists its target column, `value` is the cell that is replaced. */
function replacedColumn({ columns, template, into }: Static<typeof parameters>): readonly string[] | null {
  const listed = template === undefined ? [columns].flat() : piecesOf(template).flatMap(({ name }) => name ?? []);
  return listed.includes(into) ? [into] : null;
}

function listed({ columns = [] }: Static<typeof parameters>, scope: Scope): Merged {
  return { sources: scope.resolve(columns, '/columns'), pieces: null };
}

function templated(template: string, scope: Scope): Merged {
  const sources: Column[] = [];
  const places = new Map<number, number>();
  const pieces = piecesOf(template).flatMap(({ text, name }): Piece[] => {
    const column = name === null ? null : scope.read(name, '/template');
    if (column === null) return [text];
    const place = places.get(column.id) ?? sources.push(column) - 1;
    places.set(column.id, place);
    return [text, place];
  });
  if (sources.length === 0)
    scope.problem(
      '/template',
      'NO_COLUMN',
      'The template names no column. Write names in braces, such as "{street} {no}".',
    );
  return { sources, pieces };
}

/** Literal texts of a template, each with the name that follows it. */
function piecesOf(template: string): readonly { readonly text: string; readonly name: string | null }[] {
  const pieces: { text: string; name: string | null }[] = [];
  let from = 0;
  for (const match of template.matchAll(/\{\{|\}\}|\{([^{}]+)\}/g)) {
    const name = match[1] ?? null;
    const brace = name === null ? match[0].charAt(0) : '';
    pieces.push({ text: template.slice(from, match.index) + brace, name });
    from = match.index + match[0].length;
  }
  return [...pieces, { text: template.slice(from), name: null }];
}

function startMerge({ sources, pieces, target, given }: Plan, context: OperatorContext): Operator {
  const readers = sources.map((source) => new CellReader(source.type, context.indexOf(source)));
  const byValue = valueEdit(context, {
    type: 'text',
    bind: (batch) => readers.forEach((reader) => void reader.bind(batch)),
    compute: pieces === null ? separated(readers, given) : filled(readers, pieces),
  });
  const source = sources.find(({ id }) => id === target.id) ?? null;
  const { separator = ' ', skip_empty: skipEmpty = true } = given;
  const columns = sources.map((column) => context.indexOf(column));
  const merged = pieces === null ? mergedEdit(context, columns, separator, skipEmpty) : null;
  const edit: CellEdit = (work) =>
    merged !== null && columns.every((index) => isText(work.batch.columns[index]!)) ? merged(work) : byValue(work);
  return startCellOperator(context, [{ source, target }], [edit]);
}

/** True for a column of texts without native kinds. */
function isText(column: ColumnData): boolean {
  return column.kind === 'raw' || (column.kind === 'views' && column.kinds === undefined);
}

/** Joins text cells with a kernel. */
function mergedEdit(
  context: OperatorContext,
  columns: readonly number[],
  separator: string,
  skipEmpty: boolean,
): (work: CellWork) => ColumnData | null {
  const { arena, kernel } = context;
  const between = placeText(arena.heap, separator);
  const sources = arena.heap.allocate(Math.max(1, columns.length) * 4);
  return (work) => {
    const { batch, rows, count, column, inPlace } = work;
    const list = columns.map((index) => batch.views(index));
    arena.heap.u32.set(list, sources >>> 2);
    const before = inPlace ? batch.views(column) : 0;
    const made = arena.tryTake(batch.rows * VIEW_BYTES);
    if (made === 0) return null;
    if (inPlace) arena.heap.u8.copyWithin(made, before, before + batch.rows * VIEW_BYTES);
    else arena.heap.u8.fill(0, made, made + batch.rows * VIEW_BYTES);
    const next = kernel.exports.mergeTexts(
      ...([sources, list.length, rows, count, between.at, between.bytes, skipEmpty ? 1 : 0] as const),
      ...([CELL_BYTES_MAX, made, arena.next, arena.limit] as const),
    );
    if (next === 0) return null;
    arena.next = next >>> 0;
    settleText(context, work, before, made, false);
    return { kind: 'views', at: made };
  };
}

function separated(readers: readonly CellReader[], given: Static<typeof parameters>): (row: number) => unknown {
  const { separator = ' ', skip_empty: skipEmpty = true } = given;
  return (row) => {
    const texts = readers.map((reader) => textOfValue(reader.read(row)));
    const parts = skipEmpty ? texts.filter((part) => part !== '') : texts;
    const text = joinedWithin(parts, separator);
    return text === '' ? null : text;
  };
}

/** If all named cells of a row are empty, the result is null, not just the literal text. */
function filled(readers: readonly CellReader[], pieces: readonly Piece[]): (row: number) => unknown {
  return (row) => {
    const texts = readers.map((reader) => textOfValue(reader.read(row)));
    if (texts.every((text) => text === '')) return null;
    return joinedWithin(
      pieces.map((piece) => (typeof piece === 'string' ? piece : texts[piece]!)),
      '',
    );
  };
}

/** Creates no text with more characters than a cell has bytes: a template may name a long cell a thousand times. */
function joinedWithin(parts: readonly string[], separator: string): string | CellFault {
  let length = separator.length * (parts.length - 1);
  for (const part of parts) length += part.length;
  return length > CELL_BYTES_MAX ? new CellFault('TOO_LONG') : parts.join(separator);
}
