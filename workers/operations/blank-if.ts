// The operation `blank_if`: clears cells that only look like values.
import type { ColumnType } from '../batch/schema.ts';
import { Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { wholeCellStep } from '../execution/cells/replace-steps.ts';
import { textEdit } from '../execution/cells/text-chain.ts';
import { convertEdit, valueEdit } from '../execution/cells/value-cells.ts';
import { COLUMN_TYPES, columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import { Decimal, decimalFromNumber, decimalText, trimZeros } from '../values/decimal.ts';

const TEXT_ONLY = ['text'] as const;
/** With numbers in `values`, columns of these types are compared by value. */
const NUMBER_TYPES = ['decimal', 'number', 'integer'] as const;

export const blankIf = defineOperation({
  name: 'blank_if',
  purpose: 'sets cells to null that are one of `values`, or whose rows match `where`',
  summary: 'Sets cells to null that contain one of the given texts, or whose rows match a condition.',
  knownAs: [
    {
      names: 'nullif null_if na_values replace_with_null to_null',
      form: "columns: ..., values: ['-', 'n/a']",
    },
  ],
  parameters: Type.Object(
    {
      columns: columnSet,
      values: Type.Optional(
        Type.Array(Type.Union([Type.String(), Type.Number()]), {
          minItems: 1,
          maxItems: 10_000,
          description:
            'Texts and numbers that mean "missing"; without them, all cells in the rows of `where` become null. Numbers, such as `[0, -999]`, are compared by value in columns of numbers, and as they are written in texts: 0 is not the text `0.00`.',
        }),
      ),
      case_sensitive: Type.Optional(Type.Boolean({ default: true, description: '`false` ignores case.' })),
      into: intoParameter,
    },
    { anyOf: [{ required: ['values'] }, { required: ['where'] }] },
  ),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Texts that exports write for missing values',
      operation: { op: 'blank_if', columns: '*', values: ['-', 'n/a'], case_sensitive: false },
      input: {
        columns: ['a', 'b'],
        rows: [
          ['-', 'N/A'],
          ['--', 'x'],
          [null, '-'],
        ],
      },
      output: {
        columns: ['a', 'b'],
        rows: [
          [null, null],
          ['--', 'x'],
          [null, null],
        ],
      },
    },
    {
      title: 'Numbers that mean missing',
      operation: { op: 'blank_if', columns: 'stock', values: [0, -999] },
      input: { columns: ['stock'], types: ['decimal'], rows: [['12.5'], ['0.00'], ['-999'], [null]] },
      output: { columns: ['stock'], rows: [['12.5'], [null], [null], [null]] },
    },
    {
      title: 'All cells of rows that match a condition',
      operation: { op: 'blank_if', columns: ['price', 'note'], where: 'status == "void"' },
      input: {
        columns: ['status', 'price', 'note'],
        rows: [
          ['void', '5', 'x'],
          ['paid', '6', 'y'],
        ],
      },
      output: {
        columns: ['status', 'price', 'note'],
        rows: [
          ['void', null, null],
          ['paid', '6', 'y'],
        ],
      },
    },
  ],
  effect({ columns, values = null, case_sensitive = true, into }, scope) {
    const numbers = values?.filter((value) => typeof value === 'number') ?? [];
    const takes =
      values === null ? COLUMN_TYPES : numbers.length > 0 ? (['text', ...NUMBER_TYPES] as const) : TEXT_ONLY;
    const targets = cellTargets(scope, { columns, into, takes, makes: null });
    return { targets, values, numbers, anyCase: !case_sensitive };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, values, numbers, anyCase }, context) {
    if (values === null) {
      const blank = (type: ColumnType) => valueEdit(context, { type, bind: () => undefined, compute: () => null });
      return startCellOperator(
        context,
        targets,
        targets.map(({ target }) => blank(target.type)),
      );
    }
    const pairs = values.map((value) => [String(value), ''] as const);
    const edit = textEdit(context, [wholeCellStep(context.arena.heap, pairs, anyCase)]);
    const missing = new Set(numbers.map((value) => numberKey(value)));
    const byValue = (value: unknown): unknown => (missing.has(numberKey(value as number)) ? null : value);
    return startCellOperator(
      context,
      targets,
      targets.map((target) => (target.target.type === 'text' ? edit : convertEdit(context, target, byValue))),
    );
  },
});

/** A text that is the same for equal numbers of all types. */
function numberKey(value: number | bigint | Decimal): string {
  if (value instanceof Decimal) return decimalText(trimZeros(value, 0));
  const exact = typeof value === 'bigint' ? new Decimal(value, 0) : decimalFromNumber(value);
  return exact === null ? String(value) : decimalText(trimZeros(exact, 0));
}
