// Kernels that replace literal texts, whole cells and e-mail addresses (search-texts.ts), each against a reference that
// uses strings of JavaScript.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { findPersonalData } from '../../../workers/values/personal-data.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { checkKernel, columnOf, type KernelRig, rowOf } from './kernel-rig.ts';

const RUNS = sweep({ short: 100, long: 250 });
const CELL_BYTES_MAX = 90;
/** Longer than any cell in these tests becomes. */
const NO_LIMIT = 1_000_000;

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** Places a text. Returns its address and its length in bytes. */
function place(rig: KernelRig, text: string, before: number): [at: number, bytes: number] {
  const bytes = [...Buffer.from(text)];
  return [rig.byteList(bytes, before), bytes.length];
}

/** Few letters, so that texts occur often, including across the boundary between two vectors. */
const text = fc
  .tuple(
    fc.constantFrom(0, 0, 13, 14, 15, 16, 17, 30, 31, 32),
    fc.array(fc.constantFrom('a', 'b', 'ab', 'é', '漢'), { maxLength: 12 }),
  )
  .map(([fill, letters]) => `${'b'.repeat(fill)}${letters.join('')}`);
const cells = columnOf(fc.option(text, { nil: null, freq: 6 }));

/** The text with its first `times` occurrences replaced. */
function replaced(cell: string, find: string, put: string, times: number): string {
  let made = '';
  let from = 0;
  for (let left = times; left > 0; left -= 1) {
    const at = cell.indexOf(find, from);
    if (at < 0) break;
    made += cell.slice(from, at) + put;
    from = at + find.length;
  }
  return made + cell.slice(from);
}

checkKernel(
  'replaceText: the first occurrences of a text, and nothing if there is too little memory',
  fc.tuple(
    cells,
    fc.constantFrom('a', 'ab', 'é', '漢é', 'ba', 'bbbbbbbbbbbbbbbb', 'bbbbbbbbbbbbbbbba', 'aa'),
    fc.constantFrom('', 'x', 'ab', 'a longer text than a vector'),
    fc.constantFrom(1, 2, 0xffff_ffff),
    fc.boolean(),
  ),
  (rig, [values, find, put, times, isShort], before) => {
    const count = values.length;
    const expected = values.map((cell) => (cell === null ? null : replaced(cell, find, put, times)));
    const changed = expected.filter((_, position) => values[position]?.includes(find) === true);
    const bytes = changed.reduce((sum, cell) => sum + bytesOf(cell!), 0);
    const free = isShort ? Math.max(0, bytes - 1) : bytes;
    const views = rig.texts(values, before);
    const next = rig.region(free, before);
    const texts = [...place(rig, find, before + 1), ...place(rig, put, before + 2)] as const;
    const form = [...texts, times, NO_LIMIT, next, next + free] as const;
    const end = rig.exports.replaceText(views, rig.rows(count), count, ...form) >>> 0;
    equal(end, free < bytes ? 0 : next + bytes);
    if (end !== 0) deepStrictEqual(rig.textsOf(views, count), expected);
  },
  RUNS,
);

checkKernel(
  'replaceText: a cell that would become too long gets a length above the limit',
  fc.tuple(cells, fc.constantFrom(20, 26, 27, 28)),
  (rig, [values, putBytes], before) => {
    const count = values.length;
    const expected = values.map((cell) => cell?.replaceAll('a', 'x'.repeat(putBytes)) ?? null);
    const bytes = expected.reduce((sum, cell) => sum + bytesOf(cell ?? ''), 0);
    const views = rig.texts(values, before);
    const next = rig.region(bytes, before);
    const texts = [...place(rig, 'a', before), ...place(rig, 'x'.repeat(putBytes), before)] as const;
    const form = [...texts, 0xffff_ffff, CELL_BYTES_MAX, next, next + bytes] as const;
    rig.exports.replaceText(views, rig.rows(count), count, ...form);
    for (const [position, cell] of expected.entries()) {
      const view = views + rowOf(position) * 8;
      if (bytesOf(cell ?? '') > CELL_BYTES_MAX) ok(rig.word(view + 4) > CELL_BYTES_MAX);
      else equal(rig.textAt(view), cell);
    }
  },
  RUNS,
);

checkKernel(
  'replaceWhole: cells that are exactly a text, or null cells',
  fc.tuple(cells, fc.option(fc.tuple(text, fc.nat()), { nil: null, freq: 3 }), fc.option(text, { nil: null })),
  (rig, [values, wanted, put], before) => {
    const count = values.length;
    // Usually the text of a cell.
    const find = wanted === null ? null : (values[wanted[1] % Math.max(1, count)] ?? wanted[0]);
    const views = rig.texts(values, before);
    const [at, bytes] = find === null ? [0, 0] : place(rig, find, before + 1);
    const [putAt, putBytes] = put === null ? [0, 0] : place(rig, put, before + 2);
    const hits = rig.exports.replaceWhole(views, rig.rows(count), count, at, bytes, putAt, putBytes);
    equal(hits, values.filter((cell) => cell === find).length);
    deepStrictEqual(
      rig.textsOf(views, count),
      values.map((cell) => (cell === find ? put : cell)),
    );
  },
  RUNS,
);

const MAIL_PARTS = ['ann', 'b.c', '@', '@', 'example', '.', '.org', ' ', '-', '_%+', ',', 'é', '漢', 'A1'];
const mail = fc.oneof(
  fc.array(fc.constantFrom(...MAIL_PARTS), { maxLength: 10 }).map((parts) => parts.join('')),
  fc
    .tuple(
      fc.constantFrom(0, 1, 14, 15, 16),
      fc.constantFrom(1, 63, 64, 65),
      fc.constantFrom(1, 62, 63, 64),
      fc.constantFrom(0, 1, 8, 9),
    )
    .map(([fill, name, label, labels]) => {
      return `${' '.repeat(fill)}${'n'.repeat(name)}@${'d'.repeat(label)}${'.x'.repeat(labels)} end`;
    }),
);

function redacted(cell: string, put: string): string {
  let made = '';
  let from = 0;
  for (const range of findPersonalData('email', cell)) {
    if (range === null) continue;
    made += cell.slice(from, range[0]) + put;
    from = range[1];
  }
  return made + cell.slice(from);
}

checkKernel(
  'redactEmails: replaces addresses, or lists a row that has a character beyond ASCII',
  fc.tuple(
    columnOf(fc.option(mail, { nil: null, freq: 8 })),
    fc.constantFrom('', '[mail]', '<an address was here>'),
    fc.constantFrom(CELL_BYTES_MAX, NO_LIMIT),
    fc.boolean(),
  ),
  (rig, [values, put, cellBytesMax, isShort], before) => {
    const count = values.length;
    const views = rig.texts(values, before);
    const rows = rig.rows(count);
    const [at, bytes] = place(rig, put, before + 1);
    const expected = values.map((cell) => (cell === null ? null : redacted(cell, put)));
    // Besides the texts: a spare byte for each cell, and the bytes that the kernel keeps free for its copies.
    const made = expected.reduce((sum, cell) => sum + bytesOf(cell ?? '') + 1, 0) + 32;
    const free = isShort ? 0 : made;
    const next = rig.region(free, before);
    const todo = rig.wordList(Array<number>(count + 1).fill(0), 8);
    const form = [at, bytes, cellBytesMax, next, next + free, todo] as const;
    const end = rig.exports.redactEmails(views, rows, count, ...form) >>> 0;
    if (end === 0) {
      ok(isShort && expected.some((cell, position) => cell !== values[position]));
      return;
    }
    const listed = new Set(rig.wordValues(todo + 4, rig.word(todo)));
    const kept = values.map((_, position) => rowOf(position)).filter((row) => !listed.has(row));
    deepStrictEqual(rig.wordValues(rows, kept.length), kept);
    for (const [position, cell] of values.entries()) {
      const view = views + rowOf(position) * 8;
      if (listed.has(rowOf(position))) {
        ok(/[^\0-\x7f]/.test(cell!));
        equal(rig.textAt(view), cell);
      } else if (cell !== expected[position] && bytesOf(expected[position]!) > cellBytesMax) {
        equal(rig.word(view + 4), cellBytesMax + 1);
      } else equal(rig.textAt(view), expected[position]);
    }
  },
  RUNS,
);
