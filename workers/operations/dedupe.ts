// The operation `dedupe`: keeps one row per key.
import type { Batch } from '../batch/batch.ts';
import { type Column, storedType, storedTypes } from '../batch/schema.ts';
import { Type } from '../bundled/type-box.ts';
import { type GroupReduction, SortAggregate } from '../execution/aggregate/sort-aggregate.ts';
import {
  HashDistinct,
  OrderedDistinct,
  SIMILAR_COMPARISONS_MAX,
  SimilarRows,
} from '../execution/keys/distinct-rows.ts';
import { LinkedRows } from '../execution/keys/linked-rows.ts';
import { LateDistinct, NumberedRows } from '../execution/keys/numbered-rows.ts';
import { type MatchLevel, matchParameter, RowKeys } from '../execution/keys/row-keys.ts';
import { columnName, columnSet } from '../template/base-parameters.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import { COMPARED_LENGTH_MAX } from '../values/similarity.ts';

export const dedupe = defineOperation({
  name: 'dedupe',
  purpose:
    'keeps one row for each key (`first`, `last` or `none`), or for each group of rows that share one of several keys (`any_of`), or drops rows with `similar` texts; keeps the order',
  summary:
    'Keeps one row for each key, or for each group of rows that share one of several keys, and drops the others. The order does not change.',
  knownAs: [
    {
      names: 'fuzzy_dedupe fuzzy_duplicates near_duplicates fuzzy_match',
      form: 'by: [...], similar: {column: ...}',
    },
    {
      names: 'drop_duplicates deduplicate distinct unique remove_duplicates uniq unique_rows distinct_rows dedup_rows',
      form: 'by: [...]',
    },
  ],
  parameters: Type.Object({
    by: Type.Optional(columnSet),
    any_of: Type.Optional(
      Type.Array(columnSet, {
        minItems: 1,
        maxItems: 10,
        description:
          'Instead of `by`: several keys, `[[email], [phone], [name, birthday]]`. Rows that share one of the keys belong to one group, also indirectly through other rows. A key with an empty cell or a cell of white space matches no other key.',
      }),
    ),
    similar: Type.Optional(
      Type.Object(
        {
          column: columnName,
          threshold: Type.Optional(
            Type.Number({
              minimum: 0.5,
              maximum: 1,
              default: 0.9,
              description: 'Minimum similarity of duplicates, from 0.5 to 1.',
            }),
          ),
        },
        {
          additionalProperties: false,
          description: `Drops a row if the text in \`column\` is similar to that of a row before it that was kept, and both rows are equal in the columns of \`by\` (without \`by\`, all rows are compared). The similarity is that of the function \`similarity\`, after \`match\` was applied. A row without a text is kept. Of longer texts, the first ${COMPARED_LENGTH_MAX} characters are compared. The texts of kept rows stay in memory. After ${SIMILAR_COMPARISONS_MAX / 1_000_000} million comparisons, the Run ends with RUN_RESOURCE_LIMIT: 14,000 different rows with the same \`by\` need that many. A pair with a text of more than 64 bytes counts as 16 comparisons for each 64 times 64 bytes.`,
        },
      ),
    ),
    keep: Type.Optional(
      Type.Enum(['first', 'last', 'none'], {
        default: 'first',
        description: 'Which of equal rows is kept; `none` keeps only rows without a duplicate.',
      }),
    ),
    match: matchParameter,
    count_into: Type.Optional(
      Type.String({ minLength: 1, description: 'A new column with the number of rows that have the key.' }),
    ),
    nulls: Type.Optional(
      Type.Enum(['equal', 'distinct'], {
        description:
          'For `by`. `equal` (the default): null is a key like any other; `distinct`: all rows with a null in their key are kept.',
      }),
    ),
  }),
  cells: false,
  memory: ({ any_of }) => (any_of === undefined ? 'K' : 'B'),
  emitsAtEnd: ({ keep = 'first', count_into }) => keep !== 'first' || count_into !== undefined,
  edits: () => [],
  inOrder: (parameters) => (isFirstOfKey(parameters) ? 'keys' : null),
  examples: [
    {
      title: 'One row for each customer, by address or telephone number',
      operation: { op: 'dedupe', any_of: [['email'], ['phone']], match: 'loose', count_into: 'rows' },
      input: {
        columns: ['no', 'email', 'phone'],
        rows: [
          ['1', 'ada@x.org', null],
          ['2', 'bob@x.org', '030 12'],
          ['3', ' ', null],
          ['4', 'ADA@x.org', '040/77'],
          ['5', null, '04077'],
          ['6', '', '-'],
        ],
      },
      output: {
        columns: ['no', 'email', 'phone', 'rows'],
        rows: [
          ['1', 'ada@x.org', null, '3'],
          ['2', 'bob@x.org', '030 12', '1'],
          ['3', ' ', null, '1'],
          ['6', '', '-', '1'],
        ],
      },
    },
    {
      title: 'Names with typing errors, in the same town',
      operation: { op: 'dedupe', by: 'town', similar: { column: 'name', threshold: 0.92 }, match: 'normal' },
      input: {
        columns: ['name', 'town'],
        rows: [
          ['Martha Jones', 'Bonn'],
          ['MARHTA  Jones', 'Bonn'],
          ['Martha Jones', 'Ulm'],
          ['Martin Johnson', 'Bonn'],
          [null, 'Bonn'],
          [null, 'Bonn'],
        ],
      },
      output: {
        columns: ['name', 'town'],
        rows: [
          ['Martha Jones', 'Bonn'],
          ['Martha Jones', 'Ulm'],
          ['Martin Johnson', 'Bonn'],
          [null, 'Bonn'],
          [null, 'Bonn'],
        ],
      },
    },
    {
      title: 'The last row of each key, with a count',
      operation: { op: 'dedupe', by: ['k'], keep: 'last', count_into: 'rows' },
      input: {
        columns: ['k', 'n'],
        rows: [
          ['a', '1'],
          ['b', '2'],
          ['a', '3'],
          [null, '4'],
        ],
      },
      output: {
        columns: ['k', 'n', 'rows'],
        rows: [
          ['b', '2', '1'],
          ['a', '3', '2'],
          [null, '4', '1'],
        ],
      },
    },
    {
      title: 'Only rows without duplicates',
      operation: { op: 'dedupe', by: ['k'], keep: 'none', match: 'case_insensitive' },
      input: {
        columns: ['k', 'n'],
        rows: [
          ['a', '1'],
          ['b', '2'],
          ['A', '3'],
        ],
      },
      output: { columns: ['k', 'n'], rows: [['b', '2']] },
    },
    {
      title: 'One row for each address',
      operation: { op: 'dedupe', by: 'email', match: 'case_insensitive' },
      input: {
        columns: ['id', 'email'],
        rows: [
          ['1', 'a@x.org'],
          ['2', 'A@X.org'],
          ['3', null],
          ['4', 'b@x.org'],
          ['5', null],
        ],
      },
      output: {
        columns: ['id', 'email'],
        rows: [
          ['1', 'a@x.org'],
          ['3', null],
          ['4', 'b@x.org'],
        ],
      },
    },
    {
      title: 'Whole rows',
      operation: { op: 'dedupe' },
      input: {
        columns: ['a', 'b'],
        rows: [
          ['1', 'x'],
          ['1', 'y'],
          ['1', 'x'],
          [null, '1'],
          ['1', null],
        ],
      },
      output: {
        columns: ['a', 'b'],
        rows: [
          ['1', 'x'],
          ['1', 'y'],
          [null, '1'],
          ['1', null],
        ],
      },
    },
    {
      title: 'Rows without a key are kept',
      operation: { op: 'dedupe', by: ['k'], nulls: 'distinct' },
      input: {
        columns: ['k', 'n'],
        rows: [
          [null, '1'],
          ['a', '2'],
          [null, '3'],
          ['a', '4'],
        ],
      },
      output: {
        columns: ['k', 'n'],
        rows: [
          [null, '1'],
          ['a', '2'],
          [null, '3'],
        ],
      },
    },
  ],
  effect({ by, any_of, similar, keep = 'first', match = 'exact', nulls, count_into }, scope): Plan {
    const isWhole = by === undefined && similar === undefined;
    const columns = any_of !== undefined || (by === undefined && !isWhole) ? [] : scope.resolve(by ?? '*', '/by');
    if (similar !== undefined) checkSimilar({ any_of, keep, count_into }, scope);
    const links = any_of?.map((set, index) => scope.resolve(set, `/any_of/${index}`)) ?? null;
    if (links !== null) checkLinks(by, nulls, scope);
    if (count_into !== undefined) scope.add(count_into, 'integer', '/count_into');
    const counts = count_into !== undefined;
    return { columns, keep, match, nullsDistinct: nulls === 'distinct', counts, links, ...similarOf(similar, scope) };
  },
  start(plan, context) {
    // Without the column, because the file lacks it, no rows are similar.
    if (plan.similar === null) return { push: context.next };
    if (plan.similar !== undefined) {
      const { similar, threshold, match, nullsDistinct } = plan;
      const keys = plan.columns.map((column) => context.indexOf(column));
      return new SimilarRows(context, { text: context.indexOf(similar), keys, match, nullsDistinct, threshold });
    }
    if (plan.links !== null) {
      const { keep, match, counts } = plan;
      // A key without columns, because the file lacks them, matches nothing.
      const sets = plan.links.filter((set) => set.length > 0);
      const keys = sets.map((set) => set.map((column) => context.indexOf(column)));
      return new LinkedRows(context, { keys, match, keep, counts });
    }
    const indexes = plan.columns.map((column) => context.indexOf(column));
    if (plan.keep === 'first' && !plan.counts) {
      if (indexes.length === 0) return { push: context.next };
      const keys = new RowKeys(context, indexes, plan.match, plan.nullsDistinct);
      const { inOrder } = context;
      if (inOrder) return new OrderedDistinct(context, keys, inOrder);
      return new HashDistinct(context, keys);
    }
    if (plan.keep === 'first' || plan.counts || indexes.length === 0) return sortedRows(plan, indexes, context);
    const { match, nullsDistinct, keep } = plan;
    return new NumberedRows(context, {
      types: storedTypes(context.input),
      key: indexes,
      keys: new RowKeys(context, [...indexes.keys()], match, nullsDistinct),
      isExact: match === 'exact' && !nullsDistinct,
      facts: new LateDistinct(context, keep),
      other: () => sortedRows(plan, indexes, context),
    });
  },
});

interface Plan {
  readonly columns: readonly Column[];
  readonly keep: 'first' | 'last' | 'none';
  readonly match: MatchLevel;
  readonly nullsDistinct: boolean;
  readonly counts: boolean;
  /** The keys of `any_of`. */
  readonly links: readonly (readonly Column[])[] | null;
  /** The column of similar texts; undefined without `similar`, null without the column. */
  readonly similar: Column | null | undefined;
  /** Minimum similarity. */
  readonly threshold: number;
}

/** True if the first row of each key is kept, and nothing else has to be known of the other rows. */
function isFirstOfKey(
  given: Readonly<Partial<Record<'any_of' | 'similar' | 'keep' | 'count_into', unknown>>>,
): boolean {
  const { any_of, similar, keep = 'first', count_into } = given;
  return keep === 'first' && [any_of, similar, count_into].every((parameter) => parameter === undefined);
}

/** Finds the rows by sorting, for any choice of the row to keep. */
function sortedRows(plan: Plan, indexes: readonly number[], context: OperatorContext): Operator {
  const groups = new SortAggregate(context, reductionOf(plan, indexes, context));
  return {
    push: (batch: Batch) => groups.add(batch),
    finish: () => groups.finish(context.next),
  };
}

function checkSimilar(given: Readonly<Record<'any_of' | 'keep' | 'count_into', unknown>>, scope: Scope): void {
  for (const name of ['any_of', 'keep', 'count_into'] as const) {
    if (given[name] === undefined || given[name] === 'first') continue;
    const message = `With "similar", the first of similar rows is kept, and they are not counted: leave "${name}" out.`;
    scope.problem(`/${name}`, 'BAD_VALUE', message);
  }
}

function similarOf(
  given: { readonly column: string; readonly threshold?: number } | undefined,
  scope: Scope,
): Pick<Plan, 'similar' | 'threshold'> {
  const none = { similar: null, threshold: 1 };
  if (given === undefined) return { ...none, similar: undefined };
  const column = scope.read(given.column, '/similar/column');
  if (column === null) return none;
  if (column.type !== 'text') {
    const message = `The column is ${column.type} at this step; similar compares texts.`;
    scope.problem('/similar/column', 'WRONG_TYPE', message);
    return none;
  }
  return { similar: column, threshold: given.threshold ?? 0.9 };
}

function checkLinks(by: unknown, nulls: unknown, scope: Scope): void {
  if (by !== undefined) scope.problem('/by', 'BAD_VALUE', 'Write either "by" or "any_of".');
  if (nulls !== undefined)
    scope.problem('/nulls', 'BAD_VALUE', 'With "any_of" a key with an empty cell never matches: leave "nulls" out.');
}

/** Returns all columns of the kept row, with its key columns first. The count goes where the output has its column. */
function reductionOf(plan: Plan, indexes: readonly number[], { input, output }: OperatorContext): GroupReduction {
  let count = 0;
  let kept: readonly unknown[] = [];
  const reads = [...new Set([...indexes, ...input.keys()])];
  const places = new Map(reads.map((index, place) => [input[index]!.id, place]));
  const order = output.map(({ id }) => places.get(id) ?? -1);
  return {
    reads,
    readTypes: reads.map((index) => storedType(input[index]!)),
    groups: indexes.length,
    makes: storedTypes(output),
    match: plan.match,
    nullsDistinct: plan.nullsDistinct,
    place: plan.keep === 'last' ? 'last' : 'first',
    showsGroups: false,
    begin() {
      count = 0;
    },
    add(values) {
      if (count++ === 0 || plan.keep === 'last') kept = values;
    },
    end() {
      if (plan.keep === 'none' && count > 1) return null;
      return order.map((index) => (index < 0 ? count : kept[index]));
    },
  };
}
