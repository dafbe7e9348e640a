// Sort keys of long texts, case-insensitive or with their numbers by value: keys are made with pauses within one cell, and have
// the same bytes as without pauses.
import { test } from 'tap';
import { SortKeys, SortKeyWriter, type SortTerm } from '../../../../workers/execution/sort/sort-keys.ts';
import { CellReader } from '../../../../workers/expression/compile/cell-values.ts';
import { operationTable } from '../../../../workers/operations/index.ts';
import type { Pauses } from '../../../../workers/scheduling/time-slices.ts';
import { PIECE_UNITS } from '../../../../workers/values/text-edits.ts';
import { noise } from '../../../random.ts';
import { batchOf, drive, newBench, viewsColumn } from '../../batch/build-batch.ts';
import { runOperation } from '../../operations/harness.ts';

/** Parts that keys treat specially: case, letters whose lower case is longer, zero bytes, and runs of digits. */
const PARTS = [
  'a',
  'É',
  'ß',
  'ı',
  'ΐ',
  'Σ',
  '\0',
  '😀',
  '0',
  '7',
  '00',
  '1234567890',
  '-',
  'x'.repeat(99),
  '9'.repeat(700),
];

function anyText(units: number, random: (below: number) => number): string {
  let text = '';
  while (text.length < units) text += PARTS[random(PARTS.length)];
  return text;
}

const textOf = (piece: string, units: number): string => piece.repeat(Math.ceil(units / piece.length)).slice(0, units);

test('keys of long texts have the bytes of keys that are made without pauses', async (t) => {
  const random = noise(3);
  const long = Array.from({ length: 2 }, () => anyText((1 + random(2)) * PIECE_UNITS, random));
  const texts = [...long, '1'.repeat(2 * PIECE_UNITS), '0'.repeat(2 * PIECE_UNITS), 'B10', null, anyText(9000, random)];
  const orders: readonly (readonly SortTerm['compare'][])[] = [
    ['natural'],
    ['case_insensitive'],
    ['case_insensitive', 'natural'],
    ['typed', 'case_insensitive'],
  ];
  for (const compares of orders) {
    for (const descending of [false, true]) {
      const terms = compares.map(
        (compare, index): SortTerm => ({ type: 'text', index, descending, nullsFirst: false, compare }),
      );
      const bench = newBench();
      const columns = terms.map((_, index) => viewsColumn(bench, index === 0 ? texts : texts.toReversed()));
      const batch = batchOf(bench, texts.length, columns);
      const keys = new SortKeys(bench, terms);
      drive(keys.editLong(batch, bench.clock));
      while (bench.arena.freeBytes < 2 ** 26) bench.arena.enlarge(2 ** 26);
      const views = keys.make(batch);
      t.not(views, 0, 'the keys are made');
      const readers = terms.map(({ type, index }) => new CellReader(type, index));
      for (const reader of readers) reader.bind(batch);
      const writer = new SortKeyWriter(terms);
      for (const row of texts.keys()) {
        const [at, length] = batch.heap.u32.subarray((views >>> 2) + row * 2, (views >>> 2) + row * 2 + 2);
        const made = Buffer.from(batch.heap.u8.buffer, at, length);
        const expected = writer.key(readers.map((reader) => reader.read(row)));
        t.ok(made.equals(expected), `${compares.join()}${descending ? ', descending' : ''}: row ${row}`);
      }
    }
  }
});

class CountingClock implements Pauses {
  looks = 0;

  isDue(): boolean {
    this.looks++;
    return true;
  }
}

test('operations that sort pause within a cell', async (t) => {
  const pieces = 3;
  const cell = (end: string): string => textOf('É b ß 10 ', pieces * PIECE_UNITS) + end;
  const table = { columns: ['a', 'g'], rows: ['3', '10', '2', '1'].map((end, at) => [cell(end), `${at % 2}`]) };
  for (const compare of ['natural', 'case_insensitive']) {
    const by = [{ column: 'a', compare }];
    const rank = { fn: 'row_number', as: 'n' };
    for (const [operation, parameters] of [
      ['sort', { by }],
      ['top', { n: 4, by }],
      ['top', { n: 2, by, group_by: ['g'] }],
      ['window', { order_by: by, columns: [rank] }],
    ] as const) {
      const clock = new CountingClock();
      const made = runOperation(operationTable.get(operation)!, parameters, table, { clock });
      t.same(made.problems, []);
      const sorted = operation === 'window' ? made.rows.toSorted((a, b) => Number(a[2]) - Number(b[2])) : made.rows;
      const ends = sorted.map(([text]) => text!.slice(pieces * PIECE_UNITS));
      t.same(ends, compare === 'natural' ? ['1', '2', '3', '10'] : ['1', '10', '2', '3'], `${operation}, ${compare}`);
      t.ok(clock.looks >= 4 * pieces * 0.9, `${operation}, ${compare}: ${clock.looks} checks of the clock`);
    }
  }
});

/** Calls `work` and returns how many bytes of buffers it has asked for. */
function allocatedBytes(work: () => void): number {
  const original = Buffer.allocUnsafe;
  let bytes = 0;
  Buffer.allocUnsafe = (size) => {
    bytes += size;
    return original(size);
  };
  try {
    work();
  } finally {
    Buffer.allocUnsafe = original;
  }
  return bytes;
}

test('natural keys of long texts are made where they are kept', async (t) => {
  const text = textOf('a1b22', 32 * PIECE_UNITS);
  for (const descending of [false, true]) {
    const natural: SortTerm = { type: 'text', index: 0, descending, nullsFirst: false, compare: 'natural' };
    for (const terms of [[natural], [{ ...natural, index: 1, compare: 'typed' as const }, natural]]) {
      const bench = newBench();
      const batch = batchOf(bench, 1, [viewsColumn(bench, [text]), viewsColumn(bench, ['x'])]);
      while (bench.arena.freeBytes < 2 ** 26) bench.arena.enlarge(2 ** 26);
      const before = bench.arena.next;
      let views = 0;
      const allocated = allocatedBytes(() => {
        const keys = new SortKeys(bench, terms);
        drive(keys.editLong(batch, bench.clock));
        views = keys.make(batch);
      });
      const length = batch.heap.u32[(views >>> 2) + 1]!;
      t.ok(length > text.length * 2, 'the key of one row');
      // With other terms, the key is put together in one buffer and then copied.
      const times = terms.length;
      const inArena = bench.arena.next - before;
      t.ok(inArena < times * length + 4096, `${inArena} bytes of the arena for a key of ${length}`);
      t.ok(allocated < (times - 1) * length + 16 * PIECE_UNITS, `${allocated} bytes of buffers for a key of ${length}`);
    }
  }
});
