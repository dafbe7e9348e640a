// Medians and other percentiles of held values: a kernel sorts the list of each group and puts the cell into its state.
import type { StoredType } from '../../batch/schema.ts';
import { FOLD_FORMS } from '../../kernel/bindings/expression-words.ts';
import { HELD_COUNT } from '../../kernel/layout/held-values.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { decimalFromNumber } from '../../values/decimal.ts';
import type { FoldStates } from './metric-state.ts';

/** Groups that are settled at once. */
const GROUPS_AT_ONCE = 4096;

/** Keys for which there is room at first: a sort takes them twice. */
const KEYS_FIRST = 4096;
const KEY_BYTES = 8;

/** A list with so many values at most is walked through where the kernel cannot do it; longer ones are sorted elsewhere. */
const WALKED_MOST = 65_536;

/** With more digits, times the number of values, the kernel's 64 bits may not do. */
const PART_MOST = 1e9;
const PART_SCALE_MOST = 9;

interface Percentiles {
  readonly context: OperatorContext;
  readonly states: FoldStates;
  readonly groups: number;
  readonly type: StoredType;
  /** 0 to 100. */
  readonly percent: number;
  /** Puts the cell of a group into its state without the kernel. */
  put(group: number): void;
  /** Hears how many groups are settled. */
  settled(groups: number): void;
}

/** False when memory has no room for it. */
export function* settlePercentiles(work: Percentiles): Generator<void, boolean> {
  const { heap } = work.context.arena;
  const room = { at: heap.allocate(KEYS_FIRST * KEY_BYTES * 2), cells: KEYS_FIRST };
  const isDone = yield* settleWithin(work, room);
  heap.giveBack(room.at, room.cells * KEY_BYTES * 2);
  return isDone;
}

function* settleWithin(work: Percentiles, room: { at: number; cells: number }): Generator<void, boolean> {
  const { context, states, groups, type, percent, put, settled } = work;
  const { heap } = context.arena;
  const part = decimalFromNumber(percent)!;
  const isNarrow = Number(part.digits) <= PART_MOST && part.scale <= PART_SCALE_MOST;
  const form = type === 'number' ? FOLD_FORMS.double : FOLD_FORMS.decimal;
  const settle = (from: number, end: number): number => {
    if (!isNarrow) return from;
    const digits = BigInt(part.digits);
    const { at, stride } = states;
    return context.kernel.exports.settlePercentiles(
      at,
      stride,
      from,
      end,
      form,
      digits,
      part.scale,
      room.at,
      room.cells,
    );
  };
  for (let from = 0; from < groups; ) {
    const end = Math.min(groups, from + GROUPS_AT_ONCE);
    from = settle(from, end);
    settled(from);
    yield;
    if (from === end) continue;
    const count = heap.u32[(states.at + from * states.stride + HELD_COUNT) >>> 2]!;
    if (count > room.cells && isNarrow) {
      const at = heap.tryAllocate(count * KEY_BYTES * 2);
      if (at === 0) return false;
      heap.giveBack(room.at, room.cells * KEY_BYTES * 2);
      [room.at, room.cells] = [at, count];
      if (settle(from, from + 1) === from + 1) {
        from++;
        continue;
      }
    }
    if (count > WALKED_MOST) return false;
    put(from++);
  }
  settled(groups);
  return true;
}
