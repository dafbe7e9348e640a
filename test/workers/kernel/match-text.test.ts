// Kernels that compare texts (search-texts.ts, null-texts.ts, sort.ts), each against a reference in JavaScript.
import { deepStrictEqual } from 'node:assert/strict';
import { test } from 'tap';
import {
  FALSE,
  NULL,
  SET,
  TEXT_CONTAINS,
  TEXT_ENDS,
  TEXT_IS_ANY,
  TEXT_IS_NULL,
  TEXT_LESS,
  TEXT_LESS_OR_EQUAL,
  TEXT_STARTS,
  TRUE,
} from '../../../workers/kernel/layout/expressions.ts';
import { LONG } from '../../../workers/kernel/layout/keys.ts';
import { LENGTH_BIT_MAX } from '../../../workers/kernel/layout/null-texts.ts';
import { fc } from '../../random.ts';
import { bytesBefore, columnOf, KernelRig } from './kernel-rig.ts';

function check<T>(
  title: string,
  values: fc.Arbitrary<T>,
  property: (rig: KernelRig, value: T, before: number) => void,
): void {
  test(title, (t) => {
    const rig = new KernelRig();
    const all = fc.property(values, bytesBefore, (value, before) => {
      rig.clear();
      property(rig, value, before);
      rig.checkGuards();
    });
    t.doesNotThrow(() => fc.assert(all, { numRuns: 300 }), title);
    t.end();
  });
}

/** Few letters, so that texts are often equal, or one is a part of the other; some texts are longer than a vector. */
const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'é'), { maxLength: 6 }), fc.constantFrom(0, 0, 14, 15, 16, 17, 40))
  .map(([letters, fill]) => `${'b'.repeat(fill)}${letters.join('')}`);
const texts = columnOf(fc.option(text, { nil: null, freq: 6 }));

type Holds = (value: string, wanted: readonly string[]) => boolean;
const order = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));
const TESTS: readonly (readonly [number, Holds])[] = [
  [TEXT_IS_ANY, (value, wanted) => wanted.includes(value)],
  [TEXT_STARTS, (value, [wanted]) => value.startsWith(wanted!)],
  [TEXT_ENDS, (value, [wanted]) => value.endsWith(wanted!)],
  [TEXT_CONTAINS, (value, [wanted]) => value.includes(wanted!)],
  [TEXT_LESS, (value, [wanted]) => order(value, wanted!) < 0],
  [TEXT_LESS_OR_EQUAL, (value, [wanted]) => order(value, wanted!) <= 0],
];

function stateOf(kind: number, holds: Holds | null, value: string | null, wanted: readonly string[]): number {
  if (holds === null) return value === null ? TRUE : FALSE;
  if (value === null) return kind === TEXT_IS_ANY ? FALSE : NULL;
  return holds(value, wanted) ? TRUE : FALSE;
}

check(
  'matchText: each test, with and without negation',
  fc.tuple(
    texts,
    fc.constantFrom<readonly [number, Holds | null]>(...TESTS, [TEXT_IS_NULL, null]),
    fc.array(text, { minLength: 1, maxLength: 3 }),
    fc.constantFrom(0, 1),
  ),
  (rig, [values, [kind, holds], several, negate], before) => {
    const wanted = kind === TEXT_IS_ANY ? several : several.slice(0, 1);
    const views = rig.texts(values, before);
    const places = wanted.flatMap((one) => {
      const bytes = [...Buffer.from(one)];
      return [rig.byteList(bytes, before + 1), bytes.length];
    });
    const states = rig.byteList(
      values.map(() => 7),
      before,
    );
    const list = rig.wordList(places, 16);
    const rows = rig.rows(values.length);
    rig.exports.matchText(views, rows, values.length, kind, list, wanted.length, negate, states, SET);
    deepStrictEqual(
      rig.byteValues(states, values.length),
      values.map((value) => {
        const state = stateOf(kind, holds, value, wanted);
        return state > TRUE ? state : state ^ negate;
      }),
    );
  },
);

const COMPARED = TESTS.filter(([kind]) => [TEXT_IS_ANY, TEXT_LESS, TEXT_LESS_OR_EQUAL].includes(kind));

check(
  'compareTexts: each cell with the one of another column',
  fc.tuple(
    columnOf(fc.tuple(fc.option(text, { nil: null, freq: 6 }), fc.option(text, { nil: null, freq: 6 }))),
    fc.constantFrom(...COMPARED),
    fc.constantFrom(0, 1),
  ),
  (rig, [pairs, [kind, holds], negate], before) => {
    const [views, others] = [0, 1].map((side) =>
      rig.texts(
        pairs.map((pair) => pair[side] ?? null),
        before + side,
      ),
    ) as [number, number];
    const states = rig.byteList(
      pairs.map(() => 7),
      before,
    );
    const rows = rig.rows(pairs.length);
    rig.exports.compareTexts(views, rows, others, rows, pairs.length, kind, negate, states, SET);
    deepStrictEqual(
      rig.byteValues(states, pairs.length),
      pairs.map(([left, right]) => {
        if (left !== null && right !== null) return Number(holds(left, [right])) ^ negate;
        return kind === TEXT_IS_ANY ? Number(left === right) ^ negate : NULL;
      }),
    );
  },
);

const COLUMNS = 2;
const part = fc.option(fc.constantFrom('', 'a', 'b', 'ab', 'x'.repeat(253), 'x'.repeat(254), 'y'.repeat(300)), {
  nil: null,
});
const key = fc.record({ group: fc.tuple(part, part), order: fc.constantFrom('', 'p', 'q', 'pq') });

/** Composes keys like execution/aggregate/group-order.ts: each column of the group after its length, then the order. */
function keyBytes({ group, order: after }: { group: readonly (string | null)[]; order: string }): string {
  const columns = group.map((cell) => {
    if (cell === null) return Buffer.of(0);
    if (cell.length + 1 < LONG) return Buffer.concat([Buffer.of(cell.length + 1), Buffer.from(cell)]);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(cell.length);
    return Buffer.concat([Buffer.of(LONG), length, Buffer.from(cell)]);
  });
  return Buffer.concat([...columns, Buffer.from(after)]).toString('latin1');
}

check('markGroups: where groups begin, and which keys are equal', columnOf(key), (rig, keys, before) => {
  const bytes = keys.map((one) => [...Buffer.from(keyBytes(one), 'latin1')]);
  const all = rig.byteList(bytes.flat(), before);
  let next = all;
  const views = rig.wordList(
    bytes.flatMap((one) => {
      const view = [0, 0, next, one.length];
      next += one.length;
      return view;
    }),
    16,
  );
  const [starts, ties] = [
    rig.byteList(
      keys.map(() => 7),
      before,
    ),
    rig.byteList(
      keys.map(() => 7),
      before,
    ),
  ];
  rig.exports.markGroups(views, rig.rows(keys.length), keys.length, COLUMNS, 0, 0, starts, ties);
  const same = keys.map((one, index) => {
    const last = keys[index - 1];
    const isSame = last?.group.every((cell, column) => cell === one.group[column]) === true;
    return { isSame, isTie: isSame && last.order === one.order };
  });
  deepStrictEqual(
    rig.byteValues(starts, keys.length),
    same.map(({ isSame }) => (isSame ? 0 : 1)),
  );
  deepStrictEqual(
    rig.byteValues(ties, keys.length),
    same.map(({ isTie }) => (isTie ? 1 : 0)),
  );
});

const LONG_NULL = 'n'.repeat(LENGTH_BIT_MAX + 4);
const cell = fc.constantFrom(
  '',
  'NULL',
  '"NULL"',
  'NA',
  '"NA"',
  'NUL',
  '"',
  '""',
  LONG_NULL,
  `"${LONG_NULL}"`,
  `${LONG_NULL}n`,
);

check(
  'findNullTexts: columns with a text that means missing, quoted or not',
  fc.tuple(columnOf(fc.tuple(cell, cell, cell)), fc.subarray(['NULL', 'NA', LONG_NULL])),
  (rig, [rows, nulls], before) => {
    const line = rows.map((cells) => cells.join(',')).join('\n');
    const at = rig.byteList([...Buffer.from(`\n${line}\n`)], before);
    let next = at;
    const table = rows.flatMap((cells) => [next, ...cells.map(({ length }) => (next += length + 1))]);
    const encoded = nulls.flatMap((value) => {
      const bytes = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
      bytes.writeUInt32LE(value.length);
      bytes.write(value, 4);
      return [...bytes];
    });
    const head = Buffer.alloc(8);
    head.writeUInt32LE(nulls.length);
    head.writeUInt32LE(nulls.reduce((bits, { length }) => bits | (1 << Math.min(length, LENGTH_BIT_MAX)), 0) >>> 0, 4);
    const list = rig.byteList([...head, ...encoded], 16);
    const marks = rig.byteList([0, 0, 0], before);
    rig.exports.findNullTexts(rig.wordList(table, 16), rows.length, 3, '"'.charCodeAt(0), list, marks);
    const isNull = (value: string): boolean => nulls.includes(value.replace(/^"(.*)"$/s, '$1'));
    deepStrictEqual(
      rig.byteValues(marks, 3),
      [0, 1, 2].map((column) => (rows.some((cells) => isNull(cells[column]!)) ? 1 : 0)),
    );
  },
);
