// The JSON kernels against their scalar reference implementation and JSON.parse: all keys, values, escapes and white space, in
// windows of any size, with and without the prediction of keys.
import { deepStrictEqual } from 'node:assert/strict';
import { test } from 'tap';
import { KIND_TEXT } from '../../../workers/kernel/layout/cells.ts';
import { type PlainMember, readJson } from '../../../workers/kernel/plain/read-json.ts';
import { type CodeCounts, countCode } from '../../../workers/protocol/report.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { type Cell, type JsonFile, readJsonFile, refusalOf } from '../input/json/read-json-file.ts';

const REPLACEMENT = '\ufffd';

const space = fc.constantFrom('', '', '', ' ', '\n', '\r\n', '\t', '        ', `\n${' '.repeat(20)}`);

/** A character in one of the notations that JSON allows. */
const character = fc
  .tuple(
    fc.oneof(
      fc.constantFrom('a', 'é', '語', '😀', '"', '\\', '/', '\b', '\f', '\n', '\r', '\t', '\u0000', '\ud800', '\udc00'),
      // U+FFFD in a cell indicates a lone surrogate to the test.
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((sign) => sign !== REPLACEMENT),
    ),
    fc.boolean(),
  )
  .map(([sign, escapes]) => {
    const units = Array.from({ length: sign.length }, (_, index) => sign.charCodeAt(index));
    if (escapes) return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
    return JSON.stringify(sign).slice(1, -1);
  });

const text = fc
  .oneof(fc.array(character, { maxLength: 5 }), fc.array(character, { maxLength: 40 }), fc.constant(['x'.repeat(70)]))
  .map((characters) => `"${characters.join('')}"`);
const key = fc.oneof(
  fc.constantFrom('"a"', '"b"', '"c"', '"\\u0061"', '""', '"a\\":1,\\"b"', '"a key of some thirty bytes, 30"', '"k.c"'),
  // A record with another key is refused.
  text.filter((quoted) => isWellFormed(JSON.parse(quoted) as string)),
);
const number = fc.oneof(
  fc.constantFrom('0', '-0', '1.50', '1e5', '-12.0E-7', '1E+400', '12345678901234567890123', '0.1'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);
const scalar = fc.oneof(text, number, fc.constantFrom('true', 'false', 'null', '""'));
const { value } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('list'), tie('object')),
  list: fc
    .tuple(space, fc.array(fc.tuple(space, tie('value'), space), { maxLength: 3 }))
    .map(([inner, items]) => (items.length === 0 ? `[${inner}]` : `[${items.map((item) => item.join('')).join(',')}]`)),
  object: fc
    .tuple(space, fc.array(member(tie('value')), { maxLength: 3 }))
    .map(([inner, members]) => braces(inner, members)),
}));

function member(of: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(space, key, space, space, of, space)
    .map(([a, name, b, c, json, d]) => `${a}${name}${b}:${c}${json}${d}`);
}

function braces(inner: string, members: readonly string[]): string {
  return members.length === 0 ? `{${inner}}` : `{${members.join(',')}}`;
}

const record = fc
  .tuple(space, fc.array(member(value), { maxLength: 6 }))
  .map(([inner, members]) => braces(inner, members));
const records = fc.array(record, { maxLength: 12 });
const reading = fc.record({
  windowBytes: fc.constantFrom(16, 17, 40, 200, 524_288),
  guesses: fc.boolean(),
  chunks: fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 4 }).map((sizes) => [...sizes, 7]),
  rowsMax: fc.constantFrom(1, 3, 4096),
});

interface Table {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly counts: CodeCounts;
}

/**
 * The last of equal keys counts, and filled cells before it are counted. Columns are in the order of the first
 * appearance of their keys.
 */
function tableOf(all: readonly PlainMember[][]): Table {
  const headers = [...new Set(all.flatMap((members) => members.map(([name]) => name)))];
  const rows = all.map((members) => {
    const cells = new Map(members);
    return headers.map((name): Cell => {
      const cell = cells.get(name) ?? null;
      return cell === null || cell.text === '' ? null : [cell.kind, cell.text];
    });
  });
  return { headers, rows, counts: countsOf(all) };
}

function countsOf(all: readonly PlainMember[][]): CodeCounts {
  const counts: CodeCounts = {};
  for (const [index, members] of all.entries()) {
    const filled = members.filter(([name, cell], place) => {
      const isLast = !members.slice(place + 1).some(([other]) => other === name);
      return !isLast && cell !== null && cell.text !== '';
    });
    for (const _ of filled) countCode(counts, 'DUPLICATE_KEY', index + 1);
    for (const cell of new Map(members).values()) {
      const isReplaced = cell?.kind === KIND_TEXT && cell.text.includes(REPLACEMENT);
      if (isReplaced) countCode(counts, 'LONE_SURROGATE', index + 1);
    }
  }
  return counts;
}

function tableRead({ headers, rows, counts }: JsonFile): Table {
  return { headers, rows, counts };
}

test('records one after the other', async (t) => {
  const separators = fc.constantFrom('\n', '', '\n\n', ' ', '\r\n');
  const property = fc.asyncProperty(records, separators, reading, async (objects, separator, how) => {
    const text = objects.join(separator);
    const expected = tableOf(readJson(text));
    const got = await readJsonFile(text, { ...how, input: { json: { records: '' } } });
    deepStrictEqual(tableRead(got), expected);
  });
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 150, long: 5_000 }) }));
});

test('records in a list, and in a list inside an object', async (t) => {
  const around = fc
    .tuple(space, member(value), member(value))
    .map(([inner, before, after]) => (list: string): readonly [string, string] => [
      `${inner}{"x":{},${before},"the list":${list},${after}}`,
      '/the list',
    ]);
  const frame = fc.oneof(
    fc.constant((list: string): readonly [string, string] => [list, '']),
    fc.constant((list: string): readonly [string, string] => [`[7,{"~/ ":${list}},[]]`, '/1/~0~1 ']),
    around,
  );
  const property = fc.asyncProperty(records, space, frame, reading, async (objects, gap, put, how) => {
    const [text, pointer] = put(`[${gap}${objects.join(`${gap},${gap}`)}${gap}]`);
    if (/"the list"/.test(text.replace('"the list"', ''))) return;
    const expected = tableOf(readJson(objects.join('')));
    const got = await readJsonFile(text, { ...how, input: { json: { records: pointer } } });
    deepStrictEqual(tableRead(got), expected);
  });
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 100, long: 4_000 }) }));
});

test('the scalar reference equals JSON.parse', async (t) => {
  const property = fc.property(records, (objects) => {
    for (const [index, members] of readJson(objects.join('')).entries()) {
      const parsed = Object.entries(JSON.parse(objects[index]!) as Record<string, unknown>);
      const expected = parsed.map(([name, inner]) => [wellFormed(name), inner === null ? null : textOf(inner)]);
      const got = [...new Map(members)].map(([name, cell]) => [name, cell === null ? null : looseText(cell.text)]);
      const sorted = (list: unknown[]): string[] => list.map((entry) => JSON.stringify(entry)).sort();
      // Keys that differ only in unpaired surrogates are equal in UTF-8.
      if (new Set(expected.map(([name]) => name)).size < expected.length) continue;
      deepStrictEqual(sorted(got), sorted(expected));
    }
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 120, long: 5_000 }) }));
});

function isWellFormed(name: string): boolean {
  return wellFormed(name) === name;
}

function wellFormed(name: string): string {
  return Buffer.from(name).toString();
}

/** The text of a cell. Numbers and JSON are compared by value, because JSON.parse keeps only the value. */
function textOf(inner: unknown): string {
  return typeof inner === 'string' ? looseText(wellFormed(inner)) : `= ${JSON.stringify(inner)}`;
}

function looseText(cell: string): string {
  try {
    const parsed: unknown = JSON.parse(cell);
    return typeof parsed === 'string' ? cell : `= ${JSON.stringify(parsed)}`;
  } catch {
    return cell;
  }
}

test('a text that JSON.parse refuses is refused, at any window', async (t) => {
  const signs = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '0',
    '-',
    '.',
    'e',
    'n',
    't',
    ' ',
    '\n',
    '\u0001',
    '1',
  );
  const change = fc.record({ at: fc.nat(400), sign: signs, drops: fc.nat(2) });
  const property = fc.asyncProperty(records, change, reading, async (objects, { at, sign, drops }, how) => {
    const sound = `[${objects.join(',')}]`;
    const place = at % sound.length;
    const broken = Buffer.from(sound.slice(0, place) + sign + sound.slice(place + drops)).toString();
    const isValid = isListOfObjects(broken);
    // A blank file is not a JSON file.
    fc.pre(broken.trim() !== '');
    const refusal = await refusalOf(broken, { ...how, input: { json: { records: '' } } });
    deepStrictEqual({ broken, isValid: refusal === 'none' }, { broken, isValid });
    if (!isValid) deepStrictEqual(/^MALFORMED_FILE: Line [0-9]+, column [1-9][0-9]*: [^\n]+\.$/.test(refusal), true);
  });
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 380, long: 20_000 }) }));
});

function isListOfObjects(broken: string): boolean {
  try {
    const parsed: unknown = JSON.parse(broken);
    return (
      Array.isArray(parsed) &&
      (parsed.every((item) => isRecord(item) && Object.keys(item).every(isWellFormed)) || isListOfLists(parsed))
    );
  } catch {
    return false;
  }
}

function isRecord(item: unknown): item is object {
  return item !== null && typeof item === 'object' && !Array.isArray(item);
}

function isListOfLists(parsed: readonly unknown[]): boolean {
  return parsed.every((item) => Array.isArray(item));
}
