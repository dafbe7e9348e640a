// Kernels for white space around and inside cells (edit-texts.ts), against regular expressions over Unicode White_Space.
import { deepStrictEqual, equal } from 'node:assert/strict';
import { test } from 'tap';
import { FALSE, SET, TEXT_BYTES_MAX, TRUE, UNKNOWN } from '../../../workers/kernel/layout/expressions.ts';
import { fc } from '../../random.ts';
import { bytesBefore, columnOf, KernelRig, rowOf } from './kernel-rig.ts';

/**
 * All characters of Unicode White_Space, neighbouring characters that are not white space, and letters whose first or last byte
 * is that of a space.
 */
const CHARACTERS =
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000\u200b\u2060\ufeff\u00e0\u4e80ab'.split(
    '',
  );
const text = fc
  .array(fc.constantFrom(...CHARACTERS, ' ', ' ', 'x'), { maxLength: 40 })
  .map((characters) => characters.join(''));
const texts = columnOf(fc.option(text, { nil: null, freq: 8 }));

const SPACE = /^\p{White_Space}+|\p{White_Space}+$/gu;
const SPACES = /\p{White_Space}+/gu;
const isBlank = (value: string | null): boolean => value === null || value.replace(SPACES, '') === '';

type Property = (texts: readonly (string | null)[], before: number) => void;

function check(title: string, property: (rig: KernelRig) => Property): void {
  test(title, (t) => {
    const rig = new KernelRig();
    const holds = property(rig);
    const all = fc.property(texts, bytesBefore, (values, before) => {
      rig.clear();
      holds(values, before);
      rig.checkGuards();
    });
    t.doesNotThrow(() => fc.assert(all, { numRuns: 300 }), title);
    t.end();
  });
}

check('trimViews: views without the white space at both ends', (rig) => (values, before) => {
  const views = rig.texts(values, before);
  rig.exports.trimViews(views, rig.rows(values.length), values.length);
  deepStrictEqual(
    rig.textsOf(views, values.length),
    values.map((value) => value?.replace(SPACE, '') ?? null),
  );
});

check(
  'collapseSpaces: one space for each run of white space, or 0 if the region is too small',
  (rig) => (values, before) => {
    const expected = values.map((value) => value?.replace(SPACES, ' ') ?? null);
    const changed = values.filter((value, index) => value !== expected[index]);
    const bytesMax = changed.reduce((sum, value) => sum + Buffer.byteLength(value!), 0);
    const views = rig.texts(values, before);
    const rows = rig.rows(values.length);
    const next = rig.region(bytesMax, before);
    const end = rig.exports.collapseSpaces(views, rows, values.length, next, next + bytesMax) >>> 0;
    deepStrictEqual(rig.textsOf(views, values.length), expected);
    equal(end - next <= bytesMax, true, 'the end is within the region');
    const [first] = changed;
    if (first === undefined) return;
    rig.clear();
    const again = rig.texts([first], before);
    const small = rig.region(Buffer.byteLength(first!) - 1, before);
    const limit = small + Buffer.byteLength(first!) - 1;
    equal(rig.exports.collapseSpaces(again, rig.rows(1), 1, small, limit), 0, 'too small');
    deepStrictEqual(rig.textsOf(again, 1), [first], 'the cell is unchanged');
  },
);

check('keepBlank and keepEmpty: the rows of blank and of empty cells, in their order', (rig) => (values, before) => {
  const views = rig.texts(values, before);
  for (const [keep, holds] of [
    [rig.exports.keepBlank, isBlank],
    [rig.exports.keepEmpty, (value: string | null) => value === null || value === ''],
  ] as const) {
    const rows = rig.rows(values.length);
    const kept = keep(views, rows, values.length) >>> 0;
    const expected = values.flatMap((value, position) => (holds(value) ? [rowOf(position)] : []));
    deepStrictEqual(rig.wordValues(rows, kept), expected);
  }
});

check('matchBlank: whether each cell is blank', (rig) => (values, before) => {
  const views = rig.texts(values, before);
  const states = rig.byteList(
    values.map(() => UNKNOWN),
    before,
  );
  rig.exports.matchBlank(views, rig.rows(values.length), values.length, states, SET);
  deepStrictEqual(
    rig.byteValues(states, values.length),
    values.map((value) => (isBlank(value) ? TRUE : FALSE)),
  );
});

test('matchBlank: a text beyond the limit of kernels is unknown', (t) => {
  const rig = new KernelRig();
  const views = rig.texts([' '.repeat(TEXT_BYTES_MAX), ' '.repeat(TEXT_BYTES_MAX + 1)], 200);
  const states = rig.byteList([FALSE, FALSE], 0);
  rig.exports.matchBlank(views, rig.rows(2), 2, states, SET);
  t.strictSame(rig.byteValues(states, 2), [TRUE, UNKNOWN]);
  t.end();
});
