// Kernels over the entries of encoded rows (encoded-rows.ts): they sort, merge, copy and unpack them. The references sort
// arrays by whole keys.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import {
  ALL_ENTER,
  ENTRY_BYTES,
  PLAYER_BYTES,
  RUN_BYTES,
  RUN_STATE_BYTES,
  SORT_COUNTS_BYTES,
} from '../../../workers/kernel/layout/encoded-rows.ts';
import { GUARDED } from '../../../workers/kernel/layout/output-program.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { checkKernel, type KernelRig } from './kernel-rig.ts';

const RUNS = sweep({ short: 60, long: 400 });
const WORD_BYTES = 8;
const FLAG_REST = 0x8000_0000;
const FLAG_GUARDED = 0x4000_0000;
const PROGRAM_BYTES = GUARDED + 4;
/** Kernels that copy rows write up to this many bytes after the limit. */
const COPIED_BYTES = 64;

interface Row {
  readonly key: Buffer;
  readonly text: string;
  /** Number of guarded formulas. 0: the row does not store the number. */
  readonly guarded: number;
}

/**
 * Keys of which many are equal, and others differ only after the first word or after many equal words. No key is a prefix of
 * another, as in a sort.
 */
const key = fc
  .tuple(
    fc.constantFrom('', 'a', 'aaaaaaa', 'aaaaaaaa', 'x'.repeat(16), 'x'.repeat(24)),
    fc.constantFrom('', 'a', 'b', 'bbbbbbbbb', '\u00ff'),
  )
  .map((parts) => Buffer.concat([Buffer.from(parts.join(''), 'latin1'), Buffer.of(0, 0)]));
const rowOfText = fc.record<Row>({
  key,
  text: fc.constantFrom('', 'row', 'y'.repeat(15), 'y'.repeat(16), 'z'.repeat(70)),
  guarded: fc.constantFrom(0, 0, 0, 2),
});

/** Sizes around those at which the sort changes its algorithm. */
const counts = fc.constantFrom(0, 1, 2, 8, 9, 20, 63, 64, 65, 150);
const rowsOf = (count: fc.Arbitrary<number>): fc.Arbitrary<Row[]> =>
  count.chain((length) => fc.array(rowOfText, { minLength: length, maxLength: length }));

/** The first 8 bytes of a key as a number. */
function wordOf(bytes: Buffer): bigint {
  const padded = Buffer.alloc(WORD_BYTES);
  bytes.copy(padded, 0, 0, WORD_BYTES);
  return padded.readBigInt64BE();
}

const flagsOf = (row: Row): number =>
  (row.text.length + (row.guarded > 0 ? FLAG_GUARDED : 0) + (row.key.length > WORD_BYTES ? FLAG_REST : 0)) >>> 0;

/** Bytes that a row stores besides its text: the number of guarded formulas, and the rest of its key after its length. */
function heldBytes(row: Row): number {
  return row.text.length + (row.guarded > 0 ? 4 : 0) + (row.key.length > WORD_BYTES ? row.key.length - 4 : 0);
}

/** Places the bytes of rows. Returns their addresses. */
function placeRows(rig: KernelRig, rows: readonly Row[], before: number): number[] {
  const encoded = rows.map((row) => {
    const guarded = Buffer.alloc(row.guarded > 0 ? 4 : 0);
    if (row.guarded > 0) guarded.writeUInt32LE(row.guarded);
    const rest = row.key.subarray(WORD_BYTES);
    const length = Buffer.alloc(rest.length > 0 ? 4 : 0);
    if (rest.length > 0) length.writeUInt32LE(rest.length);
    return Buffer.concat([Buffer.from(row.text), guarded, length, rest]);
  });
  let next = rig.region(
    encoded.reduce((sum, bytes) => sum + bytes.length, 0),
    before,
  );
  return encoded.map((bytes) => {
    rig.bytes.set(bytes, next);
    next += bytes.length;
    return next - bytes.length;
  });
}

/** Places the entries of rows, with the address of each row. */
function placeEntries(rig: KernelRig, rows: readonly Row[], addresses: readonly number[], before: number): number {
  const entries = rig.region(rows.length * ENTRY_BYTES, before);
  for (const [index, row] of rows.entries()) {
    const entry = entries + index * ENTRY_BYTES;
    rig.setLong(entry, wordOf(row.key));
    rig.setWord(entry + 8, addresses[index]!);
    rig.setWord(entry + 12, flagsOf(row));
  }
  return entries;
}

/** Words, addresses and flags of entries. */
function entriesAt(rig: KernelRig, entries: number, count: number): (readonly [bigint, number, number])[] {
  return Array.from({ length: count }, (_, index) => {
    const entry = entries + index * ENTRY_BYTES;
    return [rig.long(entry), rig.word(entry + 8), rig.word(entry + 12)] as const;
  });
}

const entryOf = (row: Row, address: number): readonly [bigint, number, number] => [
  wordOf(row.key),
  address,
  flagsOf(row),
];

checkKernel(
  'sortFinished: entries by their whole keys, where equal keys keep their order',
  rowsOf(counts),
  (rig, rows, before) => {
    const addresses = placeRows(rig, rows, before);
    const entries = placeEntries(rig, rows, addresses, before);
    const spare = rig.region(rows.length * ENTRY_BYTES, before);
    rig.exports.sortFinished(entries, spare, rows.length, rig.region(SORT_COUNTS_BYTES, 16));
    const sorted = rows
      .map((row, index) => ({ row, address: addresses[index]! }))
      .toSorted((left, right) => Buffer.compare(left.row.key, right.row.key));
    deepStrictEqual(
      entriesAt(rig, entries, rows.length),
      sorted.map(({ row, address }) => entryOf(row, address)),
    );
  },
  RUNS,
);

const sortedRuns = fc.array(rowsOf(fc.constantFrom(1, 2, 7, 20)), { minLength: 1, maxLength: 5 });

checkKernel(
  'mergeFinished: sorted runs as one, where equal keys keep the order of the runs',
  fc.tuple(sortedRuns, fc.constantFrom(1, 3, 16, 200)),
  (rig, unsorted, before) => {
    const [given, most] = unsorted;
    const sorted = given.map((rows) => rows.toSorted((left, right) => Buffer.compare(left.key, right.key)));
    const all = sorted.flat();
    const addresses = placeRows(rig, all, before);
    const entries = placeEntries(rig, all, addresses, before);
    const out = rig.region(most * ENTRY_BYTES, before);
    const tree = rig.region(sorted.length * PLAYER_BYTES, 16);
    // The nonempty runs, with the next entry and the end of each.
    let runs: (readonly [number, number])[] = [];
    let next = entries;
    for (const rows of sorted) {
      runs.push([next, next + rows.length * ENTRY_BYTES]);
      next += rows.length * ENTRY_BYTES;
    }
    const list = rig.region(sorted.length * RUN_BYTES, 8);
    const merged: (readonly [bigint, number, number])[] = [];
    for (let entering = ALL_ENTER as number; runs.length > 0; ) {
      for (const [index, [from, end]] of runs.entries()) {
        rig.setWord(list + index * RUN_BYTES, from);
        rig.setWord(list + index * RUN_BYTES + 4, end);
      }
      const count = rig.exports.mergeFinished(list, runs.length, tree, out, most, entering);
      ok(count > 0 && count <= most);
      merged.push(...entriesAt(rig, out, count));
      const before = runs.length;
      runs = runs
        .map(([, end], index) => [rig.word(list + index * RUN_BYTES), end] as const)
        .filter(([from, end]) => from < end);
      // If no run has ended, the tournament continues where it stopped.
      entering = runs.length === before ? runs.length : ALL_ENTER;
    }
    const expected = all
      .map((row, index) => ({ row, address: addresses[index]! }))
      .toSorted((left, right) => Buffer.compare(left.row.key, right.row.key));
    deepStrictEqual(
      merged,
      expected.map(({ row, address }) => entryOf(row, address)),
    );
  },
  RUNS,
);

checkKernel(
  'gatherFinished: copies rows as long as they fit, and counts their guarded formulas',
  fc.tuple(rowsOf(counts), fc.constantFrom(0, 1, 16, 200, 20_000), fc.nat(3)),
  (rig, [rows, free, from], before) => {
    const entries = placeEntries(rig, rows, placeRows(rig, rows, before), before);
    const program = rig.region(PROGRAM_BYTES, 16);
    rig.setWord(program + GUARDED, 5);
    const out = rig.region(free + COPIED_BYTES, before);
    const reached = rig.region(4, 8);
    const start = Math.min(from, rows.length);
    const end = rig.exports.gatherFinished(program, entries, start, rows.length, out, out + free, reached) >>> 0;
    let text = '';
    let guarded = 5;
    let next = start;
    for (; next < rows.length && text.length + rows[next]!.text.length <= free; next += 1) {
      text += rows[next]!.text;
      guarded += rows[next]!.guarded;
    }
    equal(Buffer.from(rig.bytes.subarray(out, end)).toString(), text);
    equal(rig.word(reached), next);
    equal(rig.word(program + GUARDED), guarded);
  },
  RUNS,
);

/** Head, length, and a complete word. */
const STEP_BYTES_MAX = 13;

checkKernel(
  'packedBytes: the most bytes that a packed row takes',
  rowOfText,
  (rig, row, before) => {
    const entry = placeEntries(rig, [row], placeRows(rig, [row], before), before);
    equal(rig.exports.packedBytes(entry), STEP_BYTES_MAX + heldBytes(row));
  },
  RUNS,
);

const anyEntry = fc.tuple(
  fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.nat(300).map((low) => 0x0180_0000_0000_0000n + BigInt(low) * 2n ** 24n),
    fc.constantFrom(0n, 1n, -1n),
  ),
  fc.nat(2 ** 31 - 1),
  fc.constantFrom(0, 1, 171, 65_535, 65_536, 0x3fff_ffff, FLAG_REST, FLAG_GUARDED + 7, 0xffff_ffff),
);

/** Packs entries in the layout of the kernels: head, length, difference from the previous word, address. */
function packed(entries: readonly (readonly [bigint, number, number])[]): Buffer {
  let last = 0n;
  return Buffer.concat(
    entries.map(([word, address, flags]) => {
      const above = BigInt.asUintN(64, word - last);
      last = word;
      const isLong = flags > 0xffff;
      let zeros = 0;
      while (above !== 0n && zeros < 7 && ((above >> BigInt(zeros * 8)) & 0xffn) === 0n) zeros += 1;
      const kept = above >> BigInt(zeros * 8);
      const bytes = kept === 0n ? 0 : Math.ceil(kept.toString(16).length / 2);
      const step = Buffer.alloc(1 + (isLong ? 4 : 2) + bytes + 4);
      step.writeUInt8(bytes | (zeros << 4) | (isLong ? 0x80 : 0));
      if (isLong) step.writeUInt32LE(flags, 1);
      else step.writeUInt16LE(flags, 1);
      for (let byte = 0; byte < bytes; byte += 1) {
        step[(isLong ? 5 : 3) + byte] = Number((kept >> BigInt(byte * 8)) & 0xffn);
      }
      step.writeUInt32LE(address, step.length - 4);
      return step;
    }),
  );
}

checkKernel(
  'listEntries: the entries of a packed run, a limited number at a time',
  fc.tuple(
    fc.constantFrom(0, 1, 2, 16, 33).chain((count) => fc.array(anyEntry, { minLength: count, maxLength: count })),
    fc.constantFrom(1, 3, 16, 40),
  ),
  (rig, [entries, most], before) => {
    const bytes = packed(entries);
    const from = rig.byteList([...bytes], before);
    const end = from + bytes.length;
    const listed = rig.region(most * ENTRY_BYTES, before);
    const state = rig.wordList(Array<number>(RUN_STATE_BYTES / 4).fill(0), 8);
    const found: (readonly [bigint, number, number])[] = [];
    for (let at = from; at < end; at = rig.word(state)) {
      const count = rig.exports.listEntries(at, end, listed, most, state);
      equal(count, Math.min(most, entries.length - found.length));
      found.push(...entriesAt(rig, listed, count));
    }
    deepStrictEqual(found, entries);
  },
  RUNS,
);
