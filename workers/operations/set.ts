// The operation `set`: fills columns with the results of expressions, a constant, or another column.

import type { Column, ColumnType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { type CellEdit, type CellTarget, editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { constantValue } from '../execution/cells/constant-value.ts';
import { valueEdit } from '../execution/cells/value-cells.ts';
import { expressionEdit, valueEdits } from '../execution/expressions/expression-edit.ts';
import type { CheckedExpression } from '../expression/check/resolution.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import { resultColumn } from '../expression/compile/value-text.ts';
import { columnName, columnSet, columnType, exactlyOne } from '../template/base-parameters.ts';
import {
  type ClockOfName,
  checkRowExpression,
  clockOf,
  type NamesUsed,
  namesUsed,
} from '../template/check-expression.ts';
import { defineOperation, type OperatorContext } from '../template/operation.ts';
import { namesFor } from '../template/operation-hint.ts';
import type { ColumnSet, Scope } from '../template/scope.ts';
import { anyKey } from '../template/section-schemas.ts';
import { pointerSegment } from '../template/source-node.ts';

const constant = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

const parameters = Type.Object(
  {
    columns: Type.Optional(
      Type.Record(anyKey, Type.String({ minLength: 1 }), {
        minProperties: 1,
        description:
          '`{name: expression}`; a new name creates a new column. All expressions use the row as it was before the operation; `value` is the cell that is set. Write texts with quotes inside the expression: `status: \'"open"\'`. Lists and maps become JSON, bytes become base64, types and durations become texts. JSON has no NaN or infinity; they become null there.',
      }),
    ),
    each: Type.Optional(columnSet),
    expr: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'An expression for each column of `each`; `value` is its cell: `value * 1.19d`.',
      }),
    ),
    into: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'With `each`: the names of new columns; `{name}` is the name of the column, as in `{name}_gross`. By default the columns change in place.',
      }),
    ),
    column: Type.Optional(Type.String({ minLength: 1, description: 'The column to set.' })),
    value: Type.Optional(
      Type.Union([constant, Type.Object({ column: columnName }, { additionalProperties: false })], {
        description: 'A constant, or `{column: name}`.',
      }),
    ),
    type: Type.Optional(columnType),
  },
  exactlyOne(['columns'], ['column', 'value'], ['each', 'expr']),
);

type Source =
  | { readonly kind: 'expression'; readonly expression: CheckedExpression; readonly value: Column | null }
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'column'; readonly column: Column };

interface Assignment {
  readonly target: CellTarget;
  readonly type: ColumnType;
  readonly source: Source;
}

const COLUMNS_HINT = `Write columns: {new_name: '...'}.`;

export const set = defineOperation({
  name: 'set',
  purpose:
    'sets columns to expressions; a new name creates a new column; all expressions use the row as it was before the operation',
  summary: 'Sets columns to results of expressions, to a constant, or to the cells of another column.',
  parametersKnownAs: namesFor(COLUMNS_HINT, 'expression', 'formula', 'name', 'as'),
  knownAs: [
    {
      names:
        'compute calculate derive mutate assign add_column formula transform eval put apply lambda column new_column add_field with_column with_columns withcolumn expression expr python javascript js script mutate_at add extend',
      form: "columns: {new_name: '...'}",
    },
    { names: 'if case when ifelse case_when', form: "columns: {name: 'condition ? a : b'}" },
  ],
  parameters,
  cells: true,
  memory: 'R',
  editedColumns,
  examples: [
    {
      title: 'All expressions use the original row',
      operation: { op: 'set', columns: { a: 'b', b: 'a', source: '"bank"' } },
      input: {
        columns: ['a', 'b'],
        rows: [
          ['1', '2'],
          [null, '3'],
        ],
      },
      output: {
        columns: ['a', 'b', 'source'],
        rows: [
          ['2', '1', 'bank'],
          ['3', null, 'bank'],
        ],
      },
    },
    {
      title: 'One expression for many columns',
      operation: { op: 'set', each: { pattern: '^net_' }, expr: 'value * 1.19d', into: '{name}_gross' },
      input: {
        columns: ['net_a', 'x', 'net_b'],
        types: ['decimal', 'text', 'decimal'],
        rows: [
          ['1.00', 'p', '2'],
          [null, 'q', '10'],
        ],
      },
      output: {
        columns: ['net_a', 'x', 'net_b', 'net_a_gross', 'net_b_gross'],
        rows: [
          ['1.00', 'p', '2', '1.1900', '2.38'],
          [null, 'q', '10', null, '11.90'],
        ],
      },
    },
    {
      title: 'A constant of a type',
      operation: { op: 'set', column: 'rate', value: '1.20', type: 'decimal' },
      input: { columns: ['id'], rows: [['1']] },
      output: { columns: ['id', 'rate'], rows: [['1', '1.20']] },
    },
    {
      title: 'Only cells that match a condition: `value` is the cell that is set, so its column must exist',
      operation: { op: 'set', columns: { a: 'b', b: '"none"' }, where: 'value == null' },
      input: {
        columns: ['a', 'b'],
        rows: [
          ['1', '2'],
          [null, '3'],
          ['4', null],
        ],
      },
      output: {
        columns: ['a', 'b'],
        rows: [
          ['1', '2'],
          ['3', '3'],
          ['4', 'none'],
        ],
      },
    },
    {
      title: 'A column whose name contains a space',
      operation: { op: 'set', columns: { number: '`Invoice No`' } },
      input: { columns: ['Invoice No'], rows: [['007']] },
      output: { columns: ['Invoice No', 'number'], rows: [['007', '007']] },
    },
  ],
  effect(given, scope) {
    if (given.each !== undefined) return assignEach({ ...given, each: given.each }, scope);
    return given.columns === undefined ? assignOne(given, scope) : assignAll(given.columns, scope);
  },
  edits: (assignments) => editedIds(assignments.map(({ target }) => target)),
  start(assignments, context) {
    const editOf = valueEdits(context);
    return startCellOperator(
      context,
      assignments.map(({ target }) => target),
      assignments.map(({ source, type }) =>
        source.kind === 'expression' && source.value !== null
          ? editOf(source.expression, source.value)
          : editWithoutValue({ source, type }, context),
      ),
    );
  },
});

function editedColumns({ columns, column, each }: Static<typeof parameters>): readonly string[] | null {
  if (Array.isArray(each)) return each;
  if (typeof each === 'string' && each !== '*') return [each];
  // The columns of a pattern are not known yet.
  if (each !== undefined) return null;
  return columns === undefined ? [column ?? ''] : Object.keys(columns);
}

function assignAll(columns: Readonly<Record<string, string>>, scope: Scope): Assignment[] {
  const written = Object.entries(columns).map(([name, source]) => ({ name, source, used: namesUsed(source) }));
  // An expression that edits a column and also reads it refers to the incoming column.
  const made = new Set(
    written.filter(({ name, used }) => !used.columns.has(name) && !used.value).map(({ name }) => name),
  );
  const checked = written.flatMap(({ name, source, used }) => {
    const pointer = `/columns/${pointerSegment(name)}`;
    const value = used.value ? cellAtHand(scope, name, pointer) : null;
    const expression = checkRowExpression(scope, source, pointer, value?.type, doubtOf(name, used, made, scope));
    return expression === null ? [] : [{ name, pointer, expression, value }];
  });
  const known = new Map(scope.columns.map((column) => [column.name, column]));
  return checked.map(({ name, pointer, expression, value }) => {
    const { type } = resultColumn(expression.type);
    const clock = clockOf(expression.root, clocksBefore(known, value));
    return {
      target: targetOf(scope, known.get(name), { name, type, pointer, clock }),
      type,
      source: { kind: 'expression', expression, value },
    };
  });
}

/** Warns about names in an expression that may be misunderstood; null if there are no such names. */
function doubtOf(name: string, used: NamesUsed, made: ReadonlySet<string>, scope: Scope): string | null {
  if (name !== 'value' && used.value && scope.known('value') !== null) {
    return `value is the cell of ${JSON.stringify(name)} here. Write row["value"] for the column of this name.`;
  }
  for (const other of used.columns) {
    if (other === name || !made.has(other)) continue;
    return `${JSON.stringify(other)} is the column as it was before this operation. To use its new values, add another operation, such as a second set.`;
  }
  return null;
}

/** Placeholder for the name of a column in `each`. */
const NAME_PLACE = '{name}';

type EachParameters = Static<typeof parameters> & { readonly each: ColumnSet };

function assignEach({ each, expr = '', into }: EachParameters, scope: Scope): Assignment[] {
  const columns = scope.resolve(each, '/each');
  const isOne = typeof each === 'string' && each !== '*';
  if (into !== undefined && !isOne && !into.includes(NAME_PLACE)) {
    const message = `All columns would be written to ${JSON.stringify(into)}. Write ${NAME_PLACE} in place of the name of each column.`;
    scope.problem('/into', 'BAD_VALUE', message);
    return [];
  }
  // Checked once for each type, because a file may have thousands of columns.
  const byType = new Map<ColumnType, CheckedExpression | null>();
  const checked = columns.flatMap((value) => {
    const known = byType.get(value.type);
    const expression = known === undefined ? checkRowExpression(scope, expr, '/expr', value.type) : known;
    byType.set(value.type, expression);
    return expression === null ? [] : [{ value, expression }];
  });
  const known = new Map(scope.columns.map((column) => [column.name, column]));
  return checked.map(({ value, expression }) => {
    const name = into?.replaceAll(NAME_PLACE, () => value.name) ?? value.name;
    const { type } = resultColumn(expression.type);
    const clock = clockOf(expression.root, clocksBefore(known, value));
    const target = targetOf(scope, name === value.name ? value : undefined, { name, type, pointer: '/into', clock });
    return { target, type, source: { kind: 'expression', expression, value } };
  });
}

/** The column that is filled, whose cells the expression calls `value`. It must already exist. */
function cellAtHand(scope: Scope, name: string, pointer: string): Column | null {
  return scope.known(name) ?? scope.read(name, pointer);
}

function assignOne({ column = '', value = null, type }: Static<typeof parameters>, scope: Scope): Assignment[] {
  if (typeof value === 'object' && value !== null) {
    const source = scope.read(value.column, '/value/column');
    if (source === null) return [];
    const target = targetOf(scope, scope.known(column) ?? undefined, {
      name: column,
      type: source.type,
      pointer: '/column',
      clock: source.clock,
    });
    return [{ target, type: source.type, source: { kind: 'column', column: source } }];
  }
  const made = constantValue(value, type);
  if ('problem' in made) {
    scope.problem('/value', 'BAD_VALUE', made.problem);
    return [];
  }
  const target = targetOf(scope, scope.known(column) ?? undefined, {
    name: column,
    type: made.type,
    pointer: '/column',
  });
  return [{ target, type: made.type, source: { kind: 'constant', value: made.value } }];
}

interface Filled {
  readonly name: string;
  readonly type: ColumnType;
  readonly pointer: string;
  /** See Column.clock. */
  readonly clock?: string | undefined;
}

/** Clocks of the columns that came in; `value` is the cell that is filled. */
function clocksBefore(known: ReadonlyMap<string, Column>, value: Column | null): ClockOfName {
  return (name) => (name === 'value' && value !== null ? value.clock : known.get(name)?.clock);
}

/** An existing column is changed in place. Any other name becomes a new column. */
function targetOf(scope: Scope, existing: Column | undefined, { name, type, pointer, clock }: Filled): CellTarget {
  if (existing === undefined) {
    const target = scope.add(name, type, pointer);
    scope.setClock(target, clock);
    return { source: null, target };
  }
  if (existing.type !== type) scope.retype(existing, type);
  scope.setClock(existing, clock);
  return { source: existing, target: existing };
}

/** The edit of an assignment that does not read the current cell. */
function editWithoutValue({ source, type }: Pick<Assignment, 'source' | 'type'>, context: OperatorContext): CellEdit {
  if (source.kind === 'expression') return expressionEdit(context, source.expression);
  if (source.kind === 'constant') {
    return valueEdit(context, { type, bind: () => undefined, compute: () => source.value });
  }
  const reader = new CellReader(source.column.type, context.indexOf(source.column));
  return valueEdit(context, { type, bind: (batch) => reader.bind(batch), compute: reader.read });
}
