// The kernels that append cells to pages of Parquet columns, against the same in TypeScript: full pages, full memory, nulls,
// scales of decimals.
import { META_BIG, META_NULL } from '../../../workers/kernel/layout/cells.ts';
import {
  PAGE_DESCRIPTION_BYTES,
  PAGE_FULL,
  PAGE_LIMIT,
  PAGE_NEXT,
  PAGE_NULLS,
  PAGE_PRESENT,
  PAGE_ROWS,
  PAGE_ROWS_MAX,
} from '../../../workers/kernel/layout/output-program.ts';
import { fc } from '../../random.ts';
import { checkKernel, columnOf, type KernelRig, rowOf } from './kernel-rig.ts';

const room = {
  /** Rows already in the page, and rows that it may still receive. */
  rows: fc.nat(20),
  more: fc.integer({ min: 1, max: 40 }),
  /** Number of bytes after which it is full, and additional bytes of its memory. */
  full: fc.nat(300),
  room: fc.nat(60),
};

const textPage = fc.record({ texts: columnOf(fc.option(fc.string({ maxLength: 40 }), { nil: null })), ...room });

interface Packed {
  readonly bytes: Buffer;
  readonly present: number[];
  readonly count: number;
  readonly nulls: number;
}

interface Room {
  readonly rows: number;
  readonly more: number;
  readonly full: number;
  readonly room: number;
}

/** Appends values, null for a null, until the page is full, the next value does not fit, or is undefined. */
function packed(values: readonly (Buffer | null | undefined)[], { rows, more, full, room: spare }: Room): Packed {
  const parts: Buffer[] = [];
  const present = new Array<number>(8).fill(0);
  let [length, count, nulls] = [0, 0, 0];
  for (const value of values) {
    if (count === more || length >= full) break;
    if (value === null) nulls++;
    else {
      if (value === undefined || length + value.length > full + spare) break;
      parts.push(value);
      length += value.length;
      present[(rows + count) >> 3]! |= 1 << ((rows + count) & 7);
    }
    count++;
  }
  return { bytes: Buffer.concat(parts), present, count, nulls };
}

/** Calls a kernel with the description of a page, and compares what it appends. */
function comparePacked(
  rig: KernelRig,
  { rows, more, full, room: spare }: Room,
  expected: Packed,
  before: number,
  kernel: (description: number) => number,
): void {
  const memory = rig.region(full + spare, before);
  const present = rig.byteList(new Array<number>(8).fill(0), before);
  const words = new Array<number>(PAGE_DESCRIPTION_BYTES / 4).fill(0);
  words[PAGE_NEXT / 4] = memory;
  words[PAGE_LIMIT / 4] = memory + full + spare;
  words[PAGE_FULL / 4] = memory + full;
  words[PAGE_PRESENT / 4] = present;
  words[PAGE_ROWS / 4] = rows;
  words[PAGE_ROWS_MAX / 4] = rows + more;
  words[PAGE_NULLS / 4] = 3;
  const description = rig.wordList(words, 16);
  const count = kernel(description);
  const end = rig.word(description + PAGE_NEXT);
  const isSame =
    count === expected.count &&
    rig.word(description + PAGE_ROWS) === rows + count &&
    rig.word(description + PAGE_NULLS) === 3 + expected.nulls &&
    Buffer.compare(rig.bytes.subarray(memory, end), expected.bytes) === 0 &&
    rig.byteValues(present, 8).join() === expected.present.join();
  if (!isSame) throw new Error('differs from the reference');
}

function lengthAndText(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(bytes.length);
  return Buffer.concat([head, bytes]);
}

checkKernel('appends texts until the page is full or a text does not fit', textPage, (rig, value, before) => {
  const { texts } = value;
  const views = rig.texts(texts, before);
  const expected = packed(
    texts.map((text) => (text === null ? null : lengthAndText(text))),
    value,
  );
  comparePacked(rig, value, expected, before, (description) =>
    rig.exports.packTexts(views, rig.rows(texts.length), texts.length, description),
  );
});

checkKernel('sums the sizes of texts', textPage, (rig, { texts }, before) => {
  const views = rig.texts(texts, before);
  const expected = texts.reduce((sum, text) => sum + 4 + Buffer.byteLength(text ?? ''), 0);
  const found = rig.exports.packedTextBytes(views, rig.rows(texts.length), texts.length);
  if (found !== expected) throw new Error(`${found} instead of ${expected} bytes`);
});

const cell = fc.record({
  value: fc.oneof(
    fc.constantFrom(0n, 1n, -1n, 10n, -100n, 10n ** 18n, -(10n ** 18n), 2n ** 63n - 1n, -(2n ** 63n)),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: -10_000n, max: 10_000n }).map((value) => value * 1000n),
  ),
  /** The scale of a decimal; not null in other columns. */
  meta: fc.constantFrom(0, 1, 2, 2, 3, 18, 19, 38, 253, META_BIG, META_NULL),
});

const valuePage = fc.record({
  cells: columnOf(cell),
  width: fc.constantFrom(4, 8, 16),
  scale: fc.constantFrom(0, 2, 4, 10, 20, 38),
  ...room,
});

/** A decimal of the file, high byte first. undefined if a kernel does not convert it. */
function decimalBytes(value: bigint, places: number): Buffer | undefined {
  if (Math.abs(places) > 18) return undefined;
  const factor = 10n ** BigInt(Math.abs(places));
  if (places < 0 && value % factor !== 0n) return undefined;
  const digits = BigInt.asUintN(128, places < 0 ? value / factor : value * factor);
  return Buffer.from(digits.toString(16).padStart(32, '0'), 'hex');
}

checkKernel(
  'appends values until the page is full, or one does not fit or needs more bits',
  valuePage,
  (rig, page, before) => {
    const { cells, width, scale } = page;
    const at = rig.region(cells.length * 16, before);
    const meta = rig.region(cells.length * 2, before);
    for (const [position, { value, meta: form }] of cells.entries()) {
      rig.setLong(at + rowOf(position) * 8, value);
      rig.bytes[meta + rowOf(position)] = form;
    }
    const values = cells.map(({ value, meta: form }) => {
      if (form === META_NULL) return null;
      if (width === 16) return decimalBytes(value, scale - form);
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(value);
      return bytes.subarray(0, width);
    });
    comparePacked(rig, page, packed(values, page), before, (description) =>
      rig.exports.packValues(at, meta, rig.rows(cells.length), cells.length, description, width, scale),
    );
  },
);
