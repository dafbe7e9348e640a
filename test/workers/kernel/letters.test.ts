// Kernels that change letters (letters.ts), against references that use strings of JavaScript.
import { deepStrictEqual, equal } from 'node:assert/strict';
import {
  ACCENT_POINTS,
  AS_IT_IS,
  FAR_FIRST,
  FAR_POINTS,
  NEAR_POINTS,
  TO_LOWER,
  TO_UPPER,
} from '../../../workers/kernel/layout/texts.ts';
import { fc } from '../../random.ts';
import { checkKernel, columnOf, type KernelRig, rowOf } from './kernel-rig.ts';

type Cell = string | null;

/** Edit of a cell. null: the kernel leaves the cell to the scalar implementation. */
type Edit = (value: string) => string | null;

/** Cells of which many are pure ASCII, which the kernels process in steps of 16 bytes. */
function cellsOf(ascii: readonly string[], others: readonly string[]): fc.Arbitrary<Cell[]> {
  const textOf = (characters: readonly string[]): fc.Arbitrary<string> =>
    fc.array(fc.constantFrom(...characters), { maxLength: 40 }).map((list) => list.join(''));
  const mixed = textOf([...ascii, ...ascii, ...ascii, ...others]);
  return columnOf(fc.option(fc.oneof(textOf(ascii), mixed, mixed), { nil: null, freq: 8 }));
}

const bytesOf = (values: readonly Cell[]): number =>
  values.reduce((sum, value) => sum + Buffer.byteLength(value ?? ''), 0);

interface Regions {
  readonly views: number;
  readonly rows: number;
  readonly todo: number;
  readonly next: number;
  readonly limit: number;
}

/** Compares the cells, the rows that the kernel left over, and the space that it used. */
function checkEdit(
  rig: KernelRig,
  values: readonly Cell[],
  before: number,
  edit: Edit,
  run: (at: Regions) => number,
  usesSpace: (value: string, made: string) => boolean,
): void {
  const made = values.map((value) => (value === null ? null : edit(value)));
  const isLeft = (position: number): boolean => values[position] !== null && made[position] === null;
  const [views, rows] = [rig.texts(values, before), rig.rows(values.length)];
  const todo = rig.region((values.length + 1) * 4, 16);
  const bytes = bytesOf(values);
  const next = rig.region(bytes, before);
  const end = run({ views, rows, todo, next, limit: next + bytes }) >>> 0;
  const expected = values.map((value, position) => (isLeft(position) ? value : made[position]!));
  deepStrictEqual(rig.textsOf(views, values.length), expected);
  const rowsOf = (wanted: boolean): number[] =>
    values.flatMap((_, position) => (isLeft(position) === wanted ? [rowOf(position)] : []));
  deepStrictEqual(rig.wordValues(rows, rowsOf(false).length), rowsOf(false));
  deepStrictEqual(rig.wordValues(todo, rowsOf(true).length + 1), [rowsOf(true).length, ...rowsOf(true)]);
  const written = made.filter((value, position) => value !== null && usesSpace(values[position]!, value));
  equal(end - next, bytesOf(written));
  // Without space, the kernel reports that cells do not fit.
  const again = rig.texts(values, before);
  const full = run({ views: again, rows: rig.rows(values.length), todo, next, limit: next }) >>> 0;
  if (written.some((value) => value !== '')) equal(full, 0);
}

/** Characters of blocks without case, and characters that the kernel leaves to the scalar implementation. */
const CASELESS = ['–', '漢', '나', '😀'];
const UNKNOWN_CASE = ['ⱥ', '가', 'ﬁ', '𐐀'];
const CASED = [
  'é',
  'É',
  'à',
  'Þ',
  'þ',
  '×',
  '÷',
  'ß',
  'ÿ',
  '\u0080',
  '¿',
  'µ',
  'ı',
  'ž',
  'σ',
  'Ж',
  '\u07ff',
  'Ẁ',
  'ẁ',
  'ẞ',
  'ἀ',
];

const isNear = (point: number): boolean => point < NEAR_POINTS;
const isFar = (point: number): boolean => point >= FAR_FIRST && point < FAR_FIRST + FAR_POINTS;

/** The character in the other case, or null if the table has no entry for it. */
function changed(character: string, isUpper: boolean): string | null {
  const made = isUpper ? character.toUpperCase() : character.toLowerCase();
  const [before, after] = [character.codePointAt(0)!, made.codePointAt(0)!];
  const isSingle = made === String.fromCodePoint(after) && Buffer.byteLength(made) === Buffer.byteLength(character);
  return isSingle && ((isNear(before) && isNear(after)) || (isFar(before) && isFar(after))) ? made : null;
}

function caseTable(isUpper: boolean): Uint8Array {
  const points = Array.from({ length: NEAR_POINTS + FAR_POINTS }, (_, at) =>
    at < NEAR_POINTS ? at : at - NEAR_POINTS + FAR_FIRST,
  );
  const entries = points.map((point) => changed(String.fromCodePoint(point), isUpper)?.codePointAt(0) ?? 0);
  return new Uint8Array(Uint16Array.from(entries).buffer);
}

const CASE_TABLES = [caseTable(false), caseTable(true)];

checkKernel(
  'changeCase: by the table, in blocks without case, or left over',
  fc.tuple(
    cellsOf(['a', 'Z', 'z', 'A', '@', '[', '`', '{', '0'], [...CASED, ...CASELESS, ...UNKNOWN_CASE]),
    fc.boolean(),
  ),
  (rig, [values, isUpper], before) => {
    const table = rig.byteList([...CASE_TABLES[Number(isUpper)]!], before);
    const edit: Edit = (value) => {
      const made = [...value].map((letter) => (CASELESS.includes(letter) ? letter : changed(letter, isUpper)));
      return made.includes(null) ? null : made.join('');
    };
    checkEdit(
      rig,
      values,
      before,
      edit,
      ({ views, rows, todo, next, limit }) =>
        rig.exports.changeCase(views, rows, values.length, isUpper ? TO_UPPER : TO_LOWER, table, next, limit, todo),
      (value, made) => value !== made,
    );
  },
);

const isAscii = (value: string): boolean => Buffer.byteLength(value) === value.length;

/** A letter begins a word unless it follows a letter, a digit, or an apostrophe that follows a letter. */
const titled = (value: string): string =>
  value.toLowerCase().replace(/(?<![a-z0-9]|[a-z]')[a-z]/g, (letter) => letter.toUpperCase());

/**
 * The first letter begins a sentence, and so does the first letter after a full stop and white space, unless a digit precedes it.
 */
const sentenced = (value: string): string =>
  value
    .toLowerCase()
    .replace(
      /(^|[.!?][\t-\r ])([^a-z0-9]*)([a-z])/g,
      (_, stop: string, between: string, letter: string) => stop + between + letter.toUpperCase(),
    );

checkKernel(
  'capitalise: words or sentences of ASCII',
  fc.tuple(cellsOf(['a', 'B', 'z', 'Q', '7', ' ', "'", '.', '!', '\n', '-'], ['é', '漢']), fc.boolean()),
  (rig, [values, isSentence], before) => {
    checkEdit(
      rig,
      values,
      before,
      (value) => (isAscii(value) ? (isSentence ? sentenced(value) : titled(value)) : null),
      ({ views, rows, todo, next, limit }) =>
        rig.exports.capitalise(views, rows, values.length, Number(isSentence), next, limit, todo),
      () => true,
    );
  },
);

/** Entries of a table for the kernel. Characters without an entry are left to the scalar implementation. */
const PLAIN: Readonly<Record<string, string>> = { é: 'e', Æ: 'AE', ø: 'o', ß: 'ß', '\u024f': 'y', '\u0080': '\u0080' };

const ACCENT_TABLE = new Uint16Array(ACCENT_POINTS);
for (const [character, letters] of Object.entries(PLAIN)) {
  const [first, second] = Buffer.from(letters);
  const entry = letters === character ? AS_IT_IS : first! | ((letters.length > 1 ? second! : 0) << 8);
  ACCENT_TABLE[character.codePointAt(0)!] = entry;
}

checkKernel(
  'stripAccents: by the table, or left over',
  cellsOf(['a', 'B', ' ', '7'], [...Object.keys(PLAIN), ...Object.keys(PLAIN), 'ÿ', 'ɐ', '\u0301', '漢', '😀']),
  (rig, values, before) => {
    const table = rig.byteList([...new Uint8Array(ACCENT_TABLE.buffer)], before);
    checkEdit(
      rig,
      values,
      before,
      (value) => {
        const made = [...value].map((letter) => (isAscii(letter) ? letter : (PLAIN[letter] ?? null)));
        return made.includes(null) ? null : made.join('');
      },
      ({ views, rows, todo, next, limit }) =>
        rig.exports.stripAccents(views, rows, values.length, table, next, limit, todo),
      (value) => !isAscii(value),
    );
  },
);
