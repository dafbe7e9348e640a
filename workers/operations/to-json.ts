// The operation `to_json`: combines several columns into one JSON object.
import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { startCellOperator } from '../execution/cells/cell-operator.ts';
import { jsonObjectEdit } from '../execution/cells/json.ts';
import type { Sliced } from '../scheduling/time-slices.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation, type Operator } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';

const parameters = Type.Object({
  columns: columnSet,
  into: Type.String({ minLength: 1, description: 'The new column.' }),
  nulls: Type.Optional(
    Type.Enum(['include', 'omit'], { default: 'include', description: '`omit` skips columns without a value.' }),
  ),
});

interface Plan {
  readonly columns: readonly Column[];
  readonly target: Column;
  readonly omitsNulls: boolean;
}

export const toJson = defineOperation({
  name: 'to_json',
  purpose: 'combines columns into a JSON object',
  summary:
    'Combines columns into a JSON object in a new column, with their names as keys. Numbers keep their digits, dates become texts, and JSON remains JSON. The source columns are kept.',
  knownAs: [{ names: 'json_encode json_stringify stringify tojson nest_json as_json', form: null }],
  parameters,
  cells: true,
  memory: 'R',
  // The result depends on several cells, so there is no current cell.
  editedColumns: () => null,
  examples: [
    {
      title: 'One object for each row',
      operation: { op: 'to_json', columns: ['id', 'amount', 'day', 'paid'], into: 'data', nulls: 'omit' },
      input: {
        columns: ['id', 'amount', 'day', 'paid'],
        types: ['text', 'decimal', 'date', 'boolean'],
        rows: [
          ['007 "x"', '1.50', '2026-01-31', 'true'],
          [null, null, null, 'false'],
        ],
      },
      output: {
        columns: ['id', 'amount', 'day', 'paid', 'data'],
        rows: [
          [
            '007 "x"',
            '1.50',
            '2026-01-31',
            'true',
            '{"id":"007 \\"x\\"","amount":1.50,"day":"2026-01-31","paid":true}',
          ],
          [null, null, null, 'false', '{"paid":false}'],
        ],
      },
    },
  ],
  effect: plan,
  edits: () => [],
  *start({ columns, target, omitsNulls }, context): Sliced<Operator> {
    const edit = yield* jsonObjectEdit(context, columns, omitsNulls);
    return startCellOperator(context, [{ source: null, target }], [edit]);
  },
});

function plan({ columns, into, nulls }: Static<typeof parameters>, scope: Scope): Plan {
  const sources = scope.resolve(columns, '/columns');
  return { columns: sources, target: scope.add(into, 'json', '/into'), omitsNulls: nulls === 'omit' };
}
