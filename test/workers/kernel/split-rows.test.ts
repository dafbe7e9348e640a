// Kernels that split cells into rows (explode.ts) or into the values of keys (split-pairs.ts), against references that use
// strings of JavaScript.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { test } from 'tap';
import {
  CELL_KINDS,
  COPIES,
  COPIES_MAX,
  FREE_END,
  ITEMS_MAX,
  KIND_TEXT,
  LIST_KINDS,
  LIST_META,
  LIST_NUMBERS,
  LIST_ROWS,
  LIST_VIEWS,
  META_NULL,
  NEXT_FREE,
  POSITION,
  STATE_BYTES,
  STOPPED_AT_CELL,
  STOPPED_AT_END,
  STOPPED_NO_SPACE,
} from '../../../workers/kernel/layout/cells.ts';
import * as pairs from '../../../workers/kernel/layout/texts.ts';
import { jsonItems, jsonKind } from '../../../workers/values/json-text.ts';
import { foldCase, trimWhiteSpace } from '../../../workers/values/text-edits.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { jsonCell, placeJsonState } from './json-texts.ts';
import { checkKernel, columnOf, KernelRig, rowOf } from './kernel-rig.ts';

const RUNS = sweep({ short: 80, long: 250 });

interface Copy {
  readonly position: number;
  readonly text: string | null;
  readonly kind: number;
  /** From 1, or null for a cell without a value. */
  readonly number: bigint | null;
}

interface Lists {
  readonly copiesMax: number;
  readonly itemsMax: number;
  readonly hasKinds: boolean;
  readonly hasNumbers: boolean;
  /** Initial size of the memory for texts. A call for which it is too small gets twice as much. */
  readonly freeBytes: number;
}

const lists = fc.record<Lists>({
  copiesMax: fc.constantFrom(1, 3, 16, 200),
  itemsMax: fc.constantFrom(1, 2, 3, 100),
  hasKinds: fc.boolean(),
  hasNumbers: fc.boolean(),
  freeBytes: fc.constantFrom(0, 20, 100),
});

/** Native kind of the cell of a row. */
const kindOf = (position: number): number => position % 6;

const FREE_BYTES_MAX = 20_000;

/**
 * Runs a kernel to the end, and continues it each time its lists or its memory are full. Skips the cells at which the kernel
 * stops. Returns all copies, and the positions of the skipped cells.
 */
function explode(
  rig: KernelRig,
  count: number,
  form: Lists,
  before: number,
  run: (state: number) => number,
): { copies: Copy[]; left: number[] } {
  const { copiesMax, itemsMax, hasKinds, hasNumbers } = form;
  const kinds = rig.region(count * 2 + 1, before);
  for (let position = 0; position < count; position += 1) rig.bytes[kinds + rowOf(position)] = kindOf(position);
  const free = rig.region(FREE_BYTES_MAX, before);
  const state = rig.wordList(Array<number>(STATE_BYTES / 4).fill(0), 8);
  for (const [field, value] of [
    [COPIES_MAX, copiesMax],
    [ITEMS_MAX, itemsMax],
    [LIST_ROWS, rig.region(copiesMax * 4, before)],
    [LIST_VIEWS, rig.region(copiesMax * 8, before)],
    [LIST_KINDS, hasKinds ? rig.region(copiesMax, before) : 0],
    [CELL_KINDS, hasKinds ? kinds : 0],
    [LIST_NUMBERS, hasNumbers ? rig.region(copiesMax * 8, before) : 0],
    [LIST_META, hasNumbers ? rig.region(copiesMax, before) : 0],
  ] as const) {
    rig.setWord(state + field, value);
  }
  const copies: Copy[] = [];
  const left: number[] = [];
  for (let bytes = form.freeBytes; ; ) {
    rig.setWord(state + NEXT_FREE, free);
    rig.setWord(state + FREE_END, free + bytes);
    const why = run(state);
    ok(rig.word(state + NEXT_FREE) <= free + bytes);
    const made = rig.word(state + COPIES);
    copies.push(...copiesIn(rig, state, made));
    rig.setWord(state + COPIES, 0);
    if (why === STOPPED_AT_END) return { copies, left };
    if (why === STOPPED_NO_SPACE && made === 0) bytes = bytes * 2 + 1;
    ok(bytes <= FREE_BYTES_MAX);
    if (why !== STOPPED_AT_CELL) continue;
    left.push(rig.word(state + POSITION));
    rig.setWord(state + POSITION, rig.word(state + POSITION) + 1);
  }
}

function copiesIn(rig: KernelRig, state: number, count: number): Copy[] {
  const [rows, views, kinds, numbers, meta] = [LIST_ROWS, LIST_VIEWS, LIST_KINDS, LIST_NUMBERS, LIST_META].map(
    (field) => rig.word(state + field),
  ) as [number, number, number, number, number];
  return Array.from({ length: count }, (_, copy) => ({
    position: (rig.word(rows + copy * 4) - 1) / 2,
    text: rig.textAt(views + copy * 8) as string | null,
    kind: kinds === 0 ? KIND_TEXT : rig.bytes[kinds + copy]!,
    number: numbers === 0 || rig.bytes[meta + copy] === META_NULL ? null : rig.long(numbers + copy * 8),
  }));
}

/** The copies of a row, one for each value. Without a value, the row is copied once. */
function copiesOf(position: number, values: readonly (string | null)[], cell: string | null, form: Lists): Copy[] {
  if (values.length === 0) return [{ position, text: null, kind: KIND_TEXT, number: null }];
  return values.map((text, index) => ({
    position,
    text,
    kind: form.hasKinds && cell !== null && text === cell ? kindOf(position) : KIND_TEXT,
    number: form.hasNumbers ? BigInt(index + 1) : null,
  }));
}

const piece = fc.constantFrom('a', ',', '::', ' ', '\u00a0', '\u3000', 'é', ':', 'x'.repeat(14), 'x'.repeat(17));
const plain = fc.array(piece, { maxLength: 9 }).map((parts) => parts.join(''));

checkKernel(
  'explodeTexts: a copy for each value of a cell, from one full list to the next',
  fc.tuple(
    columnOf(fc.option(plain, { nil: null, freq: 8 })),
    fc.constantFrom(',', '::', 'é', 'aa', 'xx'),
    fc.boolean(),
    lists,
  ),
  (rig, [cells, separator, trims, form], before) => {
    const count = cells.length;
    const views = rig.texts(cells, before);
    const bytes = [...Buffer.from(separator)];
    const [at, rows] = [rig.byteList(bytes, before), rig.rows(count)];
    const { copies, left } = explode(rig, count, form, before, (state) =>
      rig.exports.explodeTexts(state, views, rows, count, at, bytes.length, Number(trims)),
    );
    const expected: Copy[] = [];
    const tooMany: number[] = [];
    for (const [position, cell] of cells.entries()) {
      const parts = cell === null || cell === '' ? [] : cell.split(separator);
      const values = parts.map((part) => (trims ? trimWhiteSpace(part) : part) || null);
      if (values.length > form.itemsMax) tooMany.push(position);
      else expected.push(...copiesOf(position, values, cell, form));
    }
    deepStrictEqual(left, tooMany);
    deepStrictEqual(copies, expected);
  },
  RUNS,
);

checkKernel(
  'explodeLists: a copy for each item of a JSON array, and it stops at other cells',
  fc.tuple(
    columnOf(
      fc.option(
        fc.oneof(
          jsonCell,
          fc.array(jsonCell, { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
        ),
        { nil: null, freq: 8 },
      ),
    ),
    fc.boolean(),
    lists,
  ),
  (rig, [cells, makesTexts, form], before) => {
    const count = cells.length;
    const views = rig.texts(cells, before);
    const [json, rows] = [placeJsonState(rig), rig.rows(count)];
    const { copies, left } = explode(rig, count, form, before, (state) =>
      rig.exports.explodeLists(state, json, views, rows, count, Number(makesTexts)),
    );
    const expected: Copy[] = [];
    const others: number[] = [];
    for (const [position, cell] of cells.entries()) {
      const isList = cell !== null && jsonKind(cell) === 'array';
      const values = isList ? [...jsonItems(cell)].map((item) => itemCell(item, makesTexts)) : [];
      if ((cell !== null && cell !== '' && !isList) || values.length > form.itemsMax) others.push(position);
      else expected.push(...copiesOf(position, values, null, form));
    }
    deepStrictEqual(left, others);
    deepStrictEqual(copies, expected);
  },
  RUNS,
);

function itemCell(item: string, makesTexts: boolean): string | null {
  if (item === 'null' || item === '""') return null;
  return makesTexts && item.startsWith('"') ? Buffer.from(JSON.parse(item) as string).toString() : item;
}

/** Places the state of splitPairs, and indexes its keys. */
function placePairs(
  rig: KernelRig,
  { pair, colon, keys }: { readonly pair: string; readonly colon: string; readonly keys: readonly string[] },
  before: number,
): number {
  const place = (text: string): [number, number] => [
    rig.byteList([...Buffer.from(text)], before),
    Buffer.byteLength(text),
  ];
  let next = rig.byteList([...Buffer.from(keys.join(''))], before);
  const list = keys.flatMap((key) => {
    const entry = [next, Buffer.byteLength(key)];
    next += entry[1]!;
    return entry;
  });
  const words = Array<number>(pairs.STATE_BYTES / 4).fill(0);
  [words[pairs.PAIR / 4], words[pairs.PAIR_BYTES / 4]] = place(pair);
  [words[pairs.COLON / 4], words[pairs.COLON_BYTES / 4]] = place(colon);
  words[pairs.KEYS / 4] = rig.wordList(list, 8);
  words[pairs.KEY_COUNT / 4] = keys.length;
  words[pairs.SLOTS / 4] = rig.region(pairs.KEY_SLOTS * 4, 8);
  const state = rig.wordList(words, 8);
  rig.exports.indexPairKeys(state);
  return state;
}

checkKernel(
  'indexPairKeys: each key in one slot, and the length of the longest key',
  fc.uniqueArray(fc.string({ unit: fc.constantFrom(...'abcdefgh', 'é'), minLength: 1, maxLength: 9 }), {
    minLength: 1,
    maxLength: 100,
    size: 'max',
  }),
  (rig, keys, before) => {
    const state = placePairs(rig, { pair: ';', colon: ':', keys }, before);
    equal(rig.word(state + pairs.KEY_BYTES_MAX), Math.max(...keys.map((key) => Buffer.byteLength(key))));
    const slots = rig.wordValues(rig.word(state + pairs.SLOTS), pairs.KEY_SLOTS).filter((slot) => slot !== 0);
    deepStrictEqual(
      slots.sort((a, b) => a - b),
      keys.map((_, index) => index + 1),
    );
  },
  RUNS,
);

function pairValues(text: string, pair: string, colon: string, keys: readonly string[]): (string | null)[] {
  const values: (string | null)[] = keys.map(() => null);
  for (const part of text.split(pair)) {
    const at = part.indexOf(colon);
    const key = at < 0 ? -1 : keys.indexOf(foldCase(part.slice(0, at).trim()));
    if (key >= 0) values[key] = part.slice(at + colon.length).trim() || null;
  }
  return values;
}

const pairPart = fc.constantFrom(
  ...['a', 'B', 'size', 'SIZE', ';', ';', ':', ':', '=', '&', ' ', '\t', 'x', 'é'],
  ...['k'.repeat(16), 'v'.repeat(17)],
);

checkKernel(
  'splitPairs: the values of the keys, or it lists a row that has a character beyond ASCII',
  fc.tuple(
    columnOf(
      fc.option(
        fc.array(pairPart, { maxLength: 14 }).map((parts) => parts.join('')),
        { nil: null, freq: 8 },
      ),
    ),
    fc.constantFrom<[string, string]>([';', ':'], ['&', '='], [';', ': '], ['; ', ':']),
    fc.uniqueArray(fc.constantFrom('a', 'b', 'size', 'x', 'k'.repeat(16)), { minLength: 1, maxLength: 4 }),
  ),
  (rig, [cells, [pair, colon], keys], before) => {
    const count = cells.length;
    const views = rig.texts(cells, before);
    const state = placePairs(rig, { pair, colon, keys }, before);
    const stride = count * 16;
    const found = rig.region(stride * keys.length, 16);
    rig.bytes.fill(0, found, found + stride * keys.length);
    const todo = rig.wordList(Array<number>(count + 1).fill(0), 8);
    equal(rig.exports.splitPairs(state, views, rig.rows(count), count, found, stride, todo), 1);
    const listed = rig.wordValues(todo + 4, rig.word(todo));
    for (const [position, cell] of cells.entries()) {
      const isListed = listed.includes(rowOf(position));
      if (isListed) ok(/[^\0-\x7f]/.test(cell!));
      const none: (string | null)[] = keys.map(() => null);
      deepStrictEqual(
        keys.map((_, key) => rig.textAt(found + key * stride + rowOf(position) * 8)),
        cell === null || isListed ? none : pairValues(cell, pair, colon, keys),
      );
    }
  },
  RUNS,
);

test('splitPairs stops after a portion of a long text, and continues with the next pair', (t) => {
  const rig = new KernelRig();
  const text = `a:1;${'n:0;'.repeat(25_000)}b:2`;
  const keys = ['a', 'b', 'n'];
  const views = rig.texts([text], 17);
  const state = placePairs(rig, { pair: ';', colon: ':', keys }, 17);
  const found = rig.region(16 * keys.length, 16);
  rig.bytes.fill(0, found, found + 16 * keys.length);
  const todo = rig.wordList([0, 0], 8);
  const rows = rig.rows(1);
  const run = (): number => rig.exports.splitPairs(state, views, rows, 1, found, 16, todo);
  t.equal(run(), 0, 'a portion is full');
  t.equal(run(), 1, 'the rest fits in another one');
  t.strictSame(
    keys.map((_, key) => rig.textAt(found + key * 16 + rowOf(0) * 8)),
    ['1', '2', '0'],
  );
  rig.checkGuards();
  t.end();
});
