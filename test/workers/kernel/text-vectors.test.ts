// Kernels over vectors of texts (text-vector.ts), against references that use strings of JavaScript.
import { deepStrictEqual, equal } from 'node:assert/strict';
import { test } from 'tap';
import {
  AND,
  FALSE,
  NULL,
  OR,
  SET,
  TEXT_BYTES_MAX,
  TRUE,
  UNKNOWN,
  UNKNOWN_TEXT,
} from '../../../workers/kernel/layout/expressions.ts';
import { fc } from '../../random.ts';
import { checkKernel, columnOf, KernelRig, rowCounts, type ShownText } from './kernel-rig.ts';

const CHARACTERS = ['a', 'b', ',', ':', ' ', 'é', '漢', '😀'];
const text = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 36 }).map((characters) => characters.join(''));
const shown = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);
const separators = fc.constantFrom(',', '::', 'aa', 'é', 'ab,');
const bytesOf = (values: readonly ShownText[]): number =>
  values.reduce((sum, value) => sum + Buffer.byteLength(value ?? ''), 0);
/** Applies a function to the texts. Null and unknown are unchanged. */
const onTexts = (values: readonly ShownText[], edit: (value: string) => ShownText): ShownText[] =>
  values.map((value) => (typeof value === 'string' ? edit(value) : value));

/** Addresses and lengths of views around the maximum length. No kernel of these tests reads the bytes. */
const viewWords = columnOf(
  fc.tuple(
    fc.constantFrom([0, 0], [UNKNOWN_TEXT, 0], [4096, 0], [4096, TEXT_BYTES_MAX], [4096, TEXT_BYTES_MAX + 1]),
    fc.constantFrom(FALSE, TRUE, NULL, UNKNOWN),
  ),
);

checkKernel(
  'gatherTexts: copies views, drops decided positions, and does not know long texts',
  fc.tuple(viewWords, fc.constantFrom(SET, AND, OR)),
  (rig, [cells, mode], before) => {
    const views = rig.wordList(
      cells.flatMap(([view]) => [9, 9, ...view]),
      before,
    );
    const states = rig.byteList(
      cells.map(([, state]) => state),
      before,
    );
    const made = rig.region(cells.length * 8, before);
    rig.exports.gatherTexts(views, rig.rows(cells.length), cells.length, states, mode, made);
    deepStrictEqual(
      rig.wordValues(made, cells.length * 2),
      cells.flatMap(([view, state]) => {
        if ((mode === AND && state === FALSE) || (mode === OR && state === TRUE)) return [0, 0];
        return view[1]! > TEXT_BYTES_MAX ? [UNKNOWN_TEXT, 0] : view;
      }),
    );
  },
);

checkKernel('listTexts: positions that have a text', viewWords, (rig, cells, before) => {
  const vector = rig.wordList(
    cells.flatMap(([view]) => view),
    before,
  );
  const list = rig.region(cells.length * 4, 8);
  const count = rig.exports.listTexts(vector, cells.length, list) >>> 0;
  deepStrictEqual(
    rig.wordValues(list, count),
    cells.flatMap(([[at]], position) => (at! > UNKNOWN_TEXT ? [position] : [])),
  );
});

checkKernel('dropLongTexts: texts above the limit become unknown', viewWords, (rig, cells, before) => {
  const vector = rig.wordList(
    cells.flatMap(([view]) => view),
    before,
  );
  rig.exports.dropLongTexts(vector, cells.length);
  deepStrictEqual(
    rig.wordValues(vector, cells.length * 2),
    cells.flatMap(([view]) => (view[1]! > TEXT_BYTES_MAX ? [UNKNOWN_TEXT, 0] : view)),
  );
});

/** One to three columns with the same number of rows. */
const columns = rowCounts.chain((count) =>
  fc.array(fc.array(shown, { minLength: count, maxLength: count }), { minLength: 1, maxLength: 3 }),
);

/** Sources for the kernels that join: views and rows of each column. */
function sourcesOf(rig: KernelRig, all: readonly (readonly ShownText[])[], before: number): number {
  const rows = rig.rows(all[0]!.length);
  return rig.wordList(
    all.flatMap((column) => [rig.texts(column, before), rows]),
    before,
  );
}

const joined = (
  all: readonly (readonly ShownText[])[],
  join: (parts: readonly ShownText[]) => ShownText,
): ShownText[] => all[0]!.map((_, position) => join(all.map((column) => column[position])));

checkKernel(
  'joinTexts: null if a part is null, unknown if a part is unknown',
  fc.tuple(columns, fc.boolean()),
  (rig, [all, isShort], before) => {
    const expected = joined(all, (parts) => {
      if (parts.includes(undefined)) return undefined;
      return parts.includes(null) ? null : parts.join('');
    });
    const [count, bytes] = [expected.length, bytesOf(expected)];
    const free = isShort ? Math.max(0, bytes - 1) : bytes;
    const made = rig.region(count * 8, before);
    const next = rig.region(free, before);
    const end = rig.exports.joinTexts(sourcesOf(rig, all, before), all.length, count, made, next, next + free) >>> 0;
    equal(end, free < bytes ? 0 : next + bytes);
    if (end !== 0) deepStrictEqual(rig.vectorTexts(made, count), expected);
  },
);

checkKernel(
  'joinPresent: skips null, and is never null itself',
  fc.tuple(columns, separators, fc.boolean()),
  (rig, [all, separator, isShort], before) => {
    const expected = joined(all, (parts) => {
      if (parts.includes(undefined)) return undefined;
      return parts.filter((part) => part !== null).join(separator);
    });
    const [count, bytes] = [expected.length, bytesOf(expected)];
    // The kernel requires space for one separator per source.
    const spare = all.length * Buffer.byteLength(separator);
    const free = isShort ? Math.max(0, bytes - 1) : bytes + spare;
    const made = rig.region(count * 8, before);
    const next = rig.region(free, before);
    const sources = sourcesOf(rig, all, before);
    const between = rig.byteList([...Buffer.from(separator)], before);
    const form = [between, Buffer.byteLength(separator), made, next, next + free] as const;
    const end = rig.exports.joinPresent(sources, all.length, count, ...form) >>> 0;
    if (isShort && bytes > 0) equal(end, 0);
    if (isShort) return;
    equal(end, next + bytes);
    deepStrictEqual(rig.vectorTexts(made, count), expected);
  },
);

test('joined texts are unknown above the limit of the length', (t) => {
  const rig = new KernelRig();
  const [half, more] = ['x'.repeat(TEXT_BYTES_MAX / 2), 'y'.repeat(TEXT_BYTES_MAX / 2 + 1)];
  const sources = sourcesOf(
    rig,
    [
      [half, half],
      [half, more],
    ],
    17,
  );
  const made = rig.region(16, 8);
  const next = rig.region(TEXT_BYTES_MAX, 100);
  rig.exports.joinTexts(sources, 2, 2, made, next, next + TEXT_BYTES_MAX);
  t.strictSame(rig.vectorTexts(made, 2), [half + half, undefined]);
  rig.exports.joinPresent(sources, 2, 2, rig.byteList([44], 1), 0, made, next, next + TEXT_BYTES_MAX);
  t.strictSame(rig.vectorTexts(made, 2), [half + half, undefined]);
  rig.checkGuards();
  t.end();
});

checkKernel(
  'splitTexts: the part with a number, from the start or from the end',
  fc.tuple(columnOf(shown), separators, fc.constantFrom(-4, -3, -2, -1, 1, 2, 3, 4)),
  (rig, [values, separator, number], before) => {
    const views = rig.texts(values, before);
    const between = rig.byteList([...Buffer.from(separator)], before);
    const made = rig.region(values.length * 8, before);
    const rows = rig.rows(values.length);
    rig.exports.splitTexts(views, rows, values.length, between, Buffer.byteLength(separator), number, made);
    deepStrictEqual(
      rig.vectorTexts(made, values.length),
      onTexts(values, (value) => value.split(separator).at(number < 0 ? number : number - 1) ?? null),
    );
  },
);

checkKernel(
  'splitCells: the parts of each cell, where the last one may take the rest',
  fc.tuple(columnOf(fc.option(text, { nil: null, freq: 8 })), separators, fc.integer({ min: 1, max: 4 }), fc.boolean()),
  (rig, [values, separator, parts, takesRest], before) => {
    const count = values.length;
    const views = rig.texts(values, before);
    const between = rig.byteList([...Buffer.from(separator)], before);
    const stride = count * 16;
    const found = rig.region(stride * parts, 16);
    const last = takesRest ? parts - 1 : parts;
    const form = [between, Buffer.byteLength(separator), parts, last, found, stride] as const;
    rig.exports.splitCells(views, rig.rows(count), count, ...form);
    for (let part = 0; part < parts; part += 1) {
      deepStrictEqual(
        rig.textsOf(found + part * stride, count),
        values.map((value) => {
          const all = value?.split(separator) ?? [];
          if (part === last && all.length > part) return all.slice(part).join(separator);
          return all[part] ?? null;
        }),
      );
    }
  },
);

checkKernel(
  'cutTexts: the first or last characters',
  fc.tuple(columnOf(shown), fc.nat(20), fc.boolean()),
  (rig, [values, length, fromEnd], before) => {
    const views = rig.texts(values, before);
    const made = rig.region(values.length * 8, before);
    rig.exports.cutTexts(views, rig.rows(values.length), values.length, length, Number(fromEnd), made);
    deepStrictEqual(
      rig.vectorTexts(made, values.length),
      onTexts(values, (value) => {
        const characters = [...value];
        const from = fromEnd ? Math.max(0, characters.length - length) : 0;
        return characters.slice(from, from + length).join('');
      }),
    );
  },
);

const TO_END = 0xffff_ffff;

checkKernel(
  'sliceTexts: characters of a range, and unknown if the text is shorter',
  fc.tuple(columnOf(shown), fc.nat(20), fc.option(fc.nat(12), { nil: null })),
  (rig, [values, from, length], before) => {
    const views = rig.texts(values, before);
    const made = rig.region(values.length * 8, before);
    const to = length === null ? TO_END : from + length;
    rig.exports.sliceTexts(views, rig.rows(values.length), values.length, from, to, made);
    deepStrictEqual(
      rig.vectorTexts(made, values.length),
      onTexts(values, (value) => {
        const characters = [...value];
        if (characters.length < from + (length ?? 0)) return undefined;
        return characters.slice(from, to).join('');
      }),
    );
  },
);

checkKernel('fillTexts: nulls become the texts of a source', columnOf(fc.tuple(shown, shown)), (rig, pairs, before) => {
  const count = pairs.length;
  const given = rig.texts(
    pairs.map(([first]) => first),
    before,
  );
  const others = rig.texts(
    pairs.map(([, second]) => second),
    before + 1,
  );
  const vector = rig.region(count * 8, before);
  const states = rig.byteList(Array<number>(count).fill(TRUE), before);
  rig.exports.gatherTexts(given, rig.rows(count), count, states, SET, vector);
  rig.exports.fillTexts(vector, others, rig.rows(count), count);
  deepStrictEqual(
    rig.vectorTexts(vector, count),
    pairs.map(([first, second]) => (first === null ? second : first)),
  );
});

checkKernel('sizeTexts: number of characters, null or unknown', columnOf(shown), (rig, values, before) => {
  const views = rig.texts(values, before);
  const made = rig.numberVector(values.length, before);
  rig.exports.sizeTexts(views, rig.rows(values.length), values.length, made.at);
  deepStrictEqual(
    rig.byteValues(made.marks, values.length),
    values.map((value) => (value === null ? NULL : value === undefined ? UNKNOWN : 0)),
  );
  for (const [position, value] of values.entries()) {
    if (typeof value === 'string') equal(rig.double(made.values + position * 8), [...value].length);
  }
});
