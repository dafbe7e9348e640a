// The operation `complete`: adds rows for the missing steps of a series, such as days without sales.
import type { Batch } from '../batch/batch.ts';
import { NativeText } from '../batch/native-cell.ts';
import { type Column, storedType, storedTypes } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { groupOrder } from '../execution/aggregate/group-order.ts';
import { type Constant, constantValue } from '../execution/cells/constant-value.ts';
import { type ValueRow, valueBatch } from '../execution/cells/value-cells.ts';
import {
  MissingSteps,
  positionOf,
  type SeriesStep,
  STEP_UNITS,
  unitsOf,
  valueAt,
} from '../execution/ordered/series-steps.ts';
import { RowSorter } from '../execution/sort/row-sorter.ts';
import { SortKeys, type SortTerm, withoutKey } from '../execution/sort/sort-keys.ts';
import { SortedGroups } from '../execution/sort/top-of-groups.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import { ADDED_ROWS_FROM } from '../protocol/report.ts';
import { checkMask, PAUSE, type Slices, type Steps } from '../scheduling/time-slices.ts';
import { columnName, columnSet } from '../template/base-parameters.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import { anyKey } from '../template/section-schemas.ts';

/** Maximum number of rows added to a group. A single wrong date could otherwise add a million. */
const ADDED_MAX = 100_000;

/** Number of added rows that are written at once, and maximum number of their cells. */
const ADDED_ROWS = 512;
const ADDED_CELLS_MAX = 65_536;

/** Maximum number of characters of their group cells, which may have 4 MiB each. */
const ADDED_LENGTH_MAX = 262_144;

const constant = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);
const end = Type.Union([Type.String({ minLength: 1 }), Type.Integer()]);

const parameters = Type.Object({
  column: columnName,
  group_by: Type.Optional(columnSet),
  step: Type.Optional(
    Type.Enum([...STEP_UNITS], {
      description:
        'Unit of the steps. Dates: `day` (default), `week`, `month`, `quarter`, `year`; datetimes: `minute`, `hour`; integers have none.',
    }),
  ),
  every: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      default: 1,
      description: 'Number of units between two steps, such as 15 for every 15 minutes.',
    }),
  ),
  range: Type.Optional(
    Type.Union(
      [
        Type.Enum(['group', 'all']),
        Type.Object({ from: Type.Optional(end), to: Type.Optional(end) }, { additionalProperties: false }),
      ],
      {
        description:
          'First and last step of each group: those of its own rows (`group`, the default), those of all rows (`all`), or the values `from` and `to`. Rows outside the range remain. Steps are counted from the first one. With steps of months, quarters or years, a row belongs to the month, quarter or year of its date; with `every`, a step is a period of several months, quarters or years. A table without rows remains empty. Added dates have the same day of the month as the rows, or the last day of the month if all rows have it.',
      },
    ),
  ),
  fill: Type.Optional(
    Type.Record(anyKey, constant, {
      description: 'Values of added rows as `{column: value}`. Other columns are null.',
    }),
  ),
});

type Range = { readonly from: bigint | null; readonly to: bigint | null } | 'all';

interface Plan {
  readonly column: Column;
  readonly groups: readonly Column[];
  readonly step: SeriesStep;
  readonly range: Range;
  /** Cells of added rows, by the id of their column. */
  readonly fill: ReadonlyMap<number, unknown>;
}

export const complete = defineOperation({
  name: 'complete',
  purpose: 'adds rows for the missing steps of a series, such as days without sales, for each group',
  summary:
    'Adds a row for each missing step of a series, such as days without sales, for each group. The output is sorted by the group columns and the series; rows without a value in the series are last in their group. Added rows have no source row: `run.row` is null.',
  knownAs: [
    {
      names: 'fill_gaps fill_dates date_range resample reindex asfreq pad_dates expand densify seqgen',
      form: 'column: day, step: day',
    },
  ],
  parameters,
  cells: false,
  memory: 'B',
  examples: [
    {
      title: 'Days without sales',
      operation: { op: 'complete', column: 'day', group_by: ['shop'], range: 'all', fill: { sold: 0 } },
      input: {
        columns: ['shop', 'day', 'sold', 'note'],
        types: ['text', 'date', 'integer', 'text'],
        rows: [
          ['b', '2026-01-30', '3', 'x'],
          ['a', '2026-02-01', '4', null],
          ['b', '2026-01-30', '5', null],
        ],
      },
      output: {
        columns: ['shop', 'day', 'sold', 'note'],
        rows: [
          ['a', '2026-01-30', '0', null],
          ['a', '2026-01-31', '0', null],
          ['a', '2026-02-01', '4', null],
          ['b', '2026-01-30', '3', 'x'],
          ['b', '2026-01-30', '5', null],
          ['b', '2026-01-31', '0', null],
          ['b', '2026-02-01', '0', null],
        ],
      },
    },
    {
      title: 'The end of each month of a year so far',
      operation: { op: 'complete', column: 'month', step: 'month', range: { from: '2026-01-31', to: '2026-04-30' } },
      input: {
        columns: ['month', 'stock'],
        types: ['date', 'text'],
        rows: [
          ['2026-03-31', '7'],
          [null, '8'],
        ],
      },
      output: {
        columns: ['month', 'stock'],
        rows: [
          ['2026-01-31', null],
          ['2026-02-28', null],
          ['2026-03-31', '7'],
          ['2026-04-30', null],
          [null, '8'],
        ],
      },
    },
    {
      title: 'Readings of every 15 minutes, and numbers',
      operation: { op: 'complete', column: 'at', step: 'minute', every: 15 },
      input: {
        columns: ['at', 'kwh'],
        types: ['datetime', 'text'],
        rows: [
          ['2026-01-01T00:30:00Z', '2'],
          ['2026-01-01T00:00:00Z', '1'],
        ],
      },
      output: {
        columns: ['at', 'kwh'],
        rows: [
          ['2026-01-01T00:00:00Z', '1'],
          ['2026-01-01T00:15:00Z', null],
          ['2026-01-01T00:30:00Z', '2'],
        ],
      },
    },
  ],
  effect: plan,
  start: (planned, context) => (planned === null ? { push: context.next } : new CompletedSeries(planned, context)),
});

/** Returns null if the file lacks the column and `if_missing` is skip. */
function plan(given: Static<typeof parameters>, scope: Scope): Plan | null {
  const column = scope.read(given.column, '/column');
  const resolved = given.group_by === undefined ? [] : scope.resolve(given.group_by, '/group_by');
  if (column === null) return null;
  // A set such as "*" means the other columns.
  const groups = resolved.filter(({ id }) => id !== column.id);
  if (namesOf(given.group_by).includes(given.column)) {
    scope.problem('/group_by', 'BAD_VALUE', `"${given.column}" is the series, so it cannot be a column of the groups.`);
  }
  const units = unitsOf(column.type);
  const unit = given.step ?? (column.type === 'date' ? 'day' : null);
  if (units === null) {
    const message = `A series is of dates, datetimes or integers, and the column is ${column.type} at this step. Parse it before.`;
    scope.problem('/column', 'WRONG_TYPE', message);
    return null;
  }
  if (unit === null ? units.length > 0 : !units.includes(unit)) {
    const advice = units.length === 0 ? 'Remove "step"; only "every" applies.' : `Write ${units.join(', ')}.`;
    scope.problem('/step', 'BAD_VALUE', `This step does not fit a column of type ${column.type}. ${advice}`);
    return null;
  }
  const range = planRange(given.range, column, scope);
  const taken = new Set([column, ...groups].map(({ id }) => id));
  const fill = new Map<number, unknown>();
  for (const [name, value] of Object.entries(given.fill ?? {})) planFill({ name, value, taken }, fill, scope);
  return { column, groups, step: { unit, every: given.every ?? 1 }, range, fill };
}

function planRange(given: Static<typeof parameters>['range'], column: Column, scope: Scope): Range {
  if (given === 'all') return 'all';
  const position = (value: string | number | undefined, pointer: string): bigint | null => {
    if (value === undefined) return null;
    const made = constantValue(value, column.type);
    if ('value' in made) return positionOf(made.value);
    scope.problem(pointer, 'BAD_VALUE', made.problem);
    return null;
  };
  const { from, to } = given === undefined || given === 'group' ? {} : given;
  const range = { from: position(from, '/range/from'), to: position(to, '/range/to') };
  if (range.from !== null && range.to !== null && range.from > range.to) {
    scope.problem('/range/to', 'BAD_VALUE', '"to" is before "from".');
  }
  return range;
}

/** The names that a set of columns lists. */
function namesOf(set: Static<typeof parameters>['group_by']): readonly unknown[] {
  return Array.isArray(set) ? set : [set];
}

function planFill(
  { name, value, taken }: { readonly name: string; readonly value: Constant; readonly taken: ReadonlySet<number> },
  fill: Map<number, unknown>,
  scope: Scope,
): void {
  const place = `/fill/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`;
  const column = scope.read(name, place);
  if (column === null) return;
  const made = constantValue(value, column.type);
  if ('problem' in made) scope.problem(place, 'BAD_VALUE', made.problem);
  else if (taken.has(column.id)) {
    scope.problem(place, 'BAD_VALUE', 'Added rows have their own value in the series and in group columns.');
  } else fill.set(column.id, made.value);
}

// Sorts all rows, and in a second, smaller sorter only the group columns and the series. The second one shows which
// steps are missing; rows for them are added to the first one before its rows are emitted.

class CompletedSeries implements Operator {
  readonly rowsMost = Number.POSITIVE_INFINITY;
  readonly #context: OperatorContext;
  readonly #plan: Plan;
  /** Indexes of the group columns and the series. */
  readonly #columns: readonly number[];
  readonly #all: RowSorter;
  readonly #series: RowSorter;
  readonly #reader: CellReader;
  #first: bigint | null = null;
  #last: bigint | null = null;
  #nextSource = ADDED_ROWS_FROM;

  constructor(planned: Plan, context: OperatorContext) {
    const { column, groups } = planned;
    this.#context = context;
    this.#plan = planned;
    this.#columns = [...groups, column].map((one) => context.indexOf(one));
    const order = { descending: false, nullsFirst: false, compare: 'typed' } as const;
    const terms = [...groups, column].map(({ type }, at): SortTerm => ({ ...order, type, index: this.#columns[at]! }));
    const series: SortTerm = { ...order, type: column.type, index: groups.length };
    this.#all = new RowSorter(context, storedTypes(context.input), new SortKeys(context, terms));
    this.#series = new RowSorter(
      context,
      storedTypes([...groups, column]),
      groupOrder(
        context,
        groups.map((_, at) => at),
        [series],
      ),
    );
    this.#reader = new CellReader(column.type, this.#columns.at(-1)!);
  }

  *push(batch: Batch): Slices {
    const { clock } = this.#context;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    this.#reader.bind(batch);
    const mask = checkMask(batch.live);
    for (let at = 0; at < batch.live; at++) {
      const row = batch.physicalRow(at);
      this.#nextSource = Math.max(this.#nextSource, batch.sourceRow(row) + 1);
      if (this.#plan.range === 'all') this.#see(this.#reader.read(row));
      if ((at & mask) === mask && clock.isDue()) yield PAUSE;
    }
    const series = batch.withColumns(this.#columns.map((index) => batch.columns[index]!));
    yield* this.#series.editLong(series);
    this.#series.add(series);
    yield* this.#all.editLong(batch);
    this.#all.add(batch);
  }

  *finish(): Steps {
    yield* this.#addMissing();
    yield* this.#all.finish((batch) => this.#context.next(withoutKey(batch)));
  }

  #see(value: unknown): void {
    if (value === null) return;
    const position = positionOf(value);
    if (this.#first === null || position < this.#first) this.#first = position;
    if (this.#last === null || position > this.#last) this.#last = position;
  }

  *#addMissing(): Steps {
    const { column, groups, step, range } = this.#plan;
    const { from, to } = range === 'all' ? { from: this.#first, to: this.#last } : range;
    const missing = new MissingSteps(step, from, to);
    const marks = new SortedGroups(this.#context, groups.length);
    const readers = [...groups, column].map((one, at) => new CellReader(storedType(one), at + 1));
    const added = new AddedRows(this.#context, this.#plan, (batch) => this.#all.add(batch));
    added.nextSource = this.#nextSource;
    let group: readonly unknown[] | null = null;
    const self = this;
    yield* this.#series.finish(function* (batch) {
      const { starts } = marks.mark(batch);
      for (const reader of readers) reader.bind(batch);
      for (let at = 0; at < batch.live; at++) {
        const row = batch.physicalRow(at);
        if (starts[at] === 1) {
          if (group !== null) yield* added.addAll(group, missing.rest());
          group = readers.slice(0, -1).map((reader) => reader.read(row));
          missing.begin();
          added.begin();
        }
        const value = readers.at(-1)!.read(row);
        if (value !== null) yield* added.addAll(group!, missing.before(positionOf(value)));
        if (self.#context.clock.isDue()) yield PAUSE;
      }
    });
    if (group !== null) yield* added.addAll(group, missing.rest());
    added.end();
  }
}

/** Writes added rows in batches. */
class AddedRows {
  nextSource = ADDED_ROWS_FROM;
  readonly #context: OperatorContext;
  readonly #plan: Plan;
  readonly #put: (batch: Batch) => void;
  readonly #rowsMax: number;
  /** For each column of a row, its place in the group, or -1. */
  readonly #places: readonly number[];
  #pending: ValueRow[] = [];
  #pendingLength = 0;
  #inGroup = 0;
  /** True if a group lacks too many steps: the Run ends, and nothing more is added. */
  #isOver = false;

  constructor(context: OperatorContext, planned: Plan, put: (batch: Batch) => void) {
    this.#context = context;
    this.#plan = planned;
    this.#put = put;
    this.#rowsMax = Math.max(1, Math.min(ADDED_ROWS, Math.floor(ADDED_CELLS_MAX / context.input.length)));
    const groups = new Map(planned.groups.map((column, at) => [context.indexOf(column), at]));
    this.#places = context.input.map((_, index) => groups.get(index) ?? -1);
  }

  begin(): void {
    this.#inGroup = 0;
  }

  *addAll(group: readonly unknown[], positions: Iterable<bigint>): Slices {
    const { column, fill } = this.#plan;
    const { input, indexOf, clock, errors } = this.#context;
    const series = indexOf(column);
    const length = group.reduce<number>((sum, cell) => sum + lengthOf(cell), 0);
    if (this.#isOver) return;
    for (const position of positions) {
      if (this.#inGroup++ === ADDED_MAX) {
        this.#isOver = true;
        errors.failCheck(
          `a group has more than ${ADDED_MAX} missing steps. Filter wrong values before, or choose a larger step.`,
        );
        return;
      }
      const cells = input.map(({ id }, index): unknown => {
        if (index === series) return valueAt(position, column.type);
        const place = this.#places[index]!;
        return place >= 0 ? group[place] : (fill.get(id) ?? null);
      });
      this.#pending.push({ cells, source: this.nextSource++ });
      this.#pendingLength += length;
      if (this.#pending.length === this.#rowsMax || this.#pendingLength > ADDED_LENGTH_MAX) this.end();
      if (clock.isDue()) yield PAUSE;
    }
  }

  end(): void {
    if (this.#pending.length === 0) return;
    const { arena, input } = this.#context;
    const mark = arena.next;
    this.#put(valueBatch(this.#context, this.#pending, storedTypes(input)));
    arena.release(mark);
    this.#pending = [];
    this.#pendingLength = 0;
  }
}

function lengthOf(cell: unknown): number {
  if (cell instanceof NativeText) return cell.text.length;
  return typeof cell === 'string' ? cell.length : 0;
}
