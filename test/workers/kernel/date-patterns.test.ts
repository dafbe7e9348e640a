// Kernels that read and write dates by patterns (dates.ts), against values/date-pattern.ts.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { META_NULL } from '../../../workers/kernel/layout/cells.ts';
import { NULL, UNKNOWN } from '../../../workers/kernel/layout/expressions.ts';
import {
  DAY,
  DIGITS_AT,
  HOUR,
  LITERAL,
  LITERALS_AT,
  LONG_YEAR,
  MINUTE,
  MONTH,
  PARTS,
  PATTERN_BYTES,
  PIVOT,
  PLACES_AT,
  PLACES_MAX,
  SECOND,
  SHORT_YEAR,
  TEXT_AT,
  WIDTH,
  YEAR,
} from '../../../workers/kernel/layout/numbers.ts';
import { compileDatePattern, type DatePattern } from '../../../workers/values/date-pattern.ts';
import { DAY_MAX, DAY_MIN } from '../../../workers/values/timestamp.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { checkKernel, columnOf, type KernelRig, rowOf } from './kernel-rig.ts';

const RUNS = sweep({ short: 80, long: 250 });

function compiled(source: string): DatePattern {
  const pattern = compileDatePattern(source);
  if ('problem' in pattern) throw new Error(pattern.problem);
  return pattern;
}

/** Some patterns have texts of one width of up to 16 bytes, for which the kernels use tables. */
const PATTERNS = [
  'yyyy-MM-dd',
  'dd.MM.yy',
  'yyyyMMdd',
  'dd.MM.yyyy HH:mm',
  'HHmmss ddMMyy',
  'd.M.yyyy',
  "yyyy-MM-dd'T'HH:mm:ss",
  'd/M/yy H:m',
].map(compiled);

const KINDS: Readonly<Record<string, number>> = { y: YEAR, M: MONTH, d: DAY, H: HOUR, m: MINUTE, s: SECOND };
/** Position of the digits of each kind in CCYYMMDDhhmmss. */
const PLACES: Readonly<Record<number, number>> = {
  [YEAR]: 0,
  [SHORT_YEAR]: 2,
  [MONTH]: 4,
  [DAY]: 6,
  [HOUR]: 8,
  [MINUTE]: 10,
  [SECOND]: 12,
};
const NOWHERE = 0xff;

interface Part {
  readonly kind: number;
  readonly least: number;
  readonly most: number;
  /** The byte of a literal, or the pivot of a two-digit year. */
  readonly extra: number;
}

function partsOf({ parts, twoDigitYearPivot }: DatePattern): Part[] {
  return parts.flatMap(({ letter, count, literal }): Part[] => {
    if (letter === '') return [...Buffer.from(literal)].map((extra) => ({ kind: LITERAL, least: 0, most: 0, extra }));
    if (letter === 'y' && count === 2) return [{ kind: SHORT_YEAR, least: 2, most: 2, extra: twoDigitYearPivot }];
    const least = letter === 'y' ? 4 : count;
    return [{ kind: KINDS[letter]!, least, most: Math.max(least, 2), extra: 0 }];
  });
}

/** The head of a pattern. Its tables map positions of the text to digits for reading, and digits to positions for writing. */
function headOf(parts: readonly Part[], reads: boolean): number[] {
  const bytes = Buffer.alloc(PATTERN_BYTES);
  bytes.fill(NOWHERE, PLACES_AT, PLACES_AT + PLACES_MAX);
  bytes.writeUInt32LE(parts.length, PARTS);
  let width = 0;
  let pivot = LONG_YEAR as number;
  for (const { kind, least, most, extra } of parts) {
    // A kernel uses tables only if no part varies in width.
    if (least !== most || width + Math.max(1, least) > PLACES_MAX) return headWithoutWidth(parts);
    if (kind === LITERAL) {
      bytes[LITERALS_AT + width] = 0xff;
      bytes[TEXT_AT + width++] = extra;
      continue;
    }
    if (kind === SHORT_YEAR) pivot = extra;
    for (let digit = 0; digit < least; digit += 1, width += 1) {
      const place = PLACES[kind]! + digit;
      bytes[DIGITS_AT + width] = 0xff;
      if (reads) bytes[PLACES_AT + place] = width;
      else bytes[PLACES_AT + width] = place;
    }
  }
  bytes.writeUInt32LE(width, WIDTH);
  bytes.writeUInt32LE(pivot, PIVOT);
  return wordsOf(bytes);
}

function headWithoutWidth(parts: readonly Part[]): number[] {
  const bytes = Buffer.alloc(PATTERN_BYTES);
  bytes.writeUInt32LE(parts.length, PARTS);
  return wordsOf(bytes);
}

function wordsOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, word) => bytes.readUInt32LE(word * 4));
}

function placeProgram(rig: KernelRig, patterns: readonly DatePattern[], reads: boolean): number {
  const words = patterns.flatMap((pattern) => {
    const parts = partsOf(pattern);
    return [...headOf(parts, reads), ...parts.flatMap(({ kind, least, most, extra }) => [kind, least, most, extra])];
  });
  return rig.wordList([patterns.length, ...words], 8);
}

const days = fc.oneof(
  fc.integer({ min: DAY_MIN, max: DAY_MAX }),
  fc.integer({ min: -40_000, max: 40_000 }),
  fc.constantFrom(DAY_MIN, DAY_MAX, 0, 59, 60, 11_016, 11_017, -25_509),
);
const dateText = fc
  .tuple(
    fc.constantFrom(...PATTERNS),
    days,
    fc.nat(86_399),
    fc.constantFrom('', '', '', '', ' ', '  ', 'x', '0'),
    fc.constantFrom('', '', '', ' '),
  )
  .map(([pattern, day, second, after, before]) => {
    return before + pattern.format({ days: day, second, nanos: 0, offsetSeconds: null }) + after;
  });
const nearly = fc.constantFrom(
  ...['', ' ', '-', '2026-02-29', '2024-02-29', '2026-13-01', '2026-00-10', '2026-01-00', '0000-01-01', '1900-02-29'],
  ...[
    '31.04.2026',
    '1.1.26',
    '99999999',
    '20260230',
    '01.01.2026 24:00',
    '01.01.2026 23:60',
    '2026-01-1',
    '2026/01/01',
  ],
  ...['2026-01-01T00:00:60', '１２', 'é'],
);

const DAY_MICROS = 86_400_000_000n;

checkKernel(
  'readDates: the day or moment of each text by the first pattern that matches, or it lists the row',
  fc.tuple(
    columnOf(fc.option(fc.oneof({ weight: 3, arbitrary: dateText }, nearly), { nil: null, freq: 8 })),
    fc.uniqueArray(fc.constantFrom(...PATTERNS), { minLength: 1, maxLength: 3 }),
    fc.boolean(),
  ),
  (rig, [cells, patterns, withTime], before) => {
    const count = cells.length;
    const views = rig.texts(cells, before);
    const program = placeProgram(rig, patterns, true);
    const [at, meta] = [rig.region(count * 16, 16), rig.region(count * 2 + 1, before)];
    const todo = rig.region((count + 1) * 4, before);
    const form = [program, Number(withTime), at, meta, todo] as const;
    const filled = rig.exports.readDates(views, rig.rows(count), count, ...form);
    const expected = cells.map((cell) => {
      if (cell === null) return null;
      const text = cell.replace(/^ +| +$/g, '');
      return patterns.map((pattern) => pattern.parse(text)).find((fields) => fields !== null) ?? null;
    });
    const listed = rig.wordValues(todo + 4, rig.word(todo));
    equal(filled, cells.filter((cell) => cell !== null).length - listed.length);
    for (const [position, fields] of expected.entries()) {
      const row = rowOf(position);
      const cell = cells[position]!;
      const isListed = listed.includes(row);
      if (cell === null) equal(rig.bytes[meta + row], META_NULL);
      // The reference also reads midnight at the end of a day, which the kernel leaves to the reference.
      if (isListed) ok(fields === null || (fields.second === 0 && /24:?00/.test(cell!)));
      else ok(cell === null || fields !== null);
      if (fields === null || isListed) continue;
      equal(rig.bytes[meta + row], 0);
      const moment = BigInt(fields.days) * DAY_MICROS + BigInt(fields.second) * 1_000_000n;
      equal(rig.long(at + row * 8), withTime ? moment : BigInt(fields.days));
    }
  },
  RUNS,
);

const seconds = fc.oneof(fc.integer({ min: 0, max: 86_399 }), fc.constantFrom(0, 59, 60, 3599, 3600, 86_399));
const moments = fc.record({ days, second: seconds, micros: fc.constantFrom(0, 0, 1, 999_999) });

checkKernel(
  'writeDates: the texts of days and moments, and nothing if there is too little memory',
  fc.tuple(
    columnOf(fc.option(moments, { nil: null, freq: 8 })),
    fc.constantFrom(...PATTERNS),
    fc.boolean(),
    fc.boolean(),
  ),
  (rig, [cells, pattern, withTime, isShort], before) => {
    const count = cells.length;
    const [at, meta] = [rig.region(count * 16, 16), rig.region(count * 2 + 1, before)];
    for (const [position, cell] of cells.entries()) {
      const { days: day, second, micros } = cell ?? { days: 77, second: 0, micros: 0 };
      const moment = BigInt(day) * DAY_MICROS + BigInt(second) * 1_000_000n + BigInt(micros);
      rig.setLong(at + rowOf(position) * 8, withTime ? moment : BigInt(day));
      rig.bytes[meta + rowOf(position)] = cell === null ? META_NULL : 0;
    }
    const texts = cells.map((cell) => (cell === null ? null : textOf(pattern, cell.days, withTime ? cell.second : 0)));
    const made = texts.reduce((sum, text) => sum + (text ?? '').length, 0);
    // The kernel asks for space for nine bytes per part of the pattern.
    const free = isShort ? Math.max(0, made - 1) : made + 9 * PATTERN_BYTES;
    const next = rig.region(free, before);
    const views = rig.region(count * 16, before);
    const form = [Number(withTime), placeProgram(rig, [pattern], false), views, next, next + free] as const;
    const end = rig.exports.writeDates(at, meta, rig.rows(count), count, ...form) >>> 0;
    equal(end, isShort && made > 0 ? 0 : next + made);
    if (end !== 0) deepStrictEqual(rig.textsOf(views, count), texts);
    ok(end <= next + free);
  },
  RUNS,
);

checkKernel(
  'formatDates: the texts of the dates of a vector; null and unknown stay so',
  fc.tuple(
    columnOf(fc.oneof({ weight: 4, arbitrary: days }, fc.constantFrom(null, undefined))),
    fc.constantFrom(...PATTERNS),
  ),
  (rig, [cells, pattern], before) => {
    const count = cells.length;
    const dates = rig.numberVector(count, before);
    for (const [position, cell] of cells.entries()) {
      rig.setDouble(dates.values + position * 8, cell ?? 0);
      rig.bytes[dates.marks + position] = cell === null ? NULL : cell === undefined ? UNKNOWN : 0;
    }
    const texts = cells.map((cell) => (cell == null ? cell : textOf(pattern, cell, 0)));
    const made = texts.reduce((sum, text) => sum + (text ?? '').length, 0);
    const free = made + 9 * PATTERN_BYTES;
    const next = rig.region(free, before);
    const views = rig.region(count * 8, before);
    const program = placeProgram(rig, [pattern], false);
    equal(rig.exports.formatDates(dates.at, count, program, views, next, next + free) >>> 0, next + made);
    deepStrictEqual(rig.vectorTexts(views, count), texts);
    if (made > 0) equal(rig.exports.formatDates(dates.at, count, program, views, next, next + made - 1), 0);
  },
  RUNS,
);

function textOf(pattern: DatePattern, day: number, second: number): string {
  return pattern.format({ days: day, second, nanos: 0, offsetSeconds: null });
}
