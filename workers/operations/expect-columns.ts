// The operation `expect_columns`: checks which columns exist at this step, from the header alone.
import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { columnName } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';

const parameters = Type.Object({
  columns: Type.Array(columnName, {
    minItems: 1,
    maxItems: 16_384,
    uniqueItems: true,
    description:
      'Required columns. If this is the first operation, these are the names in the file, or those of `input.columns`. A file that lacks one is refused (TEMPLATE_COLUMNS_MISSING), unless `if_missing` is set.',
  }),
  order: Type.Optional(
    Type.Enum(['any', 'same'], {
      default: 'any',
      description:
        '`same`: the columns must be in this order. Other columns may be between them, unless `extra` is `fail`.',
    }),
  ),
  extra: Type.Optional(
    Type.Enum(['allow', 'fail'], { default: 'allow', description: '`fail`: other columns are not allowed.' }),
  ),
});

export const expectColumns = defineOperation({
  name: 'expect_columns',
  purpose: 'ends the Run before its first row if the columns are not as expected',
  summary:
    'Fails the Run (TEMPLATE_CHECK_FAILED) before its first row if the columns are not as expected. The rows remain unchanged.',
  knownAs: [{ names: 'require_columns check_columns expect_schema schema', form: 'columns: [...]' }],
  parameters,
  cells: false,
  memory: 'R',
  examples: [
    {
      title: 'Exactly these columns, in this order',
      operation: { op: 'expect_columns', columns: ['id', 'amount'], order: 'same', extra: 'fail' },
      input: { columns: ['id', 'amount'], rows: [['1', '2.50']] },
      output: { columns: ['id', 'amount'], rows: [['1', '2.50']] },
    },
  ],
  effect: checkColumns,
  edits: () => [],
  start: (_plan, { next }) => ({ push: next }),
});

/** While a Template is checked, most columns are unknown, so only the names are checked. */
function checkColumns({ columns, order = 'any', extra = 'allow' }: Static<typeof parameters>, scope: Scope): null {
  const listed = columns.flatMap((name, index) => scope.read(name, `/columns/${index}`) ?? []);
  if (!scope.closed || listed.length < columns.length) return null;
  const present = scope.resolve('*', '/columns').filter((column) => scope.isPresent(column));
  const ids = new Set(listed.map(({ id }) => id));
  const places = present.flatMap(({ id }, index) => (ids.has(id) ? [] : [index + 1]));
  if (extra === 'fail' && places.length > 0) {
    const are = places.length === 1 ? 'column is' : 'columns are';
    const message = `${places.length} ${are} not expected: at position ${placeList(places)} of ${present.length}.`;
    scope.problem('/columns', 'UNEXPECTED_COLUMNS', message);
  }
  const swapped = order === 'same' ? firstSwapped(listed, present) : null;
  if (swapped !== null) {
    const [first, second] = swapped.map(({ name }) => JSON.stringify(name));
    const message = `The columns are not in the expected order: ${second} is before ${first}.`;
    scope.problem('/columns', 'UNEXPECTED_COLUMNS', message);
  }
  return null;
}

/** Returns the first two neighbours in the list that are in reverse order in the file. */
function firstSwapped(listed: readonly Column[], present: readonly Column[]): [Column, Column] | null {
  const places = new Map(present.map(({ id }, index) => [id, index]));
  const there = listed.filter(({ id }) => places.has(id));
  const at = there.findIndex(({ id }, index) => index > 0 && places.get(id)! < places.get(there[index - 1]!.id)!);
  return at < 0 ? null : [there[at - 1]!, there[at]!];
}

/** Maximum number of positions in a message. */
const PLACES_MAX = 10;

function placeList(places: readonly number[]): string {
  const shown = places.slice(0, PLACES_MAX).join(', ');
  return places.length > PLACES_MAX ? `${shown}, ...` : shown;
}
