// The operation `fill_empty`: fills cells without a value.

import type { Column, ColumnType } from '../batch/schema.ts';
import { Type } from '../bundled/type-box.ts';
import {
  type CellEdit,
  type CellTarget,
  type CellWork,
  editedIds,
  startCellOperator,
} from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { constantValue } from '../execution/cells/constant-value.ts';
import { type CellComputation, valueEdit } from '../execution/cells/value-cells.ts';
import { RowExpression } from '../execution/expressions/row-expression.ts';
import { filledTexts, type TextFilling } from '../execution/ordered/carried-fill.ts';
import type { CheckedExpression } from '../expression/check/resolution.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import { columnOfType } from '../expression/compile/environment.ts';
import { META_NULL } from '../kernel/layout/cells.ts';
import { COLUMN_TYPES, columnName, columnSet, exactlyOne } from '../template/base-parameters.ts';
import { checkRowExpression } from '../template/check-expression.ts';
import { defineOperation, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';

type Filling =
  | { readonly kind: 'constant'; readonly values: readonly unknown[] }
  | { readonly kind: 'columns'; readonly columns: readonly Column[] }
  | { readonly kind: 'expression'; readonly expression: CheckedExpression };

interface Plan {
  readonly targets: readonly CellTarget[];
  readonly filling: Filling;
}

export const fillEmpty = defineOperation({
  name: 'fill_empty',
  purpose: 'fills empty cells with `value`, with the first non-empty cell of `from`, or with `expr`',
  summary:
    'Fills empty cells with a constant, with the first value of other columns, or with the result of an expression.',
  knownAs: [
    {
      names: 'fillna fill_na fill replace_na default default_value fill_null fill_nulls fill_blank ifnull nvl if_empty',
      form: 'columns: ..., value: ...',
    },
  ],
  parametersKnownAs: { with: 'Write value: ... for a constant, from: [...] for other columns.' },
  parameters: Type.Object(
    {
      columns: columnSet,
      value: Type.Optional(
        Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
          description: 'A constant of the type of the column.',
        }),
      ),
      from: Type.Optional(
        Type.Array(columnName, {
          minItems: 1,
          description: 'Columns whose first non-empty cell is the value.',
        }),
      ),
      expr: Type.Optional(Type.String({ minLength: 1, description: 'An expression of the type of the column.' })),
      into: intoParameter,
    },
    exactlyOne(['value'], ['from'], ['expr']),
  ),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'A constant',
      operation: { op: 'fill_empty', columns: ['country'], value: 'DE' },
      input: { columns: ['country'], rows: [['FR'], [null]] },
      output: { columns: ['country'], rows: [['FR'], ['DE']] },
    },
    {
      title: 'The first value that exists',
      operation: { op: 'fill_empty', columns: 'phone', from: ['mobile', 'office'], into: 'call' },
      input: {
        columns: ['phone', 'mobile', 'office'],
        rows: [
          ['1', '2', '3'],
          [null, '2', '3'],
          [null, null, '3'],
          [null, null, null],
        ],
      },
      output: {
        columns: ['phone', 'mobile', 'office', 'call'],
        rows: [
          ['1', '2', '3', '1'],
          [null, '2', '3', '2'],
          [null, null, '3', '3'],
          [null, null, null, null],
        ],
      },
    },
    {
      title: 'An expression',
      operation: { op: 'fill_empty', columns: ['label'], expr: '"no. " + id' },
      input: {
        columns: ['id', 'label'],
        rows: [
          ['7', null],
          ['8', 'x'],
        ],
      },
      output: {
        columns: ['id', 'label'],
        rows: [
          ['7', 'no. 7'],
          ['8', 'x'],
        ],
      },
    },
  ],
  effect({ columns, value, from, expr, into }, scope): Plan | null {
    const targets = cellTargets(scope, { columns, into, takes: COLUMN_TYPES, makes: null });
    const filling =
      expr !== undefined
        ? byExpression(expr, targets, scope)
        : from !== undefined
          ? byColumns(from, targets, scope)
          : byConstant(value ?? '', targets, scope);
    return filling === null ? null : { targets, filling };
  },
  edits: (plan) => editedIds(plan?.targets ?? []),
  start(plan, context) {
    if (plan === null) return { push: context.next };
    const { targets, filling } = plan;
    const parts = partsOf(filling, targets, context);
    const shared = new Map<ColumnType, TypeEdit>();
    const edits = targets.map(({ source, target }, index) => {
      const made = shared.get(target.type) ?? typeEdit(context, plan, parts, index);
      shared.set(target.type, made);
      return emptyEdit(context, made, context.indexOf(source!));
    });
    return startCellOperator(context, targets, edits);
  },
});

/** What all columns share, because a file may have thousands of columns and `from` and `expr` may be long. */
interface SharedParts {
  /** Readers of the columns of `from`. */
  readonly others: readonly CellReader[];
  readonly expression: RowExpression | null;
  /** Fills texts; null if they must be computed. */
  readonly texts: CellEdit | null;
}

function partsOf(filling: Filling, targets: readonly CellTarget[], context: OperatorContext): SharedParts {
  const others = filling.kind === 'columns' ? filling.columns.map((column) => readerOf(column, context)) : [];
  const expression =
    filling.kind === 'expression' ? new RowExpression(filling.expression, context.input, context).withPauses() : null;
  const texts = textFilling(filling, targets, context);
  return { others, expression, texts: texts === null ? null : filledTexts(context, texts) };
}

/** What all columns of one type share. */
interface TypeEdit {
  /** Reads the cells of the column that `edit` edits. */
  readonly reader: CellReader;
  readonly edit: CellEdit;
  /** Same as `edit`, for empty cells. */
  readonly fill: CellEdit;
}

/** @param index one of the targets of the type */
function typeEdit(context: OperatorContext, { targets, filling }: Plan, parts: SharedParts, index: number): TypeEdit {
  const { source, target } = targets[index]!;
  const reader = readerOf(source!, context);
  const constant = filling.kind === 'constant' ? filling.values[index] : null;
  const edit = valueEdit(context, computationOf({ type: target.type, reader, constant }, parts));
  return { reader, edit, fill: target.type === 'text' ? (parts.texts ?? edit) : edit };
}

/**
 * For an edit in place, only the empty cells are computed. A kernel, or the meta byte of typed cells, finds them.
 * @param index index of the column in the batches
 */
function emptyEdit(context: OperatorContext, { reader, edit, fill }: TypeEdit, index: number): CellEdit {
  return (work) => {
    reader.moveTo(index);
    if (!work.inPlace) return edit(work);
    const count = keepEmpty(context, work);
    return count === 0 ? work.batch.columns[work.column]! : fill({ ...work, count });
  };
}

/** What fills the targets that are texts. Returns null if there are none, or if cells must be computed. */
function textFilling(
  filling: Filling,
  targets: readonly CellTarget[],
  { indexOf }: OperatorContext,
): TextFilling | null {
  const index = targets.findIndex(({ target }) => target.type === 'text');
  if (index < 0 || filling.kind === 'expression') return null;
  if (filling.kind === 'constant') return { text: filling.values[index] as string };
  return { columns: filling.columns.map(indexOf) };
}

/** Keeps the rows of the work whose cell is null or the empty text. Returns their number. */
function keepEmpty({ kernel }: OperatorContext, { batch, column: index, rows, count }: CellWork): number {
  const column = batch.columns[index]!;
  if (column.kind !== 'typed') return kernel.exports.keepEmpty(batch.views(index), rows, count);
  const { u8, u32 } = batch.heap;
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = u32[(rows >>> 2) + i]!;
    if (u8[column.meta + row] === META_NULL) u32[(rows >>> 2) + kept++] = row;
  }
  return kept;
}

function byConstant(value: string | number | boolean, targets: readonly CellTarget[], scope: Scope): Filling | null {
  const values: unknown[] = [];
  for (const { target } of targets) {
    const made = constantValue(value, target.type);
    if ('problem' in made) {
      scope.problem('/value', 'BAD_VALUE', made.problem);
      return null;
    }
    values.push(made.value);
  }
  return { kind: 'constant', values };
}

function byColumns(names: readonly string[], targets: readonly CellTarget[], scope: Scope): Filling | null {
  const named = names.flatMap((name, index) => scope.read(name, `/from/${index}`) ?? []);
  // A name that is listed again has nothing to add.
  const columns = [...new Map(named.map((column) => [column.id, column])).values()];
  for (const { target } of targets) {
    const other = columns.find(({ type }) => type !== target.type);
    if (other === undefined) continue;
    const [a, b] = [JSON.stringify(other.name), JSON.stringify(target.name)];
    scope.problem(
      '/from',
      'WRONG_TYPE',
      `The column ${a} is ${other.type}, but ${b} is ${target.type}. Cast one of them.`,
    );
    return null;
  }
  return { kind: 'columns', columns };
}

function byExpression(source: string, targets: readonly CellTarget[], scope: Scope): Filling | null {
  const expression = checkRowExpression(scope, source, '/expr');
  if (expression === null) return null;
  const type = columnOfType(expression.type);
  const other = targets.find(({ target }) => target.type !== type);
  if (other === undefined || expression.type.kind === 'null') return { kind: 'expression', expression };
  const name = JSON.stringify(other.target.name);
  scope.problem('/expr', 'WRONG_TYPE', `The expression gives ${type}, but the column ${name} is ${other.target.type}.`);
  return null;
}

function computationOf(
  { type, reader, constant }: { readonly type: ColumnType; readonly reader: CellReader; readonly constant: unknown },
  { others, expression }: SharedParts,
): CellComputation {
  return {
    type,
    ...(expression === null ? {} : { finish: (row) => expression.finish(() => expression.cell(row)) }),
    bind(batch) {
      reader.bind(batch);
      for (const other of others) other.bind(batch);
      expression?.bind(batch);
    },
    compute(row) {
      const value = reader.read(row);
      if (!isEmpty(value)) return value;
      if (expression !== null) return expression.cell(row);
      return others.length === 0 ? constant : firstValue(others, row);
    },
  };
}

function readerOf(column: Column, context: OperatorContext): CellReader {
  return new CellReader(column.type, context.indexOf(column));
}

function firstValue(readers: readonly CellReader[], row: number): unknown {
  for (const reader of readers) {
    const value = reader.read(row);
    if (!isEmpty(value)) return value;
  }
  return null;
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '';
}
