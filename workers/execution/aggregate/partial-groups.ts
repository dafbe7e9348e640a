// Groups of a Run that several threads process. Each thread groups the rows of its parts of the file, and writes its
// groups with their partial metrics to files, in the order in which the groups were first seen. One thread then merges
// the groups in the order of the whole file, so that the result is the same as that of one thread.
import type { Batch } from '../../batch/batch.ts';
import { type Column, type ColumnType, type StoredType, storedTypes } from '../../batch/schema.ts';
import { SpillFile, SpillFolder } from '../../memory/spill-file.ts';
import { Failed } from '../../protocol/failure.ts';
import type { Slices, Steps } from '../../scheduling/time-slices.ts';
import type {
  MergedGroups,
  Next,
  Operator,
  OperatorContext,
  PartGroups,
  RowsOfGroups,
} from '../../template/operation.ts';
import { PART_ORDERS } from '../keys/row-streams.ts';
import { byOrder, mergeFiles } from '../spill/ordered-merge.ts';
import { type MetricName, movesCell } from './accumulators.ts';
import { HashAggregate } from './hash-aggregate.ts';
import type { GroupMetric } from './metric-state.ts';

// Files through which the threads pass on their groups.

/** Receives the groups that one thread finds in its parts. */
export class PartGroupFiles implements PartGroups {
  readonly kind = 'collect';
  readonly #folder: SpillFolder;
  /** Number of the current part. */
  part = 0;
  /** True if the steps of the thread end with groups instead of an output. */
  isUsed = false;
  /** Called when the first part certainly has few groups. */
  foundFew = (): void => undefined;

  /** @param folder for the files of all threads */
  constructor(folder: string, firstPart: number) {
    this.#folder = new SpillFolder(folder, `${firstPart}-`);
  }

  /** Names of all files. */
  get names(): readonly string[] {
    return this.#folder.names;
  }

  create(): SpillFile {
    return new SpillFile(this.#folder);
  }

  *add(rows: RowsOfGroups, batch: Batch): Slices {
    yield* rows.add(batch, this.part * PART_ORDERS);
    const { rowCount, groupCount } = rows;
    if (this.part === 0 && rowCount >= ROWS_MIN && groupCount <= rowCount * FEW_GROUPS_OF_ROWS) this.foundFew();
  }

  close(): void {
    this.#folder.closeFiles();
  }
}

/** The groups of all threads. */
export class MergedGroupFiles implements MergedGroups {
  readonly kind = 'merge';
  readonly #folder: SpillFolder;
  readonly #names: readonly string[];
  readonly #rowsBefore: readonly number[];

  /** @param rowsBefore for each part, see `rowsBefore` */
  constructor(folder: string, names: readonly string[], rowsBefore: readonly number[]) {
    this.#folder = new SpillFolder(folder);
    this.#names = names;
    this.#rowsBefore = rowsBefore;
  }

  open(): readonly SpillFile[] {
    return this.#names.map((name) => new SpillFile(this.#folder, name));
  }

  rowsBefore(order: number): number {
    return this.#rowsBefore[Math.floor(order / PART_ORDERS)]!;
  }

  close(): void {
    this.#folder.closeFiles();
  }
}

// Metrics that can be computed from the metrics of parts. Other metrics need all values of a group in source order.

/** Properties of a metric that decide whether and how it is merged. */
interface SharedMetric {
  readonly fn: MetricName;
  readonly type: ColumnType;
  readonly source: Column | null;
}

const EXACT = new Set<ColumnType | undefined>(['integer', 'decimal']);

/**
 * Types that `min` and `max` can merge. Equal integers or dates have the same text, so any of them can be the result. For
 * decimals, see GroupMetric.refusesTies.
 */
const COMPARED = new Set<ColumnType | undefined>(['integer', 'decimal', 'date']);

const MERGEABLE = new Set<MetricName>(['count', 'count_values', 'any', 'all', 'sum', 'mean', 'min', 'max']);

/** False if the metric cannot be merged, whatever the type of its column. */
export function mayMerge({ fn }: Pick<SharedMetric, 'fn'>): boolean {
  return MERGEABLE.has(fn);
}

/** True if the metric of all rows can be computed from the metrics of parts of the rows. */
export function canMerge({ fn, source }: SharedMetric): boolean {
  if (fn === 'sum' || fn === 'mean') return EXACT.has(source?.type);
  if (fn === 'min' || fn === 'max') return COMPARED.has(source?.type) && !movesCell(fn, source);
  return mayMerge({ fn });
}

/** The metrics that each thread computes, from which `mergingMetrics` computes the given ones. */
export function partialMetrics<Metric extends SharedMetric>(metrics: readonly Metric[]): Metric[] {
  return metrics.flatMap((metric): Metric[] => {
    if (metric.fn !== 'sum' && metric.fn !== 'mean') return [metric];
    // The sum of a part may have more digits than an integer can have.
    const sum = { ...metric, fn: 'sum' as const, type: 'decimal' as const };
    // A mean needs a sum and a count.
    return metric.fn === 'sum' ? [sum] : [sum, { ...metric, fn: 'count_values' as const, type: 'integer' as const }];
  });
}

/** @param groups number of group columns, which precede the partial metrics */
function mergingMetrics(metrics: readonly SharedMetric[], groups: number): GroupMetric[] {
  let next = groups;
  const rest = { condition: -1, separator: '', percent: 0 };
  return metrics.map(({ fn, type }): GroupMetric => {
    const place = next++;
    if (fn === 'mean')
      return { ...rest, fn, type: 'decimal', reads: 'decimal', makes: type, place, countsPlace: next++ };
    if (fn === 'sum') return { ...rest, fn, type: 'decimal', reads: 'decimal', makes: type, place };
    if (fn === 'count' || fn === 'count_values')
      return { ...rest, fn: 'sum', type: 'integer', reads: 'integer', makes: type, place };
    return { ...rest, fn, type, reads: type, makes: type, place, refusesTies: type === 'decimal' };
  });
}

// Groups of parts, and of the whole file.

/** Maximum ratio of groups to rows in the first part. With more groups, merging takes longer than the threads save. */
const GROUPS_OF_ROWS_MAX = 7 / 8;

/**
 * With at most this ratio in the beginning of the first part, other threads take part at once. Otherwise, they wait for
 * the end of the part: a Run that stopped its threads again took 9 % longer.
 */
const FEW_GROUPS_OF_ROWS = 3 / 4;

/** Minimum number of rows from which these ratios are computed. Fewer rows say little about the file. */
const ROWS_MIN = 1000;

/**
 * Writes the groups of one thread.
 *
 * @throws Failed if the first part has so many groups that one thread is faster; the file is then processed as a whole
 */
export function* writeGroups(rows: HashAggregate, groups: PartGroups): Steps {
  const { rowCount, groupCount } = rows;
  if (groups.part === 0 && rowCount >= ROWS_MIN && groupCount > rowCount * GROUPS_OF_ROWS_MAX)
    throw new Failed('RUN_RESOURCE_LIMIT', 'The parts have too many groups.');
  if (rowCount > 0) yield* rows.writeGroups(() => groups.create());
}

export interface MergePlan {
  readonly groups: readonly Column[];
  readonly metrics: readonly SharedMetric[];
  readonly sorted: boolean;
}

/** An operator that receives no rows, and emits the groups of all threads. */
export function mergeGroups(
  context: OperatorContext,
  { groups, metrics, sorted }: MergePlan,
  files: MergedGroups,
  next: Next,
): Operator {
  const types: StoredType[] = [...storedTypes(groups), ...partialMetrics(metrics).map(({ type }) => type)];
  const rows = new HashAggregate(context, {
    reads: types.map((_, index) => index),
    readTypes: types,
    groups: groups.length,
    metrics: mergingMetrics(metrics, groups.length),
    sorted,
  });
  const { arena, kernel, spill } = context;
  return {
    push() {
      throw new Error('the operator merges groups and receives no rows');
    },
    *finish() {
      yield* mergeFiles({ arena, kernel, spill, types }, files.open(), byOrder(arena), (batch, orders) => {
        if (!('at' in batch.sourceRows)) throw new Error('rows from files have row numbers');
        const { f64 } = arena.heap;
        const sources = batch.sourceRows.at >>> 3;
        for (let row = 0; row < batch.rows; row++) f64[sources + row]! += files.rowsBefore(f64[(orders >>> 3) + row]!);
        return rows.add(batch);
      });
      yield* rows.finish(next);
    },
  };
}
