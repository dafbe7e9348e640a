// The kernel that appends texts to pages of Parquet columns, against the same in TypeScript: full pages, full memory, nulls.
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
import { checkKernel, columnOf } from './kernel-rig.ts';

const page = fc.record({
  texts: columnOf(fc.option(fc.string({ maxLength: 40 }), { nil: null })),
  /** Rows already in the page, and rows that it may still receive. */
  rows: fc.nat(20),
  more: fc.integer({ min: 1, max: 40 }),
  /** Number of bytes after which it is full, and additional bytes of its memory. */
  full: fc.nat(300),
  room: fc.nat(60),
});

interface Packed {
  readonly bytes: Buffer;
  readonly present: number[];
  readonly count: number;
  readonly nulls: number;
}

function packed(texts: readonly (string | null)[], rows: number, more: number, full: number, limit: number): Packed {
  const parts: Buffer[] = [];
  const present = new Array<number>(8).fill(0);
  let [length, count, nulls] = [0, 0, 0];
  for (const text of texts) {
    if (count === more || length >= full) break;
    if (text === null) nulls++;
    else {
      const bytes = Buffer.from(text);
      if (length + 4 + bytes.length > limit) break;
      const head = Buffer.alloc(4);
      head.writeUInt32LE(bytes.length);
      parts.push(head, bytes);
      length += 4 + bytes.length;
      present[(rows + count) >> 3]! |= 1 << ((rows + count) & 7);
    }
    count++;
  }
  return { bytes: Buffer.concat(parts), present, count, nulls };
}

checkKernel('appends texts until the page is full or a text does not fit', page, (rig, value, before) => {
  const { texts, rows, more, full, room } = value;
  const views = rig.texts(texts, before);
  const memory = rig.region(full + room, before);
  const present = rig.byteList(new Array<number>(8).fill(0), before);
  const words = new Array<number>(PAGE_DESCRIPTION_BYTES / 4).fill(0);
  words[PAGE_NEXT / 4] = memory;
  words[PAGE_LIMIT / 4] = memory + full + room;
  words[PAGE_FULL / 4] = memory + full;
  words[PAGE_PRESENT / 4] = present;
  words[PAGE_ROWS / 4] = rows;
  words[PAGE_ROWS_MAX / 4] = rows + more;
  words[PAGE_NULLS / 4] = 3;
  const description = rig.wordList(words, 16);
  const count = rig.exports.packTexts(views, rig.rows(texts.length), texts.length, description);
  const expected = packed(texts, rows, more, full, full + room);
  const end = rig.word(description + PAGE_NEXT);
  const isSame =
    count === expected.count &&
    rig.word(description + PAGE_ROWS) === rows + count &&
    rig.word(description + PAGE_NULLS) === 3 + expected.nulls &&
    Buffer.compare(rig.bytes.subarray(memory, end), expected.bytes) === 0 &&
    rig.byteValues(present, 8).join() === expected.present.join();
  if (!isSame) throw new Error('differs from the reference');
});
