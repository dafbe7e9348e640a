// Groups of a Run that several threads process. Each thread groups the rows of its parts of the file, and writes its
// groups with their metrics so far to files, in the order in which it saw them first. One thread then merges the files in
// the order of the whole file, so that the result is the same as if it had seen all rows.
import { type Column, type ColumnType, type StoredType, storedTypes } from '../../batch/schema.ts';
import { SpillFile, SpillFolder } from '../../memory/spill-file.ts';
import { Failed } from '../../protocol/failure.ts';
import type { Steps } from '../../scheduling/time-slices.ts';
import type { MergedGroups, Next, Operator, OperatorContext, PartGroups } from '../../template/operation.ts';
import { byOrder, mergeFiles } from '../spill/ordered-merge.ts';
import { type MetricName, movesCell } from './accumulators.ts';
import { HashAggregate } from './hash-aggregate.ts';
import type { GroupMetric } from './metric-state.ts';

// The files between the threads.

/** Distance between the order numbers of two parts: more rows than a part can have. */
const PART_ORDERS = 2 ** 32;

/** Receives the groups that one thread finds in its parts. */
export class PartGroupFiles implements PartGroups {
  readonly kind = 'collect';
  readonly #folder: SpillFolder;
  /** Number of the current part. */
  part = 0;
  /** True if the Run's chain ends in the groups. */
  isUsed = false;

  /** @param folder for the files of all threads */
  constructor(folder: string, firstPart: number) {
    this.#folder = new SpillFolder(folder, `${firstPart}-`);
  }

  /** Order number of the first row of the current part, if rows are counted from 0. */
  get firstOrder(): number {
    return this.part * PART_ORDERS;
  }

  /** Names of all files. */
  get names(): readonly string[] {
    return this.#folder.names;
  }

  create(): SpillFile {
    return new SpillFile(this.#folder);
  }

  leave(): void {
    this.#folder.leave();
  }
}

/** The groups of all threads. */
export class MergedGroupFiles implements MergedGroups {
  readonly kind = 'merge';
  readonly #folder: SpillFolder;
  readonly #names: readonly string[];
  readonly #rowsBefore: readonly number[];

  /** @param rowsBefore for each part, the number that its row numbers lack to be those of the file */
  constructor(folder: string, names: readonly string[], rowsBefore: readonly number[]) {
    this.#folder = new SpillFolder(folder);
    this.#names = names;
    this.#rowsBefore = rowsBefore;
  }

  open(): readonly SpillFile[] {
    return this.#names.map((name) => new SpillFile(this.#folder, name));
  }

  /** The number that is added to the source row of a row with this order number. */
  rowsBefore(order: number): number {
    return this.#rowsBefore[Math.floor(order / PART_ORDERS)]!;
  }

  leave(): void {
    this.#folder.leave();
  }
}

// Metrics that can be computed from the metrics of parts. The others need all values of a group in their order.

/** What is known of a metric of the Template. */
interface SharedMetric {
  readonly fn: MetricName;
  readonly type: ColumnType;
  readonly source: Column | null;
}

const EXACT = new Set<ColumnType | undefined>(['integer', 'decimal']);

/** Types whose equal values have the same text, so that any of them can be the minimum, and decimals (`refusesTies`). */
const COMPARED = new Set<ColumnType | undefined>(['integer', 'decimal', 'date']);

const MERGEABLE = new Set<MetricName>(['count', 'count_values', 'any', 'all', 'sum', 'mean', 'min', 'max']);

/** False if no column has a type for which `canMerge` is true. */
export function mayMerge({ fn }: Pick<SharedMetric, 'fn'>): boolean {
  return MERGEABLE.has(fn);
}

/** True if the metric of some rows and that of the others give the metric of all rows. */
export function canMerge({ fn, source }: SharedMetric): boolean {
  if (fn === 'sum' || fn === 'mean') return EXACT.has(source?.type);
  if (fn === 'min' || fn === 'max') return COMPARED.has(source?.type) && !movesCell(fn, source);
  return mayMerge({ fn });
}

/** The metrics from which `mergingMetrics` computes the given ones. A mean needs a sum and a count. */
export function partialMetrics<Metric extends SharedMetric>(metrics: readonly Metric[]): Metric[] {
  return metrics.flatMap((metric): Metric[] => {
    if (metric.fn !== 'sum' && metric.fn !== 'mean') return [metric];
    // The sum of a part may have more digits than an integer can have.
    const sum = { ...metric, fn: 'sum' as const, type: 'decimal' as const };
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

/** If more of the rows have a group of their own, merging the groups takes longer than the threads save. */
const GROUPS_OF_ROWS_MAX = 7 / 8;

/** Fewer rows say nothing about the file. */
const ROWS_MIN = 1000;

/**
 * Writes the groups of the parts. Throws Failed if one thread is faster: the file is then processed as a whole.
 */
export function* writeGroups(rows: HashAggregate, groups: PartGroups): Steps {
  const { taken, count } = rows;
  if (groups.part === 0 && taken >= ROWS_MIN && count > taken * GROUPS_OF_ROWS_MAX)
    throw new Failed('RUN_RESOURCE_LIMIT', 'The parts have too many groups.');
  if (taken > 0) yield* rows.writeGroups(() => groups.create());
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
      throw new Error('groups are merged, not rows');
    },
    *finish() {
      yield* mergeFiles({ arena, kernel, spill, types }, files.open(), byOrder(arena), (batch, orders) => {
        if (!('at' in batch.sourceRows)) throw new Error('rows that were read back have their numbers');
        const { f64 } = arena.heap;
        const sources = batch.sourceRows.at >>> 3;
        for (let row = 0; row < batch.rows; row++) f64[sources + row]! += files.rowsBefore(f64[(orders >>> 3) + row]!);
        return rows.add(batch);
      });
      yield* rows.finish(next);
    },
  };
}
