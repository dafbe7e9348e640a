// Kernels that hold the values of groups until all rows have arrived, and compute from them (group-values.ts), against
// references that use arrays and the accumulators of metrics.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { HeldBytes, makeAccumulator } from '../../../workers/execution/aggregate/accumulators.ts';
import { META_NULL } from '../../../workers/kernel/layout/cells.ts';
import { DECIMAL, DOUBLE } from '../../../workers/kernel/layout/expressions.ts';
import {
  CHUNK_CELLS,
  CHUNK_CELLS_FIRST,
  CHUNK_CELLS_MOST,
  CHUNK_NEXT,
  CHUNK_WORDS,
  CONDITION,
  CURSOR_BYTES,
  ENTRY_BYTES,
  ENTRY_COUNT,
  ENTRY_GROUP,
  ENTRY_META,
  FOLD_BYTES,
  HELD_BYTES,
  HELD_COUNT,
  HELD_FIRST,
  HELD_LAST,
  HELD_USED,
  IDS,
  KEEP_FIRST,
  KEEP_LARGEST,
  KEEP_LAST,
  KEEP_LEAST,
  META,
  ROWS,
  STATE_META,
  STATES,
  STRIDE_BYTES,
  VALUES,
} from '../../../workers/kernel/layout/groups.ts';
import { unlimitedShare } from '../../../workers/memory/budget.ts';
import { Decimal, decimalFromNumber } from '../../../workers/values/decimal.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { checkKernel, columnOf, type KernelRig, rowOf } from './kernel-rig.ts';

const RUNS = sweep({ short: 60, long: 400 });
const GROUPS = 3;
const STRIDES = [HELD_BYTES, 40];
/** More than a test needs, and less than the maximum of a region. */
const BLOCK_BYTES = 40_000;

interface Held {
  readonly word: bigint;
  readonly meta: number;
}

const word = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

interface Fold {
  readonly values: number;
  readonly meta: number;
  readonly hasCondition: boolean;
  readonly cells: readonly { readonly group: number; readonly condition: number }[];
  readonly stride: number;
}

/** Places the description of an aggregation, with empty states. */
function placeFold(rig: KernelRig, fold: Fold, before: number): { readonly fold: number; readonly states: number } {
  const { cells, stride } = fold;
  const condition = rig.region(cells.length * 2, before);
  for (const [position, cell] of cells.entries()) rig.bytes[condition + rowOf(position)] = cell.condition;
  const ids = rig.wordList(
    cells.map(({ group }) => group),
    before,
  );
  const states = rig.region(GROUPS * stride, 16);
  rig.bytes.fill(0, states, states + GROUPS * stride);
  const words = Array<number>(FOLD_BYTES / 4).fill(0);
  for (const [field, value] of [
    [ROWS, rig.rows(cells.length)],
    [IDS, ids],
    [CONDITION, fold.hasCondition ? condition : 0],
    [VALUES, fold.values],
    [META, fold.meta],
    [STATES, states],
    [STRIDE_BYTES, stride],
  ] as const) {
    words[field / 4] = value;
  }
  return { fold: rig.wordList(words, 8), states };
}

/** Byte of the boolean column that selects rows: only 1 selects a row. */
const conditions = fc.constantFrom(1, 1, 1, 0, META_NULL);

const isChosen = (cell: { readonly condition: number }, hasCondition: boolean): boolean =>
  !hasCondition || cell.condition === 1;

/**
 * Calls a kernel that stops when a block is full, each time with `step` more bytes. Returns the first address that the kernel did
 * not use.
 */
function fillBlock(
  rig: KernelRig,
  count: number,
  before: number,
  step: number,
  run: (from: number, next: number, limit: number, reached: number) => number,
): void {
  let next = rig.region(BLOCK_BYTES, before - (before % 8));
  const end = next + BLOCK_BYTES;
  const reached = rig.wordList([0], 8);
  let limit = next;
  for (let from = 0; ; limit += step) {
    ok(limit <= end, 'a block has space for all values');
    from = run(from, next, limit, reached);
    next = rig.word(reached);
    ok(next <= limit, 'nothing is placed after the limit');
    if (from === count) return;
  }
}

/** The values in the list of a group. */
function listOf(rig: KernelRig, state: number): Held[] {
  const held: Held[] = [];
  const last = rig.word(state + HELD_LAST);
  for (let chunk = rig.word(state + HELD_FIRST); chunk !== 0; chunk = rig.word(chunk + CHUNK_NEXT)) {
    const cells = rig.word(chunk + CHUNK_CELLS);
    const used = chunk === last ? rig.word(state + HELD_USED) : cells;
    const words = chunk + CHUNK_WORDS;
    for (let cell = 0; cell < used; cell += 1) {
      held.push({ word: rig.long(words + cell * 8), meta: rig.bytes[words + cells * 8 + cell]! });
    }
  }
  equal(rig.long(state + HELD_COUNT), BigInt(held.length));
  return held;
}

checkKernel(
  'holdValues: typed cells in the lists of their groups, from one full block to the next',
  fc.tuple(
    columnOf(
      fc.record({
        word,
        meta: fc.constantFrom(0, 0, 2, 253, META_NULL),
        group: fc.nat(GROUPS - 1),
        condition: conditions,
      }),
    ),
    fc.boolean(),
    fc.constantFrom(...STRIDES),
    fc.constantFrom(80, 1000),
  ),
  (rig, [cells, hasCondition, stride, step], before) => {
    const values = rig.region(cells.length * 16, 16);
    const meta = rig.region(cells.length * 2 + 1, before);
    for (const [position, cell] of cells.entries()) {
      rig.setLong(values + rowOf(position) * 8, cell.word);
      rig.bytes[meta + rowOf(position)] = cell.meta;
    }
    const placed = placeFold(rig, { values, meta, hasCondition, cells, stride }, before);
    fillBlock(rig, cells.length, before, step, (from, next, limit, reached) =>
      rig.exports.holdValues(placed.fold, from, cells.length, next, limit, reached),
    );
    for (let group = 0; group < GROUPS; group += 1) {
      const held = cells.filter(
        (cell) => cell.group === group && cell.meta !== META_NULL && isChosen(cell, hasCondition),
      );
      deepStrictEqual(
        listOf(rig, placed.states + group * stride),
        held.map((cell) => ({ word: cell.word, meta: cell.meta })),
      );
    }
  },
  RUNS,
);

const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'é', '漢', '😀'), { maxLength: 5 }), fc.constantFrom(0, 0, 15, 16, 33))
  .map(([letters, fill]) => `${'a'.repeat(fill)}${letters.join('')}`);
const textCellsOf = (texts: fc.Arbitrary<string>) =>
  columnOf(
    fc.record({
      text: fc.option(texts, { nil: null, freq: 6 }),
      kind: fc.nat(6),
      group: fc.nat(GROUPS - 1),
      condition: conditions,
    }),
  );
/** Few texts, so that the smallest and the largest text of a group occur more than once. */
const fewTexts = fc.constantFrom('', 'a', 'a'.repeat(40), 'é');

checkKernel(
  'holdValues: copies of texts, which remain when their cells are overwritten',
  fc.tuple(textCellsOf(text), fc.boolean(), fc.constantFrom(...STRIDES), fc.constantFrom(200, 1000)),
  (rig, [cells, hasCondition, stride, step], before) => {
    const texts = cells.map((cell) => cell.text);
    const values = rig.texts(texts, before);
    const placed = placeFold(rig, { values, meta: 0, hasCondition, cells, stride }, before);
    fillBlock(rig, cells.length, before, step, (from, next, limit, reached) =>
      rig.exports.holdValues(placed.fold, from, cells.length, next, limit, reached),
    );
    for (const [position, cell] of texts.entries()) {
      const view = values + rowOf(position) * 8;
      if (cell !== null) rig.bytes.fill(0, rig.word(view), rig.word(view) + rig.word(view + 4));
    }
    for (let group = 0; group < GROUPS; group += 1) {
      const held = listOf(rig, placed.states + group * stride).map(({ word: view }) => {
        const at = Number(view & 0xffff_ffffn);
        return Buffer.from(rig.bytes.subarray(at, at + Number(view >> 32n))).toString();
      });
      deepStrictEqual(
        held,
        cells.flatMap((cell) =>
          cell.group === group && cell.text !== null && isChosen(cell, hasCondition) ? [cell.text] : [],
        ),
      );
    }
  },
  RUNS,
);

const inOrder = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));

/** True if a text replaces the one that its group holds. */
const REPLACES: Readonly<Record<number, (next: string, kept: string) => boolean>> = {
  [KEEP_FIRST]: () => false,
  [KEEP_LAST]: () => true,
  [KEEP_LEAST]: (next, kept) => inOrder(next, kept) < 0,
  [KEEP_LARGEST]: (next, kept) => inOrder(next, kept) > 0,
};

checkKernel(
  'keepTexts: the first, last, least or largest text of each group, with its kind',
  fc.tuple(
    textCellsOf(fewTexts),
    fc.constantFrom(KEEP_FIRST, KEEP_LAST, KEEP_LEAST, KEEP_LARGEST),
    fc.boolean(),
    fc.boolean(),
    fc.constantFrom(140, 1000),
  ),
  (rig, [cells, which, hasKinds, hasCondition, step], before) => {
    const values = rig.texts(
      cells.map((cell) => cell.text),
      before,
    );
    const kinds = rig.region(cells.length * 2 + 1, before);
    for (const [position, { kind }] of cells.entries()) rig.bytes[kinds + rowOf(position)] = kind;
    const stride = HELD_BYTES;
    const meta = hasKinds ? kinds : 0;
    const placed = placeFold(rig, { values, meta, hasCondition, cells, stride }, before);
    fillBlock(rig, cells.length, before, step, (from, next, limit, reached) =>
      rig.exports.keepTexts(placed.fold, from, cells.length, which, next, limit, reached),
    );
    for (let group = 0; group < GROUPS; group += 1) {
      let kept: { text: string; kind: number } | null = null;
      for (const cell of cells) {
        if (cell.group !== group || cell.text === null || !isChosen(cell, hasCondition)) continue;
        if (kept === null || REPLACES[which]!(cell.text, kept.text)) kept = { text: cell.text, kind: cell.kind };
      }
      const state = placed.states + group * stride;
      equal(rig.textAt(state), kept?.text ?? null);
      equal(rig.bytes[state + STATE_META], hasKinds ? (kept?.kind ?? 0) : 0);
    }
  },
  RUNS * 2,
);

/** Places the lists of groups: chunks that double in size. Returns the address of the first group's state. */
function placeLists(rig: KernelRig, groups: readonly (readonly Held[])[], stride: number, before: number): number {
  const states = rig.region(groups.length * stride, 16);
  rig.bytes.fill(0, states, states + groups.length * stride);
  let next = rig.region(BLOCK_BYTES, before - (before % 8));
  for (const [group, held] of groups.entries()) {
    const state = states + group * stride;
    rig.setLong(state + HELD_COUNT, BigInt(held.length));
    for (let from = 0, cells = CHUNK_CELLS_FIRST, last = 0; from < held.length; from += cells / 2) {
      rig.setWord(next + CHUNK_NEXT, 0);
      rig.setWord(next + CHUNK_CELLS, cells);
      const used = held.slice(from, from + cells);
      for (const [cell, { word: value, meta }] of used.entries()) {
        rig.setLong(next + CHUNK_WORDS + cell * 8, value);
        rig.bytes[next + CHUNK_WORDS + cells * 8 + cell] = meta;
      }
      rig.setWord(last === 0 ? state + HELD_FIRST : last + CHUNK_NEXT, next);
      rig.setWord(state + HELD_LAST, next);
      rig.setWord(state + HELD_USED, used.length);
      last = next;
      next += Math.ceil((CHUNK_WORDS + cells * 9) / 8) * 8;
      cells *= 2;
    }
  }
  return states;
}

const listSize = fc.constantFrom(0, 1, 2, 3, 6, 7, 14, 15, 33);

function listsOf(held: fc.Arbitrary<Held>, size: fc.Arbitrary<number>): fc.Arbitrary<Held[][]> {
  const list = size.chain((count) => fc.array(held, { minLength: count, maxLength: count }));
  return fc.array(list, { minLength: GROUPS, maxLength: GROUPS });
}

checkKernel(
  'gatherHeld: the values of all groups in order, a limited number at a time',
  fc.tuple(
    listsOf(fc.record({ word, meta: fc.nat(255) }), listSize),
    fc.constantFrom(...STRIDES),
    fc.constantFrom(1, 2, 7, 16, 40),
    fc.nat(GROUPS),
  ),
  (rig, [groups, stride, most, end], before) => {
    const states = placeLists(rig, groups, stride, before);
    const cursor = rig.wordList(Array<number>(CURSOR_BYTES / 4).fill(0), 8);
    const [words, metas, ids] = [
      rig.region(most * 8, before),
      rig.region(most, before),
      rig.region(most * 4, before),
    ] as const;
    const found: (Held & { group: number })[] = [];
    for (let count: number = most; count === most; ) {
      count = rig.exports.gatherHeld(states, stride, cursor, end, most, words, metas, ids);
      for (let n = 0; n < count; n += 1) {
        found.push({ word: rig.long(words + n * 8), meta: rig.bytes[metas + n]!, group: rig.word(ids + n * 4) });
      }
    }
    deepStrictEqual(
      found,
      groups.slice(0, end).flatMap((held, group) => held.map((value) => ({ ...value, group }))),
    );
    equal(rig.exports.gatherHeld(states, stride, cursor, end, most, words, metas, ids), 0);
  },
  RUNS,
);

checkKernel(
  'countEntries: a new number begins an entry, and others are counted',
  fc.tuple(columnOf(fc.record({ word, meta: fc.nat(255), group: fc.nat(9), pick: fc.nat() })), fc.nat(3)),
  (rig, [cells, known], before) => {
    const entries = rig.region((known + cells.length) * ENTRY_BYTES, before);
    const expected: (Held & { group: number; count: number })[] = [];
    for (let entry = 0; entry < known; entry += 1) {
      expected.push({ word: BigInt(entry), group: entry, count: entry + 5, meta: entry });
      const at = entries + entry * ENTRY_BYTES;
      rig.setLong(at, BigInt(entry));
      rig.setWord(at + ENTRY_GROUP, entry);
      rig.setWord(at + ENTRY_COUNT, entry + 5);
      rig.setWord(at + ENTRY_META, entry);
    }
    const ids = cells.map(({ word: value, meta, group, pick }) => {
      const id = pick % (expected.length + 1);
      if (id === expected.length) expected.push({ word: value, group, count: 1, meta });
      else expected[id] = { ...expected[id]!, count: expected[id]!.count + 1 };
      return id;
    });
    const words = rig.region(cells.length * 8, before);
    for (const [position, cell] of cells.entries()) rig.setLong(words + position * 8, cell.word);
    const metas = rig.byteList(
      cells.map(({ meta }) => meta),
      before,
    );
    const groups = rig.wordList(
      cells.map(({ group }) => group),
      before,
    );
    rig.exports.countEntries(entries, known, rig.wordList(ids, before), cells.length, words, metas, groups);
    for (const [entry, { word: value, group, count, meta }] of expected.entries()) {
      const at = entries + entry * ENTRY_BYTES;
      equal(rig.long(at), value);
      const found = [ENTRY_GROUP, ENTRY_COUNT, ENTRY_META].map((field) => rig.word(at + field));
      deepStrictEqual(found, [group, count, meta]);
    }
  },
  RUNS,
);

checkKernel(
  'settleEntries: the number of distinct values, or the first of the most frequent ones',
  fc.tuple(
    columnOf(fc.record({ word, meta: fc.nat(254), group: fc.nat(GROUPS - 1), count: fc.integer({ min: 1, max: 4 }) })),
    fc.boolean(),
    fc.constantFrom(...STRIDES),
    fc.nat(2),
  ),
  (rig, [entries, mostFrequent, stride, from], before) => {
    const at = rig.region(entries.length * ENTRY_BYTES, before);
    for (const [entry, { word: value, meta, group, count }] of entries.entries()) {
      rig.setLong(at + entry * ENTRY_BYTES, value);
      rig.setWord(at + entry * ENTRY_BYTES + ENTRY_GROUP, from + group);
      rig.setWord(at + entry * ENTRY_BYTES + ENTRY_COUNT, count);
      rig.setWord(at + entry * ENTRY_BYTES + ENTRY_META, meta);
    }
    const end = from + GROUPS;
    const states = rig.region(end * stride, before);
    const best = rig.region(GROUPS * 4, before);
    const form = [at, entries.length, Number(mostFrequent), best] as const;
    rig.exports.settleEntries(states, stride, from, end, ...form);
    for (let group = 0; group < GROUPS; group += 1) {
      const all = entries.filter((entry) => entry.group === group);
      const most = Math.max(0, ...all.map(({ count }) => count));
      const first = all.find(({ count }) => count === most);
      const state = states + (from + group) * stride;
      const expected = mostFrequent ? [first?.word ?? 0n, first?.meta ?? META_NULL] : [BigInt(all.length), 0];
      deepStrictEqual([rig.long(state), rig.bytes[state + STATE_META]], expected);
    }
  },
  RUNS,
);

/** Sizes around the threshold from which keys are sorted by their digits, and sizes that exceed the first chunks. */
const sortedSize = fc.constantFrom(0, 1, 2, 3, 10, 47, 48, 49, 60);
const PERCENTS = [0, 25, 33.3, 50, 90, 99.999, 100];

const bits = new DataView(new ArrayBuffer(8));
function bitsOf(value: number): bigint {
  bits.setFloat64(0, value);
  return bits.getBigInt64(0);
}
function doubleOf(value: bigint): number {
  bits.setBigInt64(0, value);
  return bits.getFloat64(0);
}

function percentileOf(form: number, percent: number, held: readonly Held[]): unknown {
  const values = { separator: '', percent, held: new HeldBytes(unlimitedShare()) };
  const accumulator = makeAccumulator('percentile', form === DOUBLE ? 'number' : 'decimal', values);
  accumulator.begin();
  for (const { word: value, meta } of held) {
    accumulator.add(form === DOUBLE ? doubleOf(value) : new Decimal(value, meta));
  }
  return accumulator.end();
}

const TWO_61 = 2n ** 61n;

/**
 * True if the kernel may leave a group to the scalar implementation: too many values, a value that is not a number, or more
 * digits than 64 bits.
 */
function mayLeave(form: number, held: readonly Held[], partScale: number, roomCells: number): boolean {
  if (held.length > roomCells) return true;
  if (form === DOUBLE) return held.some((value) => Number.isNaN(doubleOf(value.word)));
  const scale = Math.max(0, ...held.map(({ meta }) => meta));
  return held.some(({ word: digits, meta }) => {
    const most = (digits < 0n ? -digits : digits) * 10n ** BigInt(scale - meta + partScale + 2);
    return most >= TWO_61;
  });
}

const doubles = fc
  .oneof(
    fc.constantFrom(0, -0, 1, -1.5, 0.1, Number.NaN, Infinity, 5e-324),
    fc.integer({ min: -9, max: 9 }),
    fc.double({ noNaN: true }),
  )
  .map((value): Held => ({ word: bitsOf(value), meta: 0 }));
const decimals = fc.record<Held>({
  word: fc.oneof(
    { weight: 8, arbitrary: fc.bigInt({ min: -50n, max: 50n }) },
    { weight: 8, arbitrary: fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }) },
    { weight: 1, arbitrary: word },
  ),
  meta: fc.constantFrom(0, 1, 2, 2, 3),
});

checkKernel(
  'settlePercentiles: the percentile of each group, or it stops before a group with more than 64 bits',
  fc
    .constantFrom(DOUBLE, DECIMAL)
    .chain((form) =>
      fc.tuple(
        fc.constant(form),
        listsOf(form === DOUBLE ? doubles : decimals, sortedSize),
        fc.constantFrom(...PERCENTS),
        fc.constantFrom(...STRIDES),
        fc.constantFrom(59, 60),
      ),
    ),
  (rig, [form, groups, percent, stride, roomCells], before) => {
    const states = placeLists(rig, groups, stride, before);
    const room = rig.region(roomCells * 16, before);
    const part = decimalFromNumber(percent)!;
    const settings = [form, BigInt(part.digits), part.scale, room, roomCells] as const;
    for (let from = 0; from < GROUPS; from += 1) {
      const reached = rig.exports.settlePercentiles(states, stride, from, GROUPS, ...settings);
      for (; from < reached; from += 1) {
        const state = states + from * stride;
        const expected = percentileOf(form, percent, groups[from]!);
        if (expected === null) equal(rig.bytes[state + STATE_META], META_NULL);
        else if (typeof expected === 'number') deepStrictEqual(rig.double(state), expected);
        else {
          const { digits, scale } = expected as Decimal;
          deepStrictEqual([rig.long(state), rig.bytes[state + STATE_META]], [BigInt(digits), scale]);
        }
      }
      if (from < GROUPS) ok(mayLeave(form, groups[from]!, part.scale, roomCells), 'a group that is left is special');
    }
  },
  RUNS,
);

checkKernel(
  'holdValues and gatherHeld: the largest chunks of a long list',
  fc.constantFrom(CHUNK_CELLS_MOST * 2 - 2, CHUNK_CELLS_MOST * 2 - 1, CHUNK_CELLS_MOST * 3),
  (rig, count, before) => {
    const cells = Array.from({ length: count }, () => ({ group: 1, condition: 1 }));
    const values = rig.region(count * 16, 16);
    const meta = rig.region(count * 2 + 1, before);
    for (let position = 0; position < count; position += 1) {
      rig.setLong(values + rowOf(position) * 8, BigInt(position));
      rig.bytes[meta + rowOf(position)] = position % 250;
    }
    const stride = HELD_BYTES;
    const { fold, states } = placeFold(rig, { values, meta, hasCondition: false, cells, stride }, before);
    fillBlock(rig, count, before, BLOCK_BYTES, (from, next, limit, reached) =>
      rig.exports.holdValues(fold, from, count, next, limit, reached),
    );
    const cursor = rig.wordList(Array<number>(CURSOR_BYTES / 4).fill(0), 8);
    const [words, metas, ids] = [
      rig.region(count * 8, before),
      rig.region(count, before),
      rig.region(count * 4, before),
    ];
    equal(rig.exports.gatherHeld(states, stride, cursor, GROUPS, count, words, metas, ids), count);
    for (let n = 0; n < count; n += 1) {
      if (rig.long(words + n * 8) !== BigInt(n) || rig.bytes[metas + n] !== n % 250) throw new Error(`value ${n}`);
      if (rig.word(ids + n * 4) !== 1) throw new Error(`group of value ${n}`);
    }
  },
  6,
);
