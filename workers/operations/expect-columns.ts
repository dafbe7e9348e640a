// The operation `expect_columns`: which columns there must be at this step, decided from the header alone.
import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { columnName } from '../execution/parameters/column-set.ts';
import type { Scope } from '../template/scope.ts';
import { defineOperation } from './operation.ts';

const parameters = Type.Object({
  columns: Type.Array(columnName, {
    minItems: 1,
    maxItems: 16_384,
    uniqueItems: true,
    description:
      'Columns that must be there. As the first operation these are the names of the file, or those of `input.columns`. A ' +
      'file that lacks one is refused (TEMPLATE_COLUMNS_MISSING) unless `if_missing` says otherwise.',
  }),
  order: Type.Optional(
    Type.Enum(['any', 'same'], {
      default: 'any',
      description: '`same`: they must stand in this order; others may stand between them unless `extra` is `fail`.',
    }),
  ),
  extra: Type.Optional(
    Type.Enum(['allow', 'fail'], { default: 'allow', description: '`fail`: there may be no other columns.' }),
  ),
});

export const expectColumns = defineOperation({
  name: 'expect_columns',
  summary:
    'Fails the Run (TEMPLATE_CHECK_FAILED) before its first row when the columns are not those that are expected. The rows ' +
    'pass unchanged.',
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

/** While a Template is checked its columns are mostly unknown: then nothing but the names is looked at. */
function checkColumns({ columns, order = 'any', extra = 'allow' }: Static<typeof parameters>, scope: Scope): null {
  const listed = columns.flatMap((name, index) => scope.read(name, `/columns/${index}`) ?? []);
  if (!scope.closed || listed.length < columns.length) return null;
  const present = scope.resolve('*', '/columns').filter((column) => scope.isPresent(column));
  const ids = new Set(listed.map(({ id }) => id));
  const places = present.flatMap(({ id }, index) => (ids.has(id) ? [] : [index + 1]));
  if (extra === 'fail' && places.length > 0) {
    const are = places.length === 1 ? 'column is there that is' : 'columns are there that are';
    const message = `${places.length} ${are} not expected: by place ${placeList(places)} of ${present.length}.`;
    scope.problem('/columns', 'UNEXPECTED_COLUMNS', message);
  }
  const swapped = order === 'same' ? firstSwapped(listed, present) : null;
  if (swapped !== null) {
    const [first, second] = swapped.map(({ name }) => JSON.stringify(name));
    const message = `The columns are not in the expected order: ${second} stands before ${first}.`;
    scope.problem('/columns', 'UNEXPECTED_COLUMNS', message);
  }
  return null;
}

/** The first two neighbours of the list that stand the other way round. */
function firstSwapped(listed: readonly Column[], present: readonly Column[]): [Column, Column] | null {
  const places = new Map(present.map(({ id }, index) => [id, index]));
  const there = listed.filter(({ id }) => places.has(id));
  const at = there.findIndex(({ id }, index) => index > 0 && places.get(id)! < places.get(there[index - 1]!.id)!);
  return at < 0 ? null : [there[at - 1]!, there[at]!];
}

/** Places that a message names at most. */
const PLACES_MAX = 10;

function placeList(places: readonly number[]): string {
  const shown = places.slice(0, PLACES_MAX).join(', ');
  return places.length > PLACES_MAX ? `${shown}, ...` : shown;
}
