// Kernels that write, read and sort rows as records (rows.ts, sort.ts), against references that use Buffer and arrays.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { META_NULL } from '../../../workers/kernel/layout/cells.ts';
import { LONG } from '../../../workers/kernel/layout/keys.ts';
import {
  COLUMN_AT,
  COLUMN_BYTES,
  COLUMN_KIND,
  COLUMN_META,
  ENTRY_BYTES,
  ENTRY_RECORD,
  KIND_BYTES,
  KIND_TYPED,
  KIND_VIEWS,
  SORT_COUNTS_BYTES,
} from '../../../workers/kernel/layout/records.ts';
import { fc } from '../../random.ts';
import { checkKernel, columnOf, type KernelRig, rowOf } from './kernel-rig.ts';

const text = fc.oneof(
  fc.array(fc.constantFrom('a', 'b', 'é', '漢'), { maxLength: 20 }).map((characters) => characters.join('')),
  // Lengths around the largest one that takes one byte.
  fc.constantFrom(126, 127, 128, 200).map((length) => 'x'.repeat(length)),
);

/** A row of two text columns, a typed column and a byte column. */
interface Row {
  readonly first: string;
  readonly second: string | null;
  readonly bits: bigint;
  readonly meta: number;
  readonly byte: number;
  readonly order: number;
  readonly source: number;
}

const wholes = fc.oneof(fc.constantFrom(0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 48 - 1), fc.nat());
const rowLists = columnOf(
  fc.record<Row>({
    first: text,
    second: fc.option(text, { nil: null, freq: 4 }),
    bits: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    meta: fc.nat(255),
    byte: fc.nat(255),
    order: wholes,
    source: wholes,
  }),
);

function whole(value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntLE(value, 0, 6);
  return bytes;
}

/** Length + 1 in groups of seven bits, the lowest group first, followed by the bytes. */
function encodedText(value: string | null): Buffer {
  if (value === null) return Buffer.of(0);
  const bytes = Buffer.from(value);
  const length = bytes.length + 1;
  const head = length < 128 ? [length] : [(length & 127) | 128, length >> 7];
  return Buffer.concat([Buffer.from(head), bytes]);
}

function record(row: Row): Buffer {
  const bits = Buffer.alloc(8);
  bits.writeBigInt64LE(row.bits);
  const cells = [encodedText(row.first), encodedText(row.second), Buffer.of(row.meta), bits, Buffer.of(row.byte)];
  const body = Buffer.concat([whole(row.order), whole(row.source), ...cells]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length + 4);
  return Buffer.concat([length, body]);
}

interface Columns {
  readonly at: number;
  readonly first: number;
  readonly second: number;
  readonly bits: number;
  readonly meta: number;
  readonly bytes: number;
}

const COLUMNS = 4;

/** The description of the four columns. */
function describe(rig: KernelRig, columns: Omit<Columns, 'at'>): Columns {
  const words = Array<number>((COLUMNS * COLUMN_BYTES) / 4).fill(0);
  for (const [index, [kind, at, meta]] of [
    [KIND_VIEWS, columns.first, 0],
    [KIND_VIEWS, columns.second, 0],
    [KIND_TYPED, columns.bits, columns.meta],
    [KIND_BYTES, columns.bytes, 0],
  ].entries()) {
    for (const [field, value] of [
      [COLUMN_KIND, kind],
      [COLUMN_AT, at],
      [COLUMN_META, meta],
    ] as const) {
      words[(index * COLUMN_BYTES + field) / 4] = value!;
    }
  }
  return { ...columns, at: rig.wordList(words, 8) };
}

/** Maximum space that encodeRows requires beyond the bytes of a cell. */
const SPARE_BYTES = 9;

checkKernel(
  'encodeRows: records of the rows, as many as fit',
  fc.tuple(rowLists, fc.boolean(), fc.boolean(), fc.nat(100), fc.nat(3)),
  (rig, [rows, hasSources, hasBytes, percent, start], before) => {
    const count = rows.length;
    const from = Math.min(start, count);
    const columns = describe(rig, {
      first: rig.texts(
        rows.map(({ first }) => first),
        before,
      ),
      second: rig.texts(
        rows.map(({ second }) => second),
        before,
      ),
      bits: rig.region(count * 16, 16),
      meta: rig.region(count * 2, before),
      // Address 0: all bytes are zero.
      bytes: hasBytes ? rig.region(count * 2, before) : 0,
    });
    const [orders, sources] = [rig.region(count * 8, 16), rig.region(count * 16, 16)];
    for (const [position, { bits, meta, byte, order, source }] of rows.entries()) {
      const row = rowOf(position);
      rig.setLong(columns.bits + row * 8, bits);
      rig.bytes[columns.meta + row] = meta;
      if (hasBytes) rig.bytes[columns.bytes + row] = byte;
      rig.setDouble(orders + position * 8, order);
      rig.setDouble(sources + row * 8, source);
    }
    const expected = rows.map((row, position) =>
      record({
        ...row,
        byte: hasBytes ? row.byte : 0,
        source: hasSources ? row.source : 1000 + rowOf(position),
      }),
    );
    const bytes = Buffer.concat(expected.slice(from)).length;
    const free = Math.ceil((bytes * percent) / 100) + SPARE_BYTES;
    const next = rig.region(free, before);
    const reachedAt = rig.region(4, 4);
    const rowsAt = rig.rows(count);
    const form = [orders, hasSources ? sources : 0, 1000, next, next + free, reachedAt] as const;
    const end = rig.exports.encodeRows(columns.at, COLUMNS, rowsAt, from, count, ...form) >>> 0;
    const reached = rig.word(reachedAt);
    const written = Buffer.concat(expected.slice(from, reached));
    deepStrictEqual(Buffer.from(rig.byteValues(next, end - next)), written);
    // A missing row did not fit.
    if (reached < count) ok(written.length + expected[reached]!.length + SPARE_BYTES > free);
    else ok(written.length <= free);
  },
);

checkKernel(
  'encodeRows: orders that are no whole numbers become 0',
  fc.constantFrom(NaN, -1, 2 ** 48),
  (rig, order) => {
    const views = rig.texts(['a'], 16);
    const [orders, reached, next] = [rig.region(8, 8), rig.region(4, 4), rig.region(100, 50)];
    rig.setDouble(orders, order);
    const column = rig.wordList([KIND_VIEWS, views, 0], 8);
    rig.exports.encodeRows(column, 1, rig.rows(1), 0, 1, orders, 0, 5, next, next + 100, reached);
    deepStrictEqual(rig.byteValues(next + 4, 6), [0, 0, 0, 0, 0, 0]);
  },
);

/** Regions for the decoded rows, starting with row 0. */
function placeDecoded(rig: KernelRig, count: number, before: number): Columns & { orders: number; sources: number } {
  const columns = describe(rig, {
    first: rig.region(count * 8, 8),
    second: rig.region(count * 8, 16),
    bits: rig.region(count * 8, 16),
    meta: rig.region(count, before),
    bytes: rig.region(count, before),
  });
  return { ...columns, orders: rig.region(count * 8, 16), sources: rig.region(count * 8, 8) };
}

function decoded(rig: KernelRig, at: ReturnType<typeof placeDecoded>, count: number): Row[] {
  const [firsts, seconds] = [rig.vectorTexts(at.first, count), rig.vectorTexts(at.second, count)];
  return firsts.map((first, row) => ({
    first: first!,
    second: seconds[row]!,
    bits: rig.long(at.bits + row * 8),
    meta: rig.bytes[at.meta + row]!,
    byte: rig.bytes[at.bytes + row]!,
    order: rig.double(at.orders + row * 8),
    source: rig.double(at.sources + row * 8),
  }));
}

checkKernel(
  'decodeRows: complete records up to a number',
  fc.tuple(rowLists, fc.nat(40), fc.nat(40)),
  (rig, [rows, most, missing], before) => {
    const records = rows.map(record);
    const bytes = Buffer.concat(records);
    const available = Math.max(0, bytes.length - missing);
    const from = rig.byteList([...bytes], before);
    const at = placeDecoded(rig, rows.length, before);
    const reached = rig.region(4, 4);
    const range = [from, from + available, most] as const;
    const count = rig.exports.decodeRows(at.at, COLUMNS, ...range, at.orders, at.sources, reached) >>> 0;
    const ends = records.map((_, row) => Buffer.concat(records.slice(0, row + 1)).length);
    const expected = Math.min(most, ends.filter((end) => end <= available).length);
    equal(count, expected);
    equal(rig.word(reached) - from, expected === 0 ? 0 : ends[expected - 1]);
    deepStrictEqual(
      decoded(rig, at, count),
      rows.slice(0, count).map((row) => ({ ...row })),
    );
  },
  150,
);

/** Places records one after another. */
function placeRecords(rig: KernelRig, records: readonly Buffer[], before: number): { from: number; end: number } {
  const bytes = Buffer.concat(records);
  const from = rig.byteList([...bytes], before);
  return { from, end: from + bytes.length };
}

function addressesOf(records: readonly Buffer[], from: number): number[] {
  let at = from;
  return records.map((bytes) => {
    at += bytes.length;
    return at - bytes.length;
  });
}

checkKernel('decodeEntries: the records of entries, in their order', rowLists, (rig, rows, before) => {
  const records = rows.map(record);
  const { from } = placeRecords(rig, records, before);
  const reversed = addressesOf(records, from).reverse();
  const entries = rig.wordList(
    reversed.flatMap((address) => [0, 0, address, 0]),
    16,
  );
  const at = placeDecoded(rig, rows.length, before);
  rig.exports.decodeEntries(at.at, COLUMNS, entries, rows.length, at.orders, at.sources);
  deepStrictEqual(decoded(rig, at, rows.length), rows.map((row) => ({ ...row })).reverse());
});

checkKernel(
  'copyPlaced: each cell from the column with its index',
  columnOf(fc.tuple(fc.nat(2), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), fc.nat(255))),
  (rig, cells, before) => {
    const count = cells.length;
    const bits = rig.region(count * 16, 16);
    const meta = rig.region(count * 2, before);
    for (const [position, [, value, mark]] of cells.entries()) {
      rig.setLong(bits + rowOf(position) * 8, value);
      rig.bytes[meta + rowOf(position)] = mark;
    }
    // A column with meta, a column without meta, and a column that yields nulls.
    const columns = rig.wordList([bits, meta, bits, 0, 0, 0], 8);
    const places = rig.wordList(
      cells.map(([place]) => place),
      before,
    );
    const [out, outMeta] = [rig.region(count * 8, 16), rig.region(count, before)];
    rig.exports.copyPlaced(columns, places, rig.rows(count), count, out, outMeta);
    deepStrictEqual(
      cells.map((_, position) => [rig.long(out + position * 8), rig.bytes[outMeta + position]]),
      cells.map(([place, value, mark]) => [place === 2 ? 0n : value, [mark, 0, META_NULL][place]]),
    );
  },
);

checkKernel(
  'putCells: each cell at the place of its row, or 1 without cells',
  columnOf(fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), fc.nat(255))),
  (rig, cells, before) => {
    const count = cells.length;
    const bits = rig.region(count * 16, 16);
    const meta = rig.region(count * 2, before);
    // Places in reverse, as big-endian numbers of 8 bytes.
    const numbers = rig.byteList(
      cells.flatMap((_, position) => [0, 0, 0, 0, 0, 0, 0, count - 1 - position]),
      before,
    );
    const places = rig.region(count * 16, 16);
    for (const [position, [value, mark]] of cells.entries()) {
      rig.setLong(bits + rowOf(position) * 8, value);
      rig.bytes[meta + rowOf(position)] = mark;
      rig.setWord(places + rowOf(position) * 8, numbers + position * 8);
    }
    const [out, outMeta, arrived] = [rig.region(count * 8, 16), rig.region(count, before), rig.region(count, before)];
    rig.exports.putCells(bits, meta, places, rig.rows(count), count, out, outMeta);
    rig.exports.putCells(0, 0, places, rig.rows(count), count, 0, arrived);
    deepStrictEqual(
      cells.map((_, place) => [rig.long(out + place * 8), rig.bytes[outMeta + place], rig.bytes[arrived + place]]),
      cells.map(([value, mark]) => [value, mark, 1]).reverse(),
    );
  },
);

/** Keys with long common prefixes or with zeros at the end; many are equal. */
const sortKey = fc
  .array(fc.constantFrom('a', 'b', '\u0000', 'eight by', 'é'), { maxLength: 5 })
  .map((parts) => parts.join(''));
const keyLists = fc.oneof(columnOf(sortKey), fc.array(sortKey, { minLength: 50, maxLength: 120 }));

/** A record with a key; its number is its order. */
const keyRecord = (key: string, order: number): Buffer =>
  record({ first: key, second: null, bits: 0n, meta: 0, byte: 0, order, source: 0 });

/** The first eight bytes of a key as a number, with zeros for bytes that are missing. */
function keyWord(key: string): bigint {
  const bytes = Buffer.alloc(8);
  Buffer.from(key).copy(bytes);
  return bytes.readBigInt64BE();
}

checkKernel(
  'listRecords, sortEntries, reloadEntries and gatherRecords: records in the stable order of their keys',
  fc.tuple(keyLists, fc.nat(100)),
  (rig, [keys, percent], before) => {
    const count = keys.length;
    const records = keys.map(keyRecord);
    const { from, end } = placeRecords(rig, records, before);
    const addresses = addressesOf(records, from);
    const [entries, spare] = [rig.region(count * ENTRY_BYTES, 16), rig.region(count * ENTRY_BYTES, 32)];
    equal(rig.exports.listRecords(from, end, entries) >>> 0, count);
    const listed = (at: number): unknown[] =>
      keys.map((_, index) => [rig.long(at + index * ENTRY_BYTES), rig.word(at + index * ENTRY_BYTES + ENTRY_RECORD)]);
    const entryOf = (index: number): unknown[] => [keyWord(keys[index]!), addresses[index]];
    deepStrictEqual(
      listed(entries),
      keys.map((_, index) => entryOf(index)),
    );
    const sorted = rig.exports.sortEntries(entries, spare, count, rig.region(SORT_COUNTS_BYTES, 16)) >>> 0;
    ok(sorted === entries || sorted === spare);
    rig.exports.reloadEntries(sorted, count);
    const order = [...keys.keys()].sort((a, b) => Buffer.compare(Buffer.from(keys[a]!), Buffer.from(keys[b]!)));
    deepStrictEqual(listed(sorted), order.map(entryOf));
    const bytes = end - from;
    const free = Math.ceil((bytes * percent) / 100);
    const [next, reachedAt] = [rig.region(free, before), rig.region(4, 4)];
    const last = rig.exports.gatherRecords(sorted, 0, count, next, next + free, reachedAt) >>> 0;
    const reached = rig.word(reachedAt);
    const gathered = Buffer.concat(order.slice(0, reached).map((index) => records[index]!));
    deepStrictEqual(Buffer.from(rig.byteValues(next, last - next)), gathered);
    if (reached < count) ok(gathered.length + records[order[reached]!]!.length > free);
  },
  150,
);

/** A key of two group columns and an order key, where a group column may be null or long. */
const groupCell = fc.constantFrom(null, '', 'a', 'ab', 'x'.repeat(300));
function groupBytes(cell: string | null): number[] {
  if (cell === null) return [0];
  if (cell.length + 1 < LONG) return [cell.length + 1, ...Buffer.from(cell)];
  return [LONG, cell.length & 255, cell.length >> 8, 0, 0, ...Buffer.from(cell)];
}

checkKernel(
  'keepOfGroups: the first entries of each group',
  fc.tuple(
    fc.array(fc.tuple(groupCell, groupCell, fc.nat(3)), { maxLength: 33 }),
    fc.nat(3),
    fc.integer({ min: 0, max: 2 }),
  ),
  (rig, [rows, first, columns], before) => {
    const keys = rows.map(([a, b, rest]) => Buffer.from([...groupBytes(a), ...groupBytes(b), rest]));
    const groups = rows.map(([a, b]) => JSON.stringify([a, b].slice(0, columns)));
    const order = [...rows.keys()].sort((a, b) => Buffer.compare(keys[a]!, keys[b]!));
    const records = keys.map((key) => {
      const length = key.length + 1;
      const head = length < 128 ? [length] : [(length & 127) | 128, length >> 7];
      const bytes = Buffer.concat([Buffer.alloc(16), Buffer.from(head), key]);
      bytes.writeUInt32LE(bytes.length);
      return bytes;
    });
    const { from } = placeRecords(rig, records, before);
    const addresses = addressesOf(records, from);
    const entries = rig.wordList(
      order.flatMap((index) => [0, 0, addresses[index]!, 0]),
      16,
    );
    const kept = rig.exports.keepOfGroups(entries, rows.length, columns, first) >>> 0;
    const seen = new Map<string, number>();
    const expected = order.filter((index) => {
      const number = seen.get(groups[index]!) ?? 0;
      seen.set(groups[index]!, number + 1);
      return number < first;
    });
    deepStrictEqual(
      Array.from({ length: kept }, (_, at) => rig.word(entries + at * ENTRY_BYTES + ENTRY_RECORD)),
      expected.map((index) => addresses[index]),
    );
  },
);

checkKernel(
  'keepBefore: rows whose key is less than that of a record',
  fc.tuple(columnOf(sortKey), sortKey),
  (rig, [keys, last], before) => {
    const at = rig.byteList([...keyRecord(last, 0)], before);
    const kept = rig.region(keys.length * 4, 8);
    const views = rig.texts(keys, before);
    const count = rig.exports.keepBefore(views, rig.rows(keys.length), keys.length, at, kept) >>> 0;
    deepStrictEqual(
      rig.wordValues(kept, count),
      keys.flatMap((key, position) =>
        Buffer.compare(Buffer.from(key), Buffer.from(last)) < 0 ? [rowOf(position)] : [],
      ),
    );
  },
);
