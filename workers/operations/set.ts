// The operation `set`: columns computed by expressions, or filled with a constant or another column.
import { type Static, Type } from '../bundled/type-box.ts';
import type { CheckedExpression } from '../expression/resolution.ts';
import { resultColumn } from '../expression/result.ts';
import type { Column, ColumnType } from '../schema.ts';
import { pointerSegment } from '../template/pointer.ts';
import type { Scope } from '../template/scope.ts';
import { exactlyOne } from './base-parameters.ts';
import { type CellEdit, type CellTarget, columnIndex, editedIds, startCellOperator } from './cells/cell-operator.ts';
import { CellReader } from './cells/cell-values.ts';
import { constantValue } from './cells/constant-value.ts';
import { valueEdit } from './cells/value-cells.ts';
import { columnName, columnType } from './column-set.ts';
import { checkRowExpression, namesValue } from './expressions/check-expression.ts';
import { expressionEdit } from './expressions/expression-edit.ts';
import { defineOperation, type OperatorContext } from './operation.ts';

const constant = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

const parameters = Type.Object(
  {
    columns: Type.Optional(
      Type.Record(Type.String(), Type.String({ minLength: 1 }), {
        minProperties: 1,
        description:
          '`{name: expression}`; a new name makes a new column. Each expression sees the row as it came in; `value` is the cell that it fills. A text is ' +
          'quoted inside the expression: `status: \'"open"\'`. Lists and maps make a column of JSON, bytes base64, types ' +
          'and durations text; NaN and the infinities, for which JSON has no numbers, are null there.',
      }),
    ),
    column: Type.Optional(Type.String({ minLength: 1, description: 'The one column to fill.' })),
    value: Type.Optional(
      Type.Union([constant, Type.Object({ column: columnName }, { additionalProperties: false })], {
        description: 'A constant as it stands, or `{column: name}`.',
      }),
    ),
    type: Type.Optional(columnType),
  },
  exactlyOne(['columns'], ['column', 'value']),
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

export const set = defineOperation({
  name: 'set',
  summary: 'Fills columns with what expressions give, with a constant, or with the cells of another column.',
  parameters,
  cells: true,
  memory: 'R',
  editedColumns: ({ columns, column }) => (columns === undefined ? [column ?? ''] : Object.keys(columns)),
  examples: [
    {
      title: 'All expressions see the row as it came in',
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
      title: 'A constant of a type',
      operation: { op: 'set', column: 'rate', value: '1.20', type: 'decimal' },
      input: { columns: ['id'], rows: [['1']] },
      output: { columns: ['id', 'rate'], rows: [['1', '1.20']] },
    },
    {
      title: 'Only cells of which a condition holds: `value` is the cell that is filled, so its column must be there',
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
      title: 'Another column, by a name that is no word',
      operation: { op: 'set', columns: { number: '`Invoice No`' } },
      input: { columns: ['Invoice No'], rows: [['007']] },
      output: { columns: ['Invoice No', 'number'], rows: [['007', '007']] },
    },
  ],
  effect(given, scope) {
    return given.columns === undefined ? assignOne(given, scope) : assignAll(given.columns, scope);
  },
  edits: (assignments) => editedIds(assignments.map(({ target }) => target)),
  start(assignments, context) {
    return startCellOperator(
      context,
      assignments.map(({ target }) => target),
      assignments.map((assignment) => editOf(assignment, context)),
    );
  },
});

function assignAll(columns: Readonly<Record<string, string>>, scope: Scope): Assignment[] {
  const checked = Object.entries(columns).flatMap(([name, source]) => {
    const pointer = `/columns/${pointerSegment(name)}`;
    const value = namesValue(source) ? cellAtHand(scope, name, pointer) : null;
    const expression = checkRowExpression(scope, source, pointer, value?.type);
    return expression === null ? [] : [{ name, pointer, expression, value }];
  });
  const known = new Map(scope.columns.map((column) => [column.name, column]));
  return checked.map(({ name, pointer, expression, value }) => {
    const { type } = resultColumn(expression.type);
    return {
      target: targetOf(scope, known.get(name), { name, type, pointer }),
      type,
      source: { kind: 'expression', expression, value },
    };
  });
}

/** The column that is filled, whose cells the expression calls `value`: it must be there before. */
function cellAtHand(scope: Scope, name: string, pointer: string): Column | null {
  return columnOf(scope, name) ?? scope.read(name, pointer);
}

function assignOne({ column = '', value = null, type }: Static<typeof parameters>, scope: Scope): Assignment[] {
  if (typeof value === 'object' && value !== null) {
    const source = scope.read(value.column, '/value/column');
    if (source === null) return [];
    const target = targetOf(scope, columnOf(scope, column), { name: column, type: source.type, pointer: '/column' });
    return [{ target, type: source.type, source: { kind: 'column', column: source } }];
  }
  const made = constantValue(value, type);
  if ('problem' in made) {
    scope.problem('/value', 'BAD_VALUE', made.problem);
    return [];
  }
  const target = targetOf(scope, columnOf(scope, column), { name: column, type: made.type, pointer: '/column' });
  return [{ target, type: made.type, source: { kind: 'constant', value: made.value } }];
}

function columnOf(scope: Scope, name: string): Column | undefined {
  return scope.columns.find((column) => column.name === name);
}

interface Filled {
  readonly name: string;
  readonly type: ColumnType;
  readonly pointer: string;
}

/** An existing column changes in place; any other name is a new column. */
function targetOf(scope: Scope, existing: Column | undefined, { name, type, pointer }: Filled): CellTarget {
  if (existing === undefined) return { source: null, target: scope.add(name, type, pointer) };
  if (existing.type !== type) scope.retype(existing, type);
  return { source: existing, target: existing };
}

function editOf({ source, type }: Assignment, context: OperatorContext): CellEdit {
  if (source.kind === 'expression') {
    const { value } = source;
    const reader = value === null ? undefined : new CellReader(value.type, columnIndex(context.input, value), true);
    return expressionEdit(context, source.expression, reader);
  }
  if (source.kind === 'constant') {
    return valueEdit(context, { type, bind: () => undefined, compute: () => source.value });
  }
  const index = context.input.findIndex(({ id }) => id === source.column.id);
  const reader = new CellReader(source.column.type, index);
  return valueEdit(context, { type, bind: (batch) => reader.bind(batch), compute: reader.read });
}
