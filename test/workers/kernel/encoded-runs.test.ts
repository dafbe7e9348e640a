// Sorted runs of encoded rows in fewer bytes than their entries: unpacking returns the same entries for all words and lengths,
// and wherever a run or a file is cut.

import { test } from 'tap';
import { PackedRun } from '../../../workers/execution/spill/entry-merge.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';
import { RUN_STATE_BYTES } from '../../../workers/kernel/layout/encoded-rows.ts';
import { unlimitedShare } from '../../../workers/memory/budget.ts';
import { GrowingBlocks } from '../../../workers/memory/growing-blocks.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { fc } from '../../random.ts';

const REST = 0x80000000;
const GUARDED = 0x40000000;
const ROWS_MAX = 1200;

const kernel = instantiateKernel(compileKernels());
const { exports } = kernel;
const heap = new Heap(kernel.memory, exports.heapStart(), unlimitedShare(), 0);
const entries = heap.allocate(ROWS_MAX * 16);
const listed = heap.allocate(ROWS_MAX * 16);
const state = heap.allocate(RUN_STATE_BYTES);
const packed = heap.allocate(1_000_000);

interface Entry {
  readonly word: bigint;
  readonly address: number;
  readonly told: number;
}

function put(rows: readonly Entry[]): void {
  const view = new DataView(heap.memory.buffer);
  for (const [index, { word, address, told }] of rows.entries()) {
    view.setBigUint64(entries + index * 16, word, true);
    view.setUint32(entries + index * 16 + 8, address, true);
    view.setUint32(entries + index * 16 + 12, told, true);
  }
}

function taken(at: number, count: number): Entry[] {
  const view = new DataView(heap.memory.buffer);
  return Array.from({ length: count }, (_, index) => ({
    word: view.getBigUint64(at + index * 16, true),
    address: view.getUint32(at + index * 16 + 8, true),
    told: view.getUint32(at + index * 16 + 12, true),
  }));
}

function begin(): void {
  heap.u8.fill(0, state, state + RUN_STATE_BYTES);
}

/** Arbitrary words, words near each other, equal words, and words with zeros at either end. */
const word = fc.oneof(
  fc.bigInt(0n, 2n ** 64n - 1n),
  fc.bigInt(0n, 300n).map((low) => 0x0180000000000000n + (low << 24n)),
  fc.constantFrom(0n, 1n, 2n ** 63n, 2n ** 64n - 1n),
);
const sortedWords = fc
  .array(word, { maxLength: ROWS_MAX, size: 'max' })
  .map((words) => words.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));

test('packed entries come back, from however many blocks', (t) => {
  const told = fc.constantFrom(0, 1, 171, 65_535, 65_536, 0x3fffffff, REST, 7 + GUARDED, 2 ** 32 - 1);
  const run = sortedWords.chain(
    (words) =>
      fc.tuple(
        ...words.map((one) => fc.record({ word: fc.constant(one), address: fc.nat(2 ** 31 - 1), told })),
      ) as fc.Arbitrary<Entry[]>,
  );
  fc.assert(
    fc.property(run, fc.nat(300), (rows, slack) => {
      put(rows);
      const blocks = new GrowingBlocks(heap);
      // The first block ends within the run.
      if (slack > 0) blocks.next = blocks.limit - RUN_STATE_BYTES - 512 * 16 - slack;
      const made = PackedRun.pack(heap, kernel, { at: entries, count: rows.length }, blocks)!;
      const back: Entry[] = [];
      for (let some = made.next(); some !== null; some = made.next()) back.push(...taken(some.at, some.count));
      blocks.release();
      t.same(back.length, rows.length);
      t.ok(
        back.every((entry, at) => entry.word === rows[at]!.word && entry.address === rows[at]!.address),
        'words and addresses',
      );
      t.ok(
        back.every((entry, at) => entry.told === rows[at]!.told),
        'lengths and flags',
      );
    }),
    { numRuns: 50 },
  );
  t.end();
});

test('a run takes few bytes', (t) => {
  put([
    { word: 0x0100000000000000n, address: 5, told: 10 },
    { word: 0x0100000000000000n, address: 6, told: 65_536 },
    { word: 0x0100000000010300n, address: 7, told: 10 },
  ]);
  begin();
  const end = exports.packEntries(entries, 0, 3, packed, packed + 100, state);
  // Head, length, difference of the word, address: 1 + 2 + 1 + 4 bytes; then only a long length; then two bytes more.
  t.equal(end - packed, 8 + 9 + 9);
  t.end();
});

test('records of a file come back with their rows, wherever it is cut', (t) => {
  const text = heap.allocate(100_000);
  const row = fc.record({ length: fc.nat(40), guarded: fc.boolean(), rest: fc.option(fc.nat(30), { nil: 0 }) });
  const rows = fc.array(fc.tuple(word, row), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(rows, fc.infiniteStream(fc.nat(200)), (made, cuts) => {
      const sorted = made.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      let at = text;
      const held: Uint8Array[] = [];
      const all = sorted.map(([one, { length, guarded, rest }]) => {
        const address = at;
        for (let n = 0; n < length + (guarded ? 4 : 0); n++) heap.u8[at++] = (n * 7 + length) & 255;
        if (rest > 0) {
          new DataView(heap.memory.buffer).setUint32(at, rest, true);
          at += 4;
          for (let n = 0; n < rest; n++) heap.u8[at++] = n + 1;
        }
        held.push(heap.u8.slice(address, at));
        return { word: one, address, told: length + (guarded ? GUARDED : 0) + (rest > 0 ? REST : 0) };
      });
      put(all);
      begin();
      const end = exports.packFinished(entries, 0, all.length, packed, packed + 100_000, state);
      t.equal(heap.u32[state >>> 2], all.length);
      begin();
      let from = packed;
      let known = packed;
      const back: Entry[] = [];
      while (back.length < all.length) {
        known = Math.min(end, known + cuts.next().value + 1);
        const count = exports.listFinished(from, known, listed, 3, state);
        from = heap.u32[state >>> 2]!;
        back.push(...taken(listed, count));
      }
      t.equal(from, end);
      t.ok(
        back.every(({ word: one, told }, index) => one === all[index]!.word && told === all[index]!.told),
        'words, lengths and flags',
      );
      t.ok(
        back.every(({ address }, index) =>
          Buffer.from(held[index]!).equals(heap.u8.subarray(address, address + held[index]!.length)),
        ),
        'bytes',
      );
    }),
  );
  t.end();
});
