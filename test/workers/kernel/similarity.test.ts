// Kernels that compare spellings (similarity.ts) against values/similarity.ts: the same doubles bit by bit, and the same keys.
// Texts that a kernel does not support are left to that reference.
import { deepStrictEqual, equal } from 'node:assert/strict';
import { test } from 'tap';
import {
  NULL,
  UNKNOWN,
  VECTOR_MARKS,
  VECTOR_STEP_BYTES,
  VECTOR_VALUES,
} from '../../../workers/kernel/layout/expressions.ts';
import { DROP, LEAVE } from '../../../workers/kernel/layout/texts.ts';
import { COMPARED_LENGTH_MAX, fingerprintOf, jaroWinkler } from '../../../workers/values/similarity.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { makeMemory } from '../operations/harness.ts';
import { checkKernel, columnOf, rowOf } from './kernel-rig.ts';

const { kernel, heap } = makeMemory();
const views = heap.allocate(16);
const rows = heap.allocate(8);
const texts = heap.allocate(4096);
const [vector, values, marks] = [heap.allocate(16), heap.allocate(8), heap.allocate(8)];

/** The kernel's result for two texts: a double, or the mark of a missing result. */
function similarityOf(left: string | null, right: string | null): number | 'null' | 'unknown' {
  let next = texts;
  for (const [index, text] of [left, right].entries()) {
    const bytes = Buffer.from(text ?? '');
    heap.u8.set(bytes, next);
    heap.u32.set([text === null ? 0 : next, bytes.length], (views >>> 2) + index * 2);
    next += bytes.length;
  }
  heap.u32.set([0, 1], rows >>> 2);
  heap.u32[(vector + VECTOR_VALUES) >>> 2] = values;
  heap.u32[(vector + VECTOR_MARKS) >>> 2] = marks;
  heap.u32[(vector + VECTOR_STEP_BYTES) >>> 2] = 8;
  kernel.exports.compareSimilarity(views, rows, views, rows + 4, 1, vector, COMPARED_LENGTH_MAX);
  const mark = heap.u8[marks];
  if (mark === NULL) return 'null';
  return mark === UNKNOWN ? 'unknown' : heap.f64[values >>> 3]!;
}

test('the similarity of two texts equals that of the reference', async (t) => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', 'é', '漢', 'A', ' '), maxLength: 80 }),
    fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀'), maxLength: 6 }),
    fc.constantFrom('MARTHA', 'MARHTA', 'DIXON', 'DICKSONX', 'x'.repeat(64), 'x'.repeat(65)),
  );
  fc.assert(
    fc.property(text, text, (left, right) => {
      const [a, b] = [[...left], [...right]];
      const isBeyond = a.length > 64 || b.length > 64 || left.includes('😀') || right.includes('😀');
      return similarityOf(left, right) === (isBeyond ? 'unknown' : jaroWinkler(a, b));
    }),
    { numRuns: sweep({ short: 500, long: 100_000 }) },
  );
  t.equal(similarityOf(null, 'a'), 'null');
  t.equal(similarityOf('', ''), 1);
});

/** The replacement of each byte of a text. */
const SPELLED = Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return LEAVE;
  const character = String.fromCharCode(byte);
  return /\s/.test(character) ? 32 : fingerprintOf(character).charCodeAt(0) || DROP;
});

const word = fc.constantFrom('a', 'B', 'ab', 'b', '-', ' ', '\t', 'O.', 'x'.repeat(15), 'X'.repeat(16), 'é', '7');
const name = fc.oneof(
  { weight: 9, arbitrary: fc.array(word, { maxLength: 8 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.constantFrom(31, 32, 33).map((words) => Array.from({ length: words }, String).join(' ')) },
  { weight: 1, arbitrary: fc.constantFrom(1024, 1025).map((length) => 'y '.repeat(length).slice(0, length)) },
);

checkKernel(
  'wordKeys: the distinct words of a text in order, or it lists a row with other text or too many words',
  fc.tuple(columnOf(name), fc.boolean()),
  (rig, [cells, isShort], before) => {
    const count = cells.length;
    const [list, spelled] = [rig.rows(count), rig.byteList(SPELLED, before)];
    const places = rig.texts(cells, before);
    const todo = rig.region((count + 1) * 4, before);
    const total = cells.reduce((sum, cell) => sum + Buffer.byteLength(cell), 0);
    const free = isShort ? 0 : total;
    const next = rig.region(free, before);
    const end = rig.exports.wordKeys(places, list, count, spelled, next, next + free, todo) >>> 0;
    equal(end === 0, isShort && total > 0);
    if (end === 0) return;
    const isLeft = (cell: string): boolean =>
      /[^\0-\x7f]/.test(cell) || cell.length > 1024 || new Set(cell.split(' ')).size > 32;
    const left = cells.flatMap((cell, position) => (isLeft(cell) ? [rowOf(position)] : []));
    deepStrictEqual(rig.wordValues(todo + 4, rig.word(todo)), left);
    const kept = cells.flatMap((cell, position) => (isLeft(cell) ? [] : [rowOf(position)]));
    deepStrictEqual(rig.wordValues(list, kept.length), kept);
    for (const [position, cell] of cells.entries()) {
      equal(rig.textAt(places + rowOf(position) * 8), isLeft(cell) ? cell : fingerprintOf(cell));
    }
  },
  sweep({ short: 80, long: 600 }),
);
