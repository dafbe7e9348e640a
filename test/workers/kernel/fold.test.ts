// Kernels that aggregate cells into the states of groups (fold.ts), against references that use lists and BigInt.
import { deepStrictEqual, equal } from 'node:assert/strict';
import { test } from 'tap';
import { META_BIG, META_NULL } from '../../../workers/kernel/layout/cells.ts';
import { BOOLEAN, DECIMAL, DOUBLE, INTEGER } from '../../../workers/kernel/layout/expressions.ts';
import {
  CONDITION,
  DOUBLES_BYTES,
  DOUBLES_LOW,
  DOUBLES_META,
  FOLD_BYTES,
  IDS,
  META,
  ROWS,
  STATE_BYTES,
  STATE_META,
  STATES,
  STRIDE_BYTES,
  VALUES,
} from '../../../workers/kernel/layout/groups.ts';
import { fc } from '../../random.ts';
import { checkKernel, columnOf, KernelRig, rowOf } from './kernel-rig.ts';

const GROUPS = 3;

interface Cell {
  readonly bits: bigint;
  readonly meta: number;
  readonly group: number;
  /** Byte of the boolean column that selects rows: only 1 selects a row. */
  readonly condition: number;
}

const cellsOf = (bits: fc.Arbitrary<bigint>, meta: fc.Arbitrary<number>): fc.Arbitrary<Cell[]> =>
  columnOf(
    fc.record<Cell>({ bits, meta, group: fc.nat(GROUPS - 1), condition: fc.constantFrom(1, 1, 1, 0, META_NULL) }),
  );

interface Placed {
  readonly fold: number;
  readonly states: number;
}

interface Form {
  readonly hasCondition: boolean;
  /** Distance between states in bytes. */
  readonly stride: number;
  /** True if META is 0: the values are views. */
  readonly areViews?: boolean;
}

const forms = fc.record({ hasCondition: fc.boolean(), stride: fc.constantFrom(STATE_BYTES, DOUBLES_BYTES, 40) });

/** Describes an aggregation over the cells. The states of the groups are zero: they have no value. */
function place(rig: KernelRig, cells: readonly Cell[], form: Form, before: number): Placed {
  const at = rig.region(cells.length * 16, 16);
  const meta = rig.region(cells.length * 2, before);
  const condition = rig.region(cells.length * 2, before);
  for (const [position, cell] of cells.entries()) {
    const row = rowOf(position);
    rig.setLong(at + row * 8, cell.bits);
    rig.bytes[meta + row] = cell.meta;
    rig.bytes[condition + row] = cell.condition;
  }
  const ids = rig.wordList(
    cells.map(({ group }) => group),
    before,
  );
  const states = rig.region(GROUPS * form.stride, 16);
  for (let group = 0; group < GROUPS; group += 1) {
    const state = states + group * form.stride;
    rig.bytes.fill(0, state, state + STATE_BYTES);
    rig.bytes[state + STATE_META] = META_NULL;
  }
  const words = Array<number>(FOLD_BYTES / 4).fill(0);
  for (const [field, value] of [
    [ROWS, rig.rows(cells.length)],
    [IDS, ids],
    [CONDITION, form.hasCondition ? condition : 0],
    [VALUES, at],
    [META, form.areViews ? 0 : meta],
    [STATES, states],
    [STRIDE_BYTES, form.stride],
  ] as const) {
    words[field / 4] = value;
  }
  return { fold: rig.wordList(words, 8), states };
}

const isChosen = (cell: Cell, form: Form): boolean => !form.hasCondition || cell.condition === 1;

/** A value with its scale. null: the group has no value. */
type State = { readonly bits: bigint; readonly meta: number } | null;

/** Goes through the selected cells. `step` returns the new state of the group, or 'stop'. */
function folded(
  cells: readonly Cell[],
  form: Form,
  from: number,
  step: (state: State, cell: Cell) => State | 'stop',
): { reached: number; states: State[] } {
  const states = Array<State>(GROUPS).fill(null);
  for (let position = from; position < cells.length; position += 1) {
    const cell = cells[position]!;
    if (cell.meta === META_NULL || !isChosen(cell, form)) continue;
    const next = step(states[cell.group]!, cell);
    if (next === 'stop') return { reached: position, states };
    states[cell.group] = next;
  }
  return { reached: cells.length, states };
}

function expectStates(rig: KernelRig, { states }: Placed, form: Form, expected: readonly State[]): void {
  for (const [group, state] of expected.entries()) {
    const at = states + group * form.stride;
    equal(rig.bytes[at + STATE_META], state?.meta ?? META_NULL);
    if (state !== null) equal(rig.long(at), state.bits);
  }
}

const metas = fc.constantFrom(0, 1, META_NULL);

checkKernel(
  'foldCount: counts selected rows',
  fc.tuple(cellsOf(fc.bigInt(), metas), forms),
  (rig, [cells, form], before) => {
    const placed = place(rig, cells, form, before);
    // The second call shows that a count continues.
    rig.exports.foldCount(placed.fold, cells.length);
    rig.exports.foldCount(placed.fold, cells.length);
    for (let group = 0; group < GROUPS; group += 1) {
      const counted = cells.filter((cell) => cell.group === group && isChosen(cell, form)).length;
      equal(rig.long(placed.states + group * form.stride), BigInt(counted * 2));
    }
  },
);

checkKernel(
  'foldValues: counts selected values of a typed column or of texts',
  fc.tuple(cellsOf(fc.constantFrom(0n, 4096n, 4096n + (5n << 32n)), metas), forms, fc.boolean()),
  (rig, [cells, given, areViews], before) => {
    const form = { ...given, areViews };
    const placed = place(rig, cells, form, before);
    rig.exports.foldValues(placed.fold, cells.length);
    const isValue = ({ bits, meta }: Cell): boolean => (areViews ? bits !== 0n : meta !== META_NULL);
    for (let group = 0; group < GROUPS; group += 1) {
      const counted = cells.filter((cell) => cell.group === group && isChosen(cell, form) && isValue(cell)).length;
      equal(rig.long(placed.states + group * form.stride), BigInt(counted));
    }
  },
);

const LONG_MAX = 2n ** 63n - 1n;
const isLong = (value: bigint): boolean => value >= -LONG_MAX - 1n && value <= LONG_MAX;
const decimalBits = fc.oneof(
  fc.constantFrom(0n, 0n, 1n, -1n, 5n, 10n ** 17n, -(10n ** 17n), 2n ** 62n, -(2n ** 62n), LONG_MAX, -LONG_MAX - 1n),
  fc.bigInt({ min: -1000n, max: 1000n }),
);
const scales = fc.constantFrom(0, 0, 0, 1, 2, 2, 17, 18, 19, 253, META_NULL);
const raise = (bits: bigint, by: number): bigint => bits * 10n ** BigInt(by);

/** Sum at the larger scale. Stops if the sum or one of its parts does not fit 64 bits. */
function added(state: State, { bits, meta }: Cell): State | 'stop' {
  if (meta === META_BIG) return 'stop';
  if (state === null) return { bits, meta };
  const scale = Math.max(state.meta, meta);
  const parts = [raise(state.bits, scale - state.meta), raise(bits, scale - meta)] as const;
  const sum = parts[0] + parts[1];
  return parts.every(isLong) && isLong(sum) ? { bits: sum, meta: scale } : 'stop';
}

checkKernel(
  'foldSum: exact sums of decimals, until 64 bits do not suffice',
  fc.tuple(cellsOf(decimalBits, fc.oneof({ weight: 40, arbitrary: scales }, fc.constant(META_BIG))), forms, fc.nat(5)),
  (rig, [cells, form, start], before) => {
    const from = Math.min(start, cells.length);
    const placed = place(rig, cells, form, before);
    const reached = rig.exports.foldSum(placed.fold, from, cells.length) >>> 0;
    const expected = folded(cells, form, from, added);
    equal(reached, expected.reached);
    expectStates(rig, placed, form, expected.states);
  },
);

const bitsOf = (value: number): bigint => new BigInt64Array(Float64Array.of(value).buffer)[0]!;
const doubleOf = (bits: bigint): number => new Float64Array(BigInt64Array.of(bits).buffer)[0]!;

/** Whole numbers whose sum always fits two doubles, and rarely a value that stops the kernel. */
const summands = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map((value) => value * 255 + 1) },
  { weight: 20, arbitrary: fc.constantFrom(2 ** 90, -(2 ** 90), 3 * 2 ** 90, 2 ** 60) },
  { weight: 1, arbitrary: fc.constantFrom(Infinity, -Infinity, NaN) },
);

checkKernel(
  'foldDoubles: exact sums in two doubles, until infinity or NaN',
  fc.tuple(cellsOf(summands.map(bitsOf), metas), fc.boolean()),
  (rig, [cells, hasCondition], before) => {
    const form = { hasCondition, stride: DOUBLES_BYTES };
    const placed = place(rig, cells, form, before);
    for (let group = 0; group < GROUPS; group += 1) {
      const state = placed.states + group * DOUBLES_BYTES;
      rig.bytes.fill(0, state, state + DOUBLES_META);
      rig.bytes[state + DOUBLES_META] = META_NULL;
    }
    const reached = rig.exports.foldDoubles(placed.fold, 0, cells.length) >>> 0;
    const expected = folded(cells, form, 0, (state, { bits }) => {
      const value = doubleOf(bits);
      return Number.isFinite(value) ? { bits: (state?.bits ?? 0n) + BigInt(value), meta: 0 } : 'stop';
    });
    equal(reached, expected.reached);
    for (const [group, state] of expected.states.entries()) {
      const at = placed.states + group * DOUBLES_BYTES;
      equal(rig.bytes[at + DOUBLES_META], state?.meta ?? META_NULL);
      equal(BigInt(rig.double(at)) + BigInt(rig.double(at + DOUBLES_LOW)), state?.bits ?? 0n);
    }
  },
);

test('foldDoubles: stops when a sum needs more than two doubles', (t) => {
  const rig = new KernelRig();
  const cells = [2 ** 200, 2 ** 100, 1].map((value) => ({ bits: bitsOf(value), meta: 0, group: 0, condition: 1 }));
  const { fold, states } = place(rig, cells, { hasCondition: false, stride: DOUBLES_BYTES }, 16);
  rig.bytes.fill(0, states, states + DOUBLES_BYTES);
  t.equal(rig.exports.foldDoubles(fold, 0, cells.length), 2);
  t.equal(rig.double(states), 2 ** 200);
  t.equal(rig.double(states + DOUBLES_LOW), 2 ** 100);
  rig.checkGuards();
  t.end();
});

/** Cells of one type of values. Booleans have only a meta byte. */
const typed = fc.constantFrom(DOUBLE, INTEGER, DECIMAL, BOOLEAN).chain((valueForm) => {
  const doubles = fc.constantFrom(0, -0, 1, -1.5, 1e300, Infinity, -Infinity, NaN).map(bitsOf);
  const zeroOrNull = fc.constantFrom(0, 0, 0, META_NULL);
  const cells =
    valueForm === DOUBLE
      ? cellsOf(doubles, zeroOrNull)
      : valueForm === INTEGER
        ? cellsOf(decimalBits, zeroOrNull)
        : valueForm === BOOLEAN
          ? cellsOf(fc.constant(77n), metas)
          : cellsOf(decimalBits, fc.oneof({ weight: 40, arbitrary: scales }, fc.constant(META_BIG)));
  return fc.record({ valueForm: fc.constant(valueForm), cells });
});

/** Order of two values. Numbers without an order (NaN) count as equal. */
function ordered(a: Cell, b: { bits: bigint; meta: number }, form: number): number {
  const [x, y] =
    form === BOOLEAN
      ? [a.meta, b.meta]
      : form === DOUBLE
        ? [doubleOf(a.bits), doubleOf(b.bits)]
        : form === INTEGER
          ? [a.bits, b.bits]
          : [raise(a.bits, b.meta), raise(b.bits, a.meta)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** The state after a cell has replaced the previous value. A boolean has no bits. */
const taken = ({ bits, meta }: Cell, form: number): State => ({ bits: form === BOOLEAN ? 0n : bits, meta });

checkKernel(
  'foldExtreme: minimum or maximum, the first of equal values, until a decimal beyond 64 bits',
  fc.tuple(typed, forms, fc.boolean(), fc.nat(5)),
  (rig, [{ valueForm, cells }, form, isLargest, start], before) => {
    const from = Math.min(start, cells.length);
    const placed = place(rig, cells, form, before);
    const reached = rig.exports.foldExtreme(placed.fold, from, cells.length, valueForm, Number(isLargest)) >>> 0;
    const expected = folded(cells, form, from, (state, cell) => {
      if (valueForm === DECIMAL && cell.meta === META_BIG) return 'stop';
      if (state === null) return taken(cell, valueForm);
      const sign = ordered(cell, state, valueForm);
      return (isLargest ? sign > 0 : sign < 0) ? taken(cell, valueForm) : state;
    });
    equal(reached, expected.reached);
    expectStates(rig, placed, form, expected.states);
  },
);

checkKernel(
  'foldEnd: first or last value, until a decimal beyond 64 bits',
  fc.tuple(typed, forms, fc.boolean(), fc.nat(5)),
  (rig, [{ valueForm, cells }, form, isLast, start], before) => {
    const from = Math.min(start, cells.length);
    const placed = place(rig, cells, form, before);
    const reached = rig.exports.foldEnd(placed.fold, from, cells.length, valueForm, Number(isLast)) >>> 0;
    const expected = folded(cells, form, from, (state, cell) => {
      if (state !== null && !isLast) return state;
      return valueForm === DECIMAL && cell.meta === META_BIG ? 'stop' : taken(cell, valueForm);
    });
    equal(reached, expected.reached);
    expectStates(rig, placed, form, expected.states);
  },
);

checkKernel(
  'unpackStates: states become cells of a typed column',
  fc.tuple(columnOf(fc.tuple(decimalBits, scales)), fc.constantFrom(STATE_BYTES, DOUBLES_BYTES)),
  (rig, [cells, stride], before) => {
    const states = rig.region(cells.length * stride, 16);
    for (const [group, [bits, meta]] of cells.entries()) {
      rig.setLong(states + group * stride, bits);
      rig.bytes[states + group * stride + STATE_META] = meta;
    }
    const at = rig.region(cells.length * 8, 16);
    const metaAt = rig.region(cells.length, before);
    rig.exports.unpackStates(states, stride, cells.length, at, metaAt);
    deepStrictEqual(
      cells.map((_, row) => [rig.long(at + row * 8), rig.bytes[metaAt + row]]),
      cells,
    );
  },
);
