// The kernel of likeness gives the same doubles as its plain twin, bit by bit; texts beyond it are handed back.
import { test } from 'tap';
import {
  NULL,
  UNKNOWN,
  VECTOR_MARKS,
  VECTOR_STEP_BYTES,
  VECTOR_VALUES,
} from '../../../workers/kernel/layout/expressions.ts';
import { COMPARED_LENGTH_MAX, jaroWinkler } from '../../../workers/values/likeness.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { makeMemory } from '../operations/harness.ts';

const { kernel, heap } = makeMemory();
const views = heap.allocate(16);
const rows = heap.allocate(8);
const texts = heap.allocate(4096);
const [vector, values, marks] = [heap.allocate(16), heap.allocate(8), heap.allocate(8)];

/** What the kernel says of two texts: a double, or its mark. */
function likeness(left: string | null, right: string | null): number | 'null' | 'unknown' {
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
  kernel.exports.compareLikeness(views, rows, views, rows + 4, 1, vector, COMPARED_LENGTH_MAX);
  const mark = heap.u8[marks];
  if (mark === NULL) return 'null';
  return mark === UNKNOWN ? 'unknown' : heap.f64[values >>> 3]!;
}

test('two texts are as like as by hand', async (t) => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', 'é', '漢', 'A', ' '), maxLength: 80 }),
    fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀'), maxLength: 6 }),
    fc.constantFrom('MARTHA', 'MARHTA', 'DIXON', 'DICKSONX', 'x'.repeat(64), 'x'.repeat(65)),
  );
  fc.assert(
    fc.property(text, text, (left, right) => {
      const [a, b] = [[...left], [...right]];
      const isBeyond = a.length > 64 || b.length > 64 || left.includes('😀') || right.includes('😀');
      return likeness(left, right) === (isBeyond ? 'unknown' : jaroWinkler(a, b));
    }),
    { numRuns: sweep({ short: 2000, long: 100_000 }) },
  );
  t.equal(likeness(null, 'a'), 'null');
  t.equal(likeness('', ''), 1);
});
