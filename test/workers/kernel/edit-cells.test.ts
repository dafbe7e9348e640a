// Kernels that edit text cells by byte or character (edit-texts.ts), against references that use strings of JavaScript.
import { deepStrictEqual, equal } from 'node:assert/strict';
import { test } from 'tap';
import { DROP, KEEP, LEAVE } from '../../../workers/kernel/layout/texts.ts';
import { fc } from '../../random.ts';
import { checkKernel, columnOf, KernelRig, rowCounts, rowOf, type ShownText } from './kernel-rig.ts';

const CHARACTERS = ['a', 'b', '7', ' ', 'é', '漢', '😀'];
const text = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 36 }).map((characters) => characters.join(''));
const cell = fc.option(text, { nil: null, freq: 8 });
const cells = columnOf(cell);
const pieces = fc.constantFrom('', 'x', 'é<', 'a text that is longer than a vector');

type Cell = string | null;

const bytesOf = (values: readonly ShownText[]): number =>
  values.reduce((sum, value) => sum + Buffer.byteLength(value ?? ''), 0);
const onTexts = (values: readonly Cell[], edit: (value: string) => Cell): Cell[] =>
  values.map((value) => (value === null ? null : edit(value)));

/** Tables that define which bytes are kept: some ASCII characters have an entry each, and all other bytes share one. */
const tables = fc
  .tuple(...Array.from({ length: 5 }, () => fc.constantFrom(DROP, KEEP, KEEP, KEEP, LEAVE)))
  .map(([a, b, digit, space, others]) => {
    const table = Array<number>(256).fill(others!);
    for (const [character, entry] of [
      ['a', a],
      ['b', b],
      ['7', digit],
      [' ', space],
    ] as const) {
      table[character.charCodeAt(0)] = entry!;
    }
    return table;
  });

const isBack = (value: Cell, table: readonly number[]): boolean =>
  [...Buffer.from(value ?? '')].some((byte) => table[byte] === LEAVE);

/** Compares the row lists after a kernel: the rows that it processed, and the rows that it left to the scalar implementation. */
function equalRows(rig: KernelRig, lists: { rows: number; todo: number }, areBack: readonly boolean[]): void {
  const rowsOf = (wanted: boolean): number[] =>
    areBack.flatMap((back, position) => (back === wanted ? [rowOf(position)] : []));
  const left = rowsOf(true);
  deepStrictEqual(rig.wordValues(lists.todo, left.length + 1), [left.length, ...left]);
  const kept = rowsOf(false);
  deepStrictEqual(rig.wordValues(lists.rows, kept.length), kept);
}

checkKernel(
  'keepBytes: keeps or drops bytes by a table, and leaves some cells',
  fc.tuple(cells, tables),
  (rig, [values, table], before) => {
    const views = rig.texts(values, before);
    const rows = rig.rows(values.length);
    const todo = rig.region((values.length + 1) * 4, 16);
    const bytes = bytesOf(values);
    const next = rig.region(bytes, before);
    const at = rig.byteList(table, before);
    const end = rig.exports.keepBytes(views, rows, values.length, at, next, next + bytes, todo) >>> 0;
    const keep = (value: string): string =>
      Buffer.from([...Buffer.from(value)].filter((byte) => table[byte] === KEEP)).toString();
    const areBack = values.map((value) => isBack(value, table));
    const expected = values.map((value, position) => (value === null || areBack[position] ? value : keep(value)));
    deepStrictEqual(rig.textsOf(views, values.length), expected);
    equalRows(rig, { rows, todo }, areBack);
    equal(end - next, bytesOf(expected.filter((made, position) => made !== values[position])));
  },
  150,
);

checkKernel('keepBytes: 0 without space', cells, (rig, values, before) => {
  const table = rig.byteList(Array<number>(256).fill(KEEP), before);
  const next = rig.region(0, before);
  const todo = rig.region((values.length + 1) * 4, 16);
  const views = rig.texts(values, before);
  const end = rig.exports.keepBytes(views, rig.rows(values.length), values.length, table, next, next, todo) >>> 0;
  equal(end, bytesOf(values) === 0 ? next : 0);
});

checkKernel(
  'listTodo: lists the cells with certain bytes, and changes no cell',
  fc.tuple(cells, tables),
  (rig, [values, table], before) => {
    const views = rig.texts(values, before);
    const rows = rig.rows(values.length);
    const todo = rig.region((values.length + 1) * 4, 16);
    rig.exports.listTodo(views, rows, values.length, rig.byteList(table, before), todo);
    deepStrictEqual(rig.textsOf(views, values.length), values);
    equalRows(
      rig,
      { rows, todo },
      values.map((value) => isBack(value, table)),
    );
  },
);

/** Tests a kernel that writes changed cells to the arena, once with just enough space and once with one byte less. */
function checkWritten(
  rig: KernelRig,
  values: readonly Cell[],
  before: number,
  edit: (value: string) => string,
  run: (views: number, rows: number, next: number, limit: number) => number,
  writes: (value: string) => boolean = () => true,
): void {
  const expected = onTexts(values, edit);
  const bytes = bytesOf(expected.filter((_, position) => values[position] !== null && writes(values[position]!)));
  for (const missing of bytes === 0 ? [0] : [1, 0]) {
    rig.clear();
    const views = rig.texts(values, before);
    const rows = rig.rows(values.length);
    const next = rig.region(bytes - missing, before);
    const end = run(views, rows, next, next + bytes - missing) >>> 0;
    equal(end, missing === 1 ? 0 : next + bytes);
    if (missing === 0) deepStrictEqual(rig.textsOf(views, values.length), expected);
    rig.checkGuards();
  }
}

const bytesIn = (rig: KernelRig, value: string, before: number): [at: number, bytes: number] => {
  const bytes = [...Buffer.from(value)];
  return [rig.byteList(bytes, before), bytes.length];
};

checkKernel(
  'putAround: a text before and after each cell',
  fc.tuple(cells, pieces, pieces),
  (rig, [values, first, last], before) => {
    checkWritten(
      rig,
      values,
      before,
      (value) => first + value + last,
      (views, rows, next, limit) => {
        const around = [...bytesIn(rig, first, before), ...bytesIn(rig, last, before)] as const;
        return rig.exports.putAround(views, rows, values.length, ...around, next, limit);
      },
    );
  },
);

checkKernel(
  'padCells: to a number of characters, on the left or right',
  fc.tuple(cells, fc.nat(40), fc.constantFrom('0', 'é', '漢', '😀'), fc.boolean()),
  (rig, [values, length, fill, isLeft], before) => {
    const missing = (value: string): string => fill.repeat(Math.max(0, length - [...value].length));
    checkWritten(
      rig,
      values,
      before,
      (value) => (isLeft ? missing(value) + value : value + missing(value)),
      (views, rows, next, limit) => {
        const filling = bytesIn(rig, fill, before);
        return rig.exports.padCells(views, rows, values.length, length, ...filling, Number(isLeft), next, limit);
      },
      (value) => [...value].length < length,
    );
  },
);

checkKernel(
  'maskCells: hides all but the first and last characters, or all',
  fc.tuple(cells, fc.nat(6), fc.nat(6), fc.nat(6), fc.constantFrom('*', '漢')),
  (rig, [values, first, last, hiddenMin, sign], before) => {
    checkWritten(
      rig,
      values,
      before,
      (value) => {
        const characters = [...value];
        const isWhole = characters.length < first + last + hiddenMin;
        const isShown = (at: number): boolean => !isWhole && (at < first || at >= characters.length - last);
        return characters.map((character, at) => (isShown(at) ? character : sign)).join('');
      },
      (views, rows, next, limit) => {
        const form = [first, last, hiddenMin, ...bytesIn(rig, sign, before)] as const;
        return rig.exports.maskCells(views, rows, values.length, ...form, next, limit);
      },
    );
  },
);

test('maskCells: reads no byte after a cell that remains visible', (t) => {
  const rig = new KernelRig();
  // The guard byte after the cell could continue a character.
  const views = rig.texts(['aa'], 2);
  const next = rig.region(2, 8);
  const end = rig.exports.maskCells(views, rig.rows(1), 1, 2, 0, 0, rig.byteList([42], 8), 1, next, next + 2);
  t.equal(end, next + 2);
  t.strictSame(rig.textsOf(views, 1), ['aa']);
  rig.checkGuards();
  t.end();
});

checkKernel('truncateCells: the first characters', fc.tuple(cells, fc.nat(40)), (rig, [values, length], before) => {
  const views = rig.texts(values, before);
  rig.exports.truncateCells(views, rig.rows(values.length), values.length, length);
  deepStrictEqual(
    rig.textsOf(views, values.length),
    onTexts(values, (value) => [...value].slice(0, length).join('')),
  );
});

interface Edited {
  readonly old: Cell;
  readonly now: Cell;
  /** True if the edit did not change the view. */
  readonly isSame: boolean;
}

const CELL_BYTES_MAX = 12;
const short = fc.oneof(
  fc.constantFrom(null, '', 'a', 'b', 'x'.repeat(CELL_BYTES_MAX), 'y'.repeat(CELL_BYTES_MAX)),
  cell,
);
const edits = columnOf<Edited>(
  fc.oneof(
    fc.record({ old: short, now: short, isSame: fc.constant(false) }),
    fc.record({ old: short, isSame: fc.boolean() }).map(({ old, isSame }) => ({ old, now: old, isSame })),
  ),
);

/** The cell after an edit, and whether it counts as changed. The result is null if the text is too long. */
function settled({ old, now, isSame }: Edited, emptyToNull: boolean): { cell: Cell; isChanged: boolean } | null {
  if (isSame) return { cell: old, isChanged: false };
  if (now !== null && Buffer.byteLength(now) > CELL_BYTES_MAX) return null;
  // With emptyToNull, null and the empty text are the same, and a cell that had one of them keeps it.
  if (emptyToNull && !now) return old ? { cell: null, isChanged: true } : { cell: old, isChanged: false };
  return { cell: now, isChanged: now !== old };
}

checkKernel(
  'settleViews: counts changed cells, lists long ones, and replaces empty ones',
  fc.tuple(edits, fc.boolean(), fc.boolean()),
  (rig, [given, emptyToNull, wereNull], before) => {
    const all = wereNull ? given.map(({ now }) => ({ old: null, now, isSame: false })) : given;
    const count = all.length;
    const old = rig.texts(
      all.map((edit) => edit.old),
      before,
    );
    const now = rig.texts(
      all.map((edit) => edit.now),
      before + 1,
    );
    for (const [position, { isSame }] of all.entries()) {
      const view = rowOf(position) * 8;
      if (isSame) rig.bytes.copyWithin(now + view, old + view, old + view + 8);
    }
    const todo = rig.region((count + 1) * 4, 16);
    const form = [Number(emptyToNull), CELL_BYTES_MAX, todo] as const;
    const changed = rig.exports.settleViews(wereNull ? 0 : old, now, rig.rows(count), count, ...form) >>> 0;
    const expected = all.map((edit) => settled(edit, emptyToNull));
    equal(changed, expected.filter((made) => made?.isChanged).length);
    deepStrictEqual(
      rig.textsOf(now, count),
      expected.map((made, position) => (made === null ? all[position]!.now : made.cell)),
    );
    const left = expected.flatMap((made, position) => (made === null ? [rowOf(position)] : []));
    deepStrictEqual(rig.wordValues(todo, left.length + 1), [left.length, ...left]);
  },
);

/** Space that the kernel requires after each text. */
const SPARE_BYTES = 16;
const MERGED_BYTES_MAX = 24;

checkKernel(
  'mergeTexts: joins columns, with or without empty cells, and does not write long texts',
  fc.tuple(
    rowCounts.chain((count) =>
      fc.array(fc.array(short, { minLength: count, maxLength: count }), { minLength: 1, maxLength: 3 }),
    ),
    fc.constantFrom('', ', ', 'é'),
    fc.boolean(),
  ),
  (rig, [columns, separator, skipsEmpty], before) => {
    const count = columns[0]!.length;
    const joined = columns[0]!.map((_, position) => {
      const parts = columns.map((column) => column[position] ?? '');
      return parts.filter((part) => !skipsEmpty || part !== '').join(separator);
    });
    const isLong = (value: string): boolean => Buffer.byteLength(value) > MERGED_BYTES_MAX;
    const bytes = bytesOf(joined.filter((value) => !isLong(value)));
    const sources = rig.wordList(
      columns.map((column) => rig.texts(column, before)),
      before,
    );
    const made = rig.region(count * 16, 16);
    const next = rig.region(bytes + SPARE_BYTES, before);
    const rows = rig.rows(count);
    const form = [...bytesIn(rig, separator, before), Number(skipsEmpty), MERGED_BYTES_MAX, made] as const;
    const merge = (limit: number): number =>
      rig.exports.mergeTexts(sources, columns.length, rows, count, ...form, next, limit) >>> 0;
    if (bytes > 0) equal(merge(next + bytes), 0);
    equal(merge(next + bytes + SPARE_BYTES), next + bytes);
    for (const [position, value] of joined.entries()) {
      const view = made + rowOf(position) * 8;
      if (isLong(value)) equal(rig.word(view + 4), MERGED_BYTES_MAX + 1);
      else equal(rig.textAt(view), value === '' ? null : value);
    }
  },
);
