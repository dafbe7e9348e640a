// Marks and lists of rows, choices between texts, and counts of characters: kernels against their scalar reference
// implementations.

import { test } from 'tap';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { makeMemory } from '../operations/harness.ts';
import * as plain from './scalar/marks.ts';

const ROWS = 50;
const byte = (values: readonly number[]) => fc.array(fc.constantFrom(...values), { minLength: ROWS, maxLength: ROWS });
const rowLists = fc.subarray(Array.from({ length: ROWS }, (_, row) => row));

test('marks equal those of the scalar reference', async (t) => {
  const { heap, arena, kernel } = makeMemory();
  const { exports } = kernel;
  const view = fc.record({ at: fc.constantFrom(0, 4096), bytes: fc.constantFrom(0, 1, 70_000) });
  const views = fc.array(view, { minLength: ROWS, maxLength: ROWS });
  const property = fc.property(
    rowLists,
    byte([0, 1]),
    byte([0, 1, 2, 3]),
    byte([0, 1, 3, 255]),
    views,
    (rows, before, states, meta, cells) => {
      arena.clear();
      const bytes = (values: readonly number[]): number => {
        const at = arena.take(values.length + 16);
        heap.u8.set(values, at);
        return at;
      };
      const words = (values: readonly number[]): number => {
        const at = arena.take(values.length * 4 + 16);
        heap.u32.set(values, at >>> 2);
        return at;
      };
      const [list, count] = [words(rows), rows.length];
      const placed = words(cells.flatMap(({ at, bytes: length }) => [at, length]));
      const after = (run: (marks: number) => void): number[] => {
        const marks = bytes(before);
        run(marks);
        return [...heap.u8.subarray(marks, marks + ROWS)];
      };
      const [stateBytes, metaBytes, known] = [bytes(states), bytes(meta), bytes(before)];
      const flipped = before.map((mark, row) => (row % 3 === 0 ? 1 - mark : mark));
      const others = bytes(flipped);
      const made = [
        after((marks) => exports.markTrue(stateBytes, list, count, marks)),
        after((marks) => exports.markFound(placed, list, count, marks)),
        after((marks) => exports.markEmpty(placed, list, count, marks)),
        after((marks) => exports.markMeta(metaBytes, list, count, 3, marks)),
        after((marks) => exports.markOthers(others, list, count, marks)),
      ];
      const kept = exports.keepMarked(known, list, count);
      const expected = [
        plain.marks.markTrue(states, rows, before),
        plain.marks.markFound(cells, rows, before),
        plain.marks.markEmpty(cells, rows, before),
        plain.marks.markMeta(meta, rows, 3, before),
        plain.marks.markOthers(flipped, rows, before),
      ];
      const isKept =
        [...heap.u32.subarray(list >>> 2, (list >>> 2) + kept)].join() === plain.keepMarked(before, rows).join();
      return isKept && made.join(';') === expected.join(';');
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 63, long: 1_000 }) }));
});

test('rows outside a list equal those of the scalar reference', async (t) => {
  const { heap, arena, kernel } = makeMemory();
  const property = fc.property(rowLists, byte([0, 1]), fc.nat(ROWS), (rows, named, after) => {
    arena.clear();
    const listed = rows.filter((row) => named[row] === 1);
    const words = (values: readonly number[]): number => {
      const at = arena.take(values.length * 4 + 16);
      heap.u32.set(values, at >>> 2);
      return at;
    };
    const list = words(rows);
    // A row after the end of the list is not part of it.
    const other = words([...listed, after]);
    const kept = arena.take(rows.length * 4);
    const guard = arena.take(16);
    heap.u32[guard >>> 2] = 77;
    const count = kernel.exports.keepUnlisted(list, rows.length, other, listed.length, kept);
    const made = [...heap.u32.subarray(kept >>> 2, (kept >>> 2) + count)];
    return heap.u32[guard >>> 2] === 77 && made.join() === plain.keepUnlisted(rows, listed).join();
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 63, long: 1_000 }) }));
});

test('characters are counted, and texts chosen, as by the twin', async (t) => {
  const { heap, arena, kernel } = makeMemory();
  const unit = fc.constantFrom('a', 'ß', '漢', '😀', '\u0301', 'long and plain ');
  const texts = fc.array(fc.option(fc.string({ unit, maxLength: 40 }), { freq: 5 }), { minLength: 1, maxLength: ROWS });
  const property = fc.property(texts, fc.nat(30), fc.nat(30), byte([0, 1, 2, 3]), (cells, least, span, random) => {
    arena.clear();
    const views = arena.take(cells.length * 8);
    const rows = arena.take(cells.length * 4);
    for (const [row, cell] of cells.entries()) {
      const at = arena.next;
      const length = cell === null ? 0 : arena.write(cell);
      heap.u32.set(cell === null ? [0, 0] : [at, length], (views >>> 2) + row * 2);
      heap.u32[(rows >>> 2) + row] = row;
    }
    const states = arena.take(cells.length + 16);
    kernel.exports.matchLength(views, rows, cells.length, least, least + span, states, 0);
    const counted = [...heap.u8.subarray(states, states + cells.length)];
    const given = random.slice(0, cells.length);
    heap.u8.set(given, states);
    const choice = arena.take(16);
    heap.u32.set([100, 1, 200, 2], choice >>> 2);
    // The same text at all positions.
    const same = arena.take(cells.length * 4);
    kernel.exports.fillRows(same, cells.length, 0);
    const vector = arena.take(cells.length * 8);
    kernel.exports.chooseTexts(states, cells.length, choice + 8, same, choice, same, vector);
    const todo = arena.take((cells.length + 1) * 4);
    kernel.exports.storeTexts(vector, rows, cells.length, views, todo);
    const { chosen, left } = plain.chooseTexts(given, [...cells.keys()]);
    const areChosen = [...chosen].every(([row, text]) => {
      const at = (views >>> 2) + row * 2;
      return heap.u32[at] === (text === 1 ? 200 : 100) && heap.u32[at + 1] === text + 1;
    });
    const back = [...heap.u32.subarray((todo >>> 2) + 1, (todo >>> 2) + 1 + heap.u32[todo >>> 2]!)];
    return (
      areChosen &&
      back.join() === left.join() &&
      counted.join() === plain.matchLength(cells, least, least + span).join()
    );
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 63, long: 1_000 }) }));
});
