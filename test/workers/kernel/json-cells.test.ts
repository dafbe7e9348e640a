// Kernels for JSON in cells (json-cells.ts): they normalise and check JSON, find values, and write objects. The references read
// JSON as the runtime does.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { test } from 'tap';
import {
  KIND_BOOLEAN,
  KIND_JSON,
  KIND_NUMBER,
  KIND_TEXT,
  META_NULL,
  NATIVE_KINDS,
} from '../../../workers/kernel/layout/cells.ts';
import { KIND_UNSETTLED } from '../../../workers/kernel/layout/json.ts';
import {
  END,
  FIRST,
  FOUND,
  HERE_END,
  ITEM_COUNT,
  ITEMS,
  KEY_BYTES_MAX,
  KEY_COUNT,
  KEY_SCRATCH,
  KEYS,
  MEMBER_BOOLEAN,
  MEMBER_CELL_BYTES_MAX,
  MEMBER_DATE,
  MEMBER_DATETIME,
  MEMBER_DECIMAL,
  MEMBER_INTEGER,
  MEMBER_JSON,
  MEMBER_NATIVE,
  MEMBER_TEXT,
  NODE_BYTES,
  PATHS_BYTES,
  ROOT,
  STRIDE,
  TEXT_END,
  TEXT_NEXT,
  WORDS_BYTES,
} from '../../../workers/kernel/layout/json-objects.ts';
import { LENGTH_BIT_MAX } from '../../../workers/kernel/layout/null-texts.ts';
import { Decimal, decimalText } from '../../../workers/values/decimal.ts';
import { jsonEntries, jsonItems, jsonKind } from '../../../workers/values/json-text.ts';
import { DAY_MAX, DAY_MIN, dateText, timestampOf, timestampText } from '../../../workers/values/timestamp.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { innerText, json, jsonCell, looseText, placeJsonState } from './json-texts.ts';
import { checkKernel, columnOf, KernelRig, rowCounts, rowOf } from './kernel-rig.ts';

const RUNS = sweep({ short: 60, long: 200 });

/** The text with U+FFFD for an unpaired surrogate, as in UTF-8. */
const inUtf8 = (text: string): string => Buffer.from(text).toString();
const cells = columnOf(fc.option(jsonCell, { nil: null, freq: 8 }));

/** A cell that a reader has copied from the file, with its kind. */
const copied = fc.oneof(
  looseText.map((text) => ({ text, kind: KIND_TEXT | KIND_UNSETTLED })),
  json.map((text) => ({ text, kind: KIND_JSON | KIND_UNSETTLED })),
  fc
    .tuple(fc.constantFrom('NA', 'a b', '\\n', '[1, 2]', ''), fc.nat(NATIVE_KINDS - 1))
    .map(([text, kind]) => ({ text, kind })),
  fc.constantFrom('N\\u0041', '[ ]').map((text) => ({
    text,
    kind: (text === '[ ]' ? KIND_JSON : KIND_TEXT) | KIND_UNSETTLED,
  })),
);

/** Places the list of texts that mean "missing". */
function placeNullTexts(rig: KernelRig, texts: readonly string[]): number {
  const encoded = texts.flatMap((text) => [Buffer.byteLength(text), ...Buffer.from(text.padEnd(4)).subarray(0, 4)]);
  const at = rig.region(8 + texts.length * 8, 16);
  rig.setWord(at, texts.length);
  rig.setWord(
    at + 4,
    texts.reduce((bits, text) => bits | (1 << Math.min(Buffer.byteLength(text), LENGTH_BIT_MAX)), 0) >>> 0,
  );
  for (const [index, value] of encoded.entries()) {
    const place = at + 8 + Math.floor(index / 5) * 8;
    if (index % 5 === 0) rig.setWord(place, value);
    else rig.bytes[place + 3 + (index % 5)] = value;
  }
  return at;
}

checkKernel(
  'settleCells: resolves escapes, removes white space, and clears texts that mean "missing"',
  fc.tuple(columnOf(fc.option(copied, { nil: null, freq: 8 })), fc.subarray(['NA', '[]', '漢'])),
  (rig, [values, nulls], before) => {
    let next = rig.byteList([...Buffer.from(values.map((cell) => cell?.text ?? '').join(''))], before);
    const views = rig.wordList(
      values.flatMap((cell) => {
        const bytes = Buffer.byteLength(cell?.text ?? '');
        next += bytes;
        return cell === null ? [0, 0] : [next - bytes, bytes];
      }),
      before,
    );
    const kinds = rig.byteList(
      values.map((cell) => cell?.kind ?? 0),
      before,
    );
    const replaced = rig.region(values.length * 4, before);
    const texts = nulls.length === 0 ? 0 : placeNullTexts(rig, nulls);
    const count = rig.exports.settleCells(views, kinds, values.length, texts, replaced);
    const settled = values.map((cell) => (cell === null ? null : settledText(cell.text, cell.kind)));
    deepStrictEqual(
      rig.wordValues(replaced, count),
      settled.flatMap((text, row) => (text === null || inUtf8(text) === text ? [] : [row])),
    );
    deepStrictEqual(
      rig.vectorTexts(views, values.length),
      settled.map((text) => (text === null || nulls.includes(text) ? null : inUtf8(text))),
    );
    deepStrictEqual(
      rig.byteValues(kinds, values.length),
      values.map((cell) => (cell?.kind ?? 0) & ~KIND_UNSETTLED),
    );
  },
  RUNS,
);

function settledText(text: string, kind: number): string {
  if ((kind & KIND_UNSETTLED) === 0) return text;
  if ((kind & ~KIND_UNSETTLED) === KIND_TEXT) return JSON.parse(`"${text}"`) as string;
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/gs, '$1');
}

checkKernel(
  'soundCells: narrows cells to their value, and lists rows without valid JSON',
  cells,
  (rig, values, before) => {
    const count = values.length;
    const views = rig.texts(values, before);
    const todo = rig.region((count + 1) * 4, before);
    rig.exports.soundCells(placeJsonState(rig), views, rig.rows(count), count, todo);
    const isNone = (cell: string | null): boolean => cell !== null && jsonKind(cell) === 'none';
    deepStrictEqual(
      rig.wordValues(todo + 4, rig.word(todo)),
      values.flatMap((cell, position) => (isNone(cell) ? [rowOf(position)] : [])),
    );
    deepStrictEqual(
      rig.textsOf(views, count),
      values.map((cell) => (cell === null || isNone(cell) ? cell : jsonKind(cell) === 'null' ? null : cell.trim())),
    );
  },
  RUNS,
);

type Path = readonly (string | number)[];

/** Paths in the order of the tree: the descendants of a path follow it. */
const PATH_LISTS: readonly (readonly Path[])[] = [
  [['a']],
  [[], ['a'], ['a', 'b'], ['a', 'b'], [0], [2]],
  [['b'], ['b', 0], ['b', 0, 'a'], ['b', 1], ['é'], ['']],
  [[1], [1, 1], [1, 'a'], [3]],
];

/** Places the tree of the paths. Texts are written to [next, limit). */
function placePaths(
  rig: KernelRig,
  paths: readonly Path[],
  [found, stride, next, limit]: readonly [found: number, stride: number, next: number, limit: number],
): number {
  let free = rig.region(8_000, 16);
  const take = (bytes: number): number => {
    free += bytes;
    return free - bytes;
  };
  const put = (at: number, words: Readonly<Record<number, number>>): number => {
    for (const [field, value] of Object.entries(words)) rig.setWord(at + Number(field), value);
    return at;
  };
  const placeNode = (first: number, end: number, depth: number): number => {
    let hereEnd = first;
    while (hereEnd < end && paths[hereEnd]!.length === depth) hereEnd += 1;
    const keys: number[][] = [];
    const items: number[][] = [];
    for (let from = hereEnd; from < end; ) {
      const part = paths[from]![depth]!;
      let to = from;
      while (to < end && paths[to]![depth] === part) to += 1;
      const child = placeNode(from, to, depth + 1);
      if (typeof part === 'number') items.push([part, 0, child]);
      else {
        const bytes = Buffer.from(part);
        const at = take(16);
        rig.bytes.set(bytes, at);
        keys.push([at, bytes.length, child]);
      }
      from = to;
    }
    const placeList = (words: readonly (readonly number[])[]): number => {
      const at = take(words.length * WORDS_BYTES);
      for (const [index, word] of words.flat().entries()) rig.setWord(at + index * 4, word);
      return at;
    };
    return put(take(NODE_BYTES), {
      [FIRST]: first,
      [HERE_END]: hereEnd,
      [END]: end,
      [KEYS]: placeList(keys),
      [KEY_COUNT]: keys.length,
      [ITEMS]: placeList(items),
      [ITEM_COUNT]: items.length,
    });
  };
  const root = placeNode(0, paths.length, 0);
  return put(take(PATHS_BYTES), {
    [ROOT]: root,
    [FOUND]: found,
    [STRIDE]: stride,
    [KEY_SCRATCH]: take(KEY_BYTES_MAX),
    [TEXT_NEXT]: next,
    [TEXT_END]: limit,
  });
}

/** The value at a path as a cell. If keys are equal, the last one counts. */
function valueAt(value: string, path: Path): string | null {
  if (path.length === 0) {
    if (value === 'null') return null;
    return value.startsWith('"') ? (JSON.parse(value) as string) : value;
  }
  const [part, ...rest] = path;
  const isFound = value.startsWith('[') ? typeof part === 'number' : value.startsWith('{') && typeof part === 'string';
  if (!isFound) return null;
  const member =
    typeof part === 'number'
      ? [...jsonItems(value)][part]
      : [...jsonEntries(value)].findLast(([key]) => key === part)?.[1];
  return member === undefined ? null : valueAt(member, rest);
}

/** Objects in which a key occurs again, so that values found earlier do not count. */
const repeated = fc
  .array(fc.constantFrom('"a":{"b":1}', '"a":{"b":"\\n"}', '"a":2', '"b":[{"a":3},4]', '"b":[5]', '"b":null'), {
    maxLength: 4,
  })
  .map((members) => `{${members.join(',')}}`);
const searched = columnOf(fc.option(fc.oneof(jsonCell, repeated), { nil: null, freq: 8 }));

checkKernel(
  'findFields: the values at paths, or it lists a row without valid JSON or with half of a surrogate pair',
  fc.tuple(searched, fc.constantFrom(...PATH_LISTS), fc.boolean()),
  (rig, [values, paths, isShort], before) => {
    const count = values.length;
    const views = rig.texts(values, before);
    const stride = count * 16;
    const found = rig.region(stride * paths.length, 16);
    rig.bytes.fill(0, found, found + stride * paths.length);
    const bytes = isShort ? 0 : values.reduce((sum, cell) => sum + Buffer.byteLength(cell ?? '') * paths.length, 0);
    const next = rig.region(bytes, before);
    const tree = placePaths(rig, paths, [found, stride, next, next + bytes]);
    const todo = rig.region((count + 1) * 4, before);
    const isDone = rig.exports.findFields(tree, placeJsonState(rig), views, rig.rows(count), count, todo);
    if (!isDone) {
      ok(isShort && values.some((cell) => cell?.includes('\\') === true));
      return;
    }
    const listed = rig.wordValues(todo + 4, rig.word(todo));
    for (const [position, cell] of values.entries()) {
      const isListed = listed.includes(rowOf(position));
      if (isListed) ok(jsonKind(cell!) === 'none' || /\\ud[89c]/.test(cell!));
      if (cell !== null && jsonKind(cell) === 'none') ok(isListed);
      deepStrictEqual(
        paths.map((_, field) => rig.textAt(found + field * stride + rowOf(position) * 8)),
        paths.map((path) => (cell === null || isListed ? null : valueAt(cell.trim(), path))),
      );
    }
  },
  RUNS,
);

const text = fc
  .array(
    fc.constantFrom(
      'a',
      '"',
      '\\',
      '\n',
      '\u0000',
      '\u001f',
      '\u007f',
      'é',
      '漢',
      '😀',
      '/',
      'x'.repeat(15),
      'x'.repeat(16),
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join(''));
const TEXT_KINDS = [KIND_TEXT, 3, 4, 5];
const BARE_KINDS = [KIND_NUMBER, KIND_BOOLEAN, KIND_JSON];

/** A cell of an object: its views or its word with meta, and its JSON. null: a null cell. */
interface Member {
  readonly text?: string;
  readonly word?: bigint;
  readonly meta: number;
  readonly json: string;
}

const quoted = (value: string): Member => ({ text: value, meta: 0, json: JSON.stringify(value) });
const MEMBERS: readonly { readonly kind: number; readonly values: fc.Arbitrary<Member> }[] = [
  { kind: MEMBER_TEXT, values: text.map(quoted) },
  { kind: MEMBER_JSON, values: innerText.map((inside) => ({ text: `["${inside}"]`, meta: 0, json: `["${inside}"]` })) },
  {
    kind: MEMBER_NATIVE,
    values: fc.oneof(
      fc.tuple(text, fc.constantFrom(...TEXT_KINDS)).map(([value, meta]) => ({ ...quoted(value), meta })),
      fc
        .tuple(fc.constantFrom('1e5', '[1]', 'true'), fc.constantFrom(...BARE_KINDS))
        .map(([value, meta]) => ({ text: value, meta, json: value })),
    ),
  },
  {
    kind: MEMBER_BOOLEAN,
    values: fc.boolean().map((value) => ({ word: 0n, meta: Number(value), json: String(value) })),
  },
  {
    kind: MEMBER_INTEGER,
    values: fc
      .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      .map((value) => ({ word: value, meta: 0, json: String(value) })),
  },
  {
    kind: MEMBER_DECIMAL,
    values: fc
      .tuple(
        fc.oneof(fc.bigInt({ min: -999n, max: 999n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
        fc.constantFrom(0, 1, 2, 18, 19, 253),
      )
      .map(([value, scale]) => ({ word: value, meta: scale, json: decimalText(new Decimal(value, scale)) })),
  },
  {
    kind: MEMBER_DATE,
    values: fc
      .integer({ min: DAY_MIN, max: DAY_MAX })
      .map((days) => ({ word: BigInt(days), meta: 0, json: `"${dateText(days)}"` })),
  },
  {
    kind: MEMBER_DATETIME,
    values: fc
      .tuple(fc.integer({ min: DAY_MIN, max: DAY_MAX }), fc.nat(86_399), fc.constantFrom(0, 1, 120_000, 999_999))
      .map(([days, second, micros]) => ({
        word: BigInt(days * 86_400 + second) * 1_000_000n + BigInt(micros),
        meta: 0,
        json: `"${timestampText(timestampOf(days * 86_400 + second, micros * 1000)!)}"`,
      })),
  },
];

const objects = fc.tuple(fc.array(fc.constantFrom(...MEMBERS), { maxLength: 4 }), rowCounts).chain(([columns, count]) =>
  fc.record({
    count: fc.constant(count),
    columns: fc.tuple(
      ...columns.map(({ kind, values }) =>
        fc.record({
          kind: fc.constant(kind),
          key: fc.constantFrom('a', 'é"', 'k'.repeat(16)),
          cells: fc.array(fc.option(values, { nil: null, freq: 6 }), { minLength: count, maxLength: count }),
        }),
      ),
    ),
  }),
);

/** Places a column that becomes a member. Returns its words for the kernel. */
function placeMember(
  rig: KernelRig,
  {
    kind,
    key,
    cells: column,
  }: { readonly kind: number; readonly key: string; readonly cells: readonly (Member | null)[] },
  before: number,
): number[] {
  const isView = kind <= MEMBER_NATIVE;
  const at = isView
    ? rig.texts(
        column.map((cell) => cell?.text ?? null),
        before,
      )
    : rig.region(column.length * 16, 16);
  const meta = rig.region(column.length * 2 + 1, before);
  for (const [position, cell] of column.entries()) {
    rig.bytes[meta + rowOf(position)] = cell === null && !isView ? META_NULL : (cell?.meta ?? 0);
    if (!isView) rig.setLong(at + rowOf(position) * 8, cell?.word ?? 7n);
  }
  const bytes = [...Buffer.from(`,${JSON.stringify(key)}:`)];
  return [kind, at, meta, rig.byteList(bytes, before), bytes.length];
}

checkKernel(
  'writeObjects: an object for each row, and nothing if there is too little memory',
  fc.tuple(objects, fc.boolean(), fc.boolean()),
  (rig, [{ columns, count }, omitsNulls, isShort], before) => {
    const list = rig.wordList(
      columns.flatMap((column) => placeMember(rig, column, before)),
      8,
    );
    const expected = Array.from({ length: count }, (_, position) => {
      const members = columns.map((column) => ({ key: column.key, cell: column.cells[position]! }));
      const kept = members.filter(({ cell }) => cell !== null || !omitsNulls);
      return `{${kept.map(({ key, cell }) => `${JSON.stringify(key)}:${cell?.json ?? 'null'}`).join(',')}}`;
    });
    const made = expected.reduce((sum, object) => sum + Buffer.byteLength(object), 0);
    // The kernel asks for space for the longest value that a cell may become.
    const free = isShort ? Math.max(0, made - 1) : made * 6 + 1000;
    const views = rig.region(count * 16, before);
    const next = rig.region(free, before);
    const todo = rig.region((count + 1) * 4, 16);
    const form = [views, next, next + free, todo] as const;
    const end =
      rig.exports.writeObjects(list, columns.length, rig.rows(count), count, Number(omitsNulls), ...form) >>> 0;
    equal(end, isShort && count > 0 ? 0 : next + made);
    if (end === 0) return;
    equal(rig.word(todo), 0);
    deepStrictEqual(rig.textsOf(views, count), expected);
  },
  RUNS,
);

test('writeObjects lists a row with a long cell', (t) => {
  for (const bytes of [MEMBER_CELL_BYTES_MAX, MEMBER_CELL_BYTES_MAX + 1]) {
    const rig = new KernelRig();
    const column = { kind: MEMBER_JSON, key: 'a', cells: [quoted('b'), quoted('1'.repeat(bytes))] };
    const list = rig.wordList(placeMember(rig, column, 17), 8);
    const [views, todo, rows] = [rig.region(32, 8), rig.region(12, 8), rig.rows(2)];
    // The kernel requires space for six times the bytes. It writes less, so the limit may be after the end of the region.
    const next = rig.region(bytes + 100, 200);
    const end = rig.exports.writeObjects(list, 1, rows, 2, 0, views, next, next + bytes * 7, todo) >>> 0;
    const isLong = bytes > MEMBER_CELL_BYTES_MAX;
    t.strictSame(rig.wordValues(todo + 4, rig.word(todo)), isLong ? [rowOf(1)] : []);
    t.equal(end - next, '{"a":b}'.length + (isLong ? 0 : '{"a":}'.length + bytes));
    rig.checkGuards();
  }
  t.end();
});
