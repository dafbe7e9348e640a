// A metric that keeps one text of each group: the first, the last, the least or the largest. Its state is a view of the text,
// which lies in the room that metrics share, and the text's native kind.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { StoredType } from '../../batch/schema.ts';
import {
  CONDITION,
  IDS,
  META,
  ROWS,
  STATE_BYTES,
  STATE_META,
  STATES,
  STRIDE_BYTES,
  VALUES,
} from '../../kernel/layout/fold.ts';
import { KEEP_FIRST, KEEP_LARGEST, KEEP_LAST, KEEP_LEAST } from '../../kernel/layout/held-values.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { Accumulator } from './accumulator.ts';
import { type MetricName, makeAccumulator } from './accumulators.ts';
import type { HeldRoom, Holder } from './held-room.ts';
import { HeldBytes } from './holistic-metrics.ts';
import { conditionMeta, lateRows } from './late-rows.ts';
import type { LateValues } from './late-values.ts';
import type { FoldStates, GroupMetric, GroupRange, MetricState } from './metric-state.ts';

const KEPT: Partial<Record<MetricName, number>> = {
  first: KEEP_FIRST,
  last: KEEP_LAST,
  min: KEEP_LEAST,
  max: KEEP_LARGEST,
};

/** Groups whose texts are let go of at once. */
const GROUPS_AT_ONCE = 2048;

/** Whether the metric keeps one text. */
export function keepsText({ fn, type }: Pick<GroupMetric, 'fn' | 'type'>): boolean {
  return (type === 'text' || type === 'json') && KEPT[fn] !== undefined;
}

export class KeptText implements MetricState, Holder {
  readonly stateBytes = STATE_BYTES;
  readonly type: StoredType;
  readonly makes: StoredType;
  readonly accumulator: Accumulator;
  readonly #metric: GroupMetric;
  readonly #context: OperatorContext;
  readonly #room: HeldRoom;
  readonly #number: number;
  readonly #which: number;
  readonly #builder: ColumnBuilder;

  constructor(metric: GroupMetric, context: OperatorContext, room: HeldRoom) {
    this.#metric = metric;
    this.#context = context;
    this.#room = room;
    this.#which = KEPT[metric.fn]!;
    this.type = metric.reads!;
    this.makes = metric.makes;
    const held = new HeldBytes(context.budget);
    this.accumulator = makeAccumulator(metric.fn, metric.type, { separator: '', percent: 0, held });
    this.#builder = new ColumnBuilder(context.arena, metric.makes);
    this.#number = room.enter(this);
  }

  cell(value: unknown): unknown {
    return value;
  }

  initialise(state: number): void {
    this.#context.arena.heap.u8.fill(0, state, state + STATE_BYTES);
  }

  fold(batch: Batch, fold: number, count: number, states: FoldStates): void {
    const { place, condition } = this.#metric;
    const column = batch.columns[place]!;
    if (column.kind !== 'views') return;
    const { heap } = this.#context.arena;
    const { u32 } = heap;
    u32[(fold + CONDITION) >>> 2] = conditionMeta(batch, condition);
    u32[(fold + VALUES) >>> 2] = column.at;
    u32[(fold + META) >>> 2] = column.kinds ?? 0;
    u32[(fold + STATES) >>> 2] = states.at;
    u32[(fold + STRIDE_BYTES) >>> 2] = states.stride;
    const { exports } = this.#context.kernel;
    const room = this.#room;
    for (let at = 0; at < count; ) {
      if (room.late !== null) {
        const list = { rows: heap.u32[(fold + ROWS) >>> 2]!, ids: heap.u32[(fold + IDS) >>> 2]!, from: at, count };
        lateRows(this.#context.arena, batch, { place, condition }, list, (values) =>
          room.late!.add(this.#number, values),
        );
        return;
      }
      const { blocks, reached } = room;
      at = exports.keepTexts(fold, at, count, this.#which, blocks.next, blocks.limit, reached);
      blocks.next = heap.u32[reached >>> 2]!;
      if (at < count && !room.advance()) return;
    }
  }

  column({ first, step, count }: GroupRange, states: FoldStates): ColumnData | null {
    const builder = this.#builder;
    if (!builder.begin(count)) return null;
    const made = builder.column;
    if (made.kind !== 'views') throw new Error('a kept text is a view');
    const { late } = this.#room;
    if (late === null) {
      const { arena, kernel } = this.#context;
      const kinds = made.kinds ?? arena.tryTake(count);
      if (kinds === 0) return null;
      kernel.exports.unpackStates(states.at + first * states.stride, states.stride * step, count, made.at, kinds);
      return made;
    }
    for (let row = 0; row < count; row++) {
      if (builder.set(row, late.value(this.#number, first + row * step)) === 'full') return null;
    }
    return made;
  }

  clear(): void {}

  /** The texts are there. */
  *settle(): Generator<void, boolean> {
    yield;
    return true;
  }

  letGo(groups: number, states: FoldStates, late: LateValues): void {
    const { arena } = this.#context;
    for (let from = 0; from < groups; from += GROUPS_AT_ONCE) {
      const mark = arena.next;
      const most = Math.min(GROUPS_AT_ONCE, groups - from);
      const [at, kinds, numbers] = [arena.take(most * 8), arena.take(most), arena.take(most * 4)];
      const { u8, u32 } = arena.heap;
      let count = 0;
      for (let group = from; group < from + most; group++) {
        const state = states.at + group * states.stride;
        if (u32[state >>> 2] === 0) continue;
        u8.copyWithin(at + count * 8, state, state + 8);
        u8[kinds + count] = u8[state + STATE_META]!;
        u32[(numbers >>> 2) + count++] = group;
      }
      const hasKinds = this.type === 'text_with_kind';
      late.add(this.#number, { groups: numbers, column: { kind: 'views', at, ...(hasKinds ? { kinds } : {}) }, count });
      arena.release(mark);
    }
  }

  countOf(): number {
    return 0;
  }
}
