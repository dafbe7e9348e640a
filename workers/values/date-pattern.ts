// Date patterns in CLDR syntax (`dd.MM.yyyy HH:mm`): splits a pattern into pieces, parses whole texts, and formats
// dates.

import { DATE_NAMES, type DateNames, foldName, type Spelling } from './month-names.ts';
import { normalise } from './normalise.ts';
import { type TimeZone, ZoneNames, zoneTextAt, zoneTextOf } from './time-zone.ts';
import {
  type CivilDate,
  civilDate,
  DAY_MAX,
  type DateFields,
  dayNumber,
  dayOfIsoWeek,
  dayOfYear,
  isDate,
  isoWeek,
  isoWeekday,
  offsetText,
  parseOffset,
} from './timestamp.ts';

// Hints for letters of other date pattern languages: Excel's, German ones, strptime's.

const DAY = 'd is the day, M the month, y the year, as in dd.MM.yyyy';
const YEAR = 'y is the year, M the month, d the day, as in dd.MM.yyyy';
/** Hint for strptime patterns. */
const NO_PERCENT = 'it has no percent signs: write dd.MM.yyyy for %d.%m.%Y, HH:mm:ss for %H:%M:%S';

/** The probable meaning of a letter from another pattern language, prefixed by `: `, or ''. */
function letterHint(letter: string): string {
  const meant: Readonly<Record<string, string>> = {
    D: DAY,
    T: DAY,
    t: DAY,
    j: DAY,
    Y: YEAR,
    J: YEAR,
    A: YEAR,
    u: YEAR,
    k: 'H is the hour',
  };
  return Object.hasOwn(meant, letter) ? `: ${meant[letter]}` : '';
}

// Splits a date pattern into pieces: repeated letters and literals.

/**
 * Maximum length of a pattern, in characters: far more than real patterns have, and short enough to compile quickly.
 */
const DATE_PATTERN_LENGTH_MAX = 100;

/** One piece of a pattern: a literal (with an empty `letter`), or a letter repeated `count` times. */
export interface DatePart {
  readonly letter: string;
  readonly count: number;
  readonly literal: string;
  /** A fraction of a second after a decimal mark: a text may have any number of its digits. */
  readonly anyLength?: boolean;
}

const COUNTS: Readonly<Record<string, readonly number[]>> = {
  y: [1, 2, 4],
  M: [1, 2, 3, 4],
  d: [1, 2],
  D: [1, 3],
  E: [1, 2, 3, 4],
  H: [1, 2],
  h: [1, 2],
  m: [1, 2],
  s: [1, 2],
  S: [1, 2, 3, 4, 5, 6, 7, 8, 9],
  a: [1],
  X: [1, 2, 3],
  Z: [1, 5],
  z: [1],
  Q: [1, 3],
  Y: [4],
  w: [1, 2],
  e: [1],
  o: [1],
};

/** Returns the pieces, or a sentence about what is wrong with the pattern. */
export function splitPattern(source: string): DatePart[] | string {
  if (source.length === 0 || source.length > DATE_PATTERN_LENGTH_MAX) {
    return `a date pattern has 1 to ${DATE_PATTERN_LENGTH_MAX} characters`;
  }
  const parts: DatePart[] = [];
  for (const [piece, quoted, run] of source.matchAll(/'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z]/g)) {
    if (quoted !== undefined) {
      parts.push({ letter: '', count: 0, literal: quoted === '' ? "'" : quoted.replaceAll("''", "'") });
    } else if (run === undefined) {
      if (piece === "'") return "a quote ' is not closed";
      parts.push({ letter: '', count: 0, literal: piece });
    } else {
      const allowed = Object.hasOwn(COUNTS, run) ? COUNTS[run] : undefined;
      const isKnown = allowed?.includes(piece.length) === true && run !== 'Y';
      if (!isKnown && source.includes('%')) return NO_PERCENT;
      if (allowed === undefined)
        return `the letter ${run} means nothing in a date pattern (put text in '...')${letterHint(run)}`;
      if (run === 'Y' && piece.length !== 4) return `the letter Y means nothing in a date pattern${letterHint('Y')}`;
      if (run === 'D' && !allowed.includes(piece.length))
        return `D is the day of the year, written D or DDD${letterHint('D')}`;
      if (!allowed.includes(piece.length)) return `${run} is written ${allowed.map((n) => run.repeat(n)).join(' or ')}`;
      if (parts.some((part) => part.letter === run)) return `${run} comes twice`;
      if (run === 'o' && parts.at(-1)?.letter !== 'd')
        return 'o is the ending of a day (1st, 31st), as in MMMM do, yyyy';
      parts.push({ letter: run, count: piece.length, literal: '' });
    }
  }
  return parts.map((part, index) => (isOpenFraction(parts, index) ? { ...part, anyLength: true } : part));
}

/** A fraction without a decimal mark, or before other digits, has as many digits as the pattern has letters. */
function isOpenFraction(parts: readonly DatePart[], index: number): boolean {
  const [before, part, next] = [parts[index - 1], parts[index]!, parts[index + 1]];
  const isLast = next === undefined || 'aXZz'.includes(next.letter || '?') || /^[^0-9]/.test(next.literal);
  return part.letter === 'S' && before !== undefined && /[.,]$/.test(before.literal) && isLast;
}

// Matches the literal parts of a date pattern in a text.

/**
 * Matches a literal at `at` and returns the position after it, or -1. A space in the literal matches any single
 * Unicode space, because browsers and spreadsheets put no-break spaces before AM and PM.
 */
function parseLiteral(literal: string, text: string, at: number): number {
  const end = at + literal.length;
  if (text.startsWith(literal, at)) return end;
  if (!literal.includes(' ') || end > text.length) return -1;
  for (let i = 0; i < literal.length; i++) {
    const [wanted, found] = [literal[i]!, text[at + i]!];
    if (found !== wanted && !(wanted === ' ' && SPACE.test(found))) return -1;
  }
  return end;
}

/** Unicode spaces that have a width, without tabs and line breaks. */
const SPACE = /\p{Zs}/u;

// Formats a date and time according to the pieces of a date pattern.

/** Formats a date and time. */
function writeDate(parts: readonly DatePart[], names: DateNames, fields: DateFields): string {
  const date = civilDate(fields.days);
  let text = '';
  for (const part of parts) text += part.letter === '' ? part.literal : formatPart(part, names, fields, date);
  return text;
}

function formatPart({ letter, count }: DatePart, names: DateNames, fields: DateFields, date: CivilDate): string {
  const { year, month, day } = date;
  const hour = Math.floor(fields.second / 3600);
  const digits = (value: number) => (count === 2 && value < 10 ? `0${value}` : String(value));
  if (letter === 'y') return count === 2 ? digits(year % 100) : String(year).padStart(4, '0');
  if (letter === 'Y') return String(isoWeek(fields.days).year).padStart(4, '0');
  if (letter === 'w') return digits(isoWeek(fields.days).week);
  if (letter === 'e') return String(isoWeekday(fields.days));
  if (letter === 'Q') return `${count === 3 ? 'Q' : ''}${Math.ceil(month / 3)}`;
  if (letter === 'M' && count >= 3) return (count === 3 ? names.monthsShort : names.months)[month - 1]!;
  if (letter === 'M') return digits(month);
  if (letter === 'd') return digits(day);
  if (letter === 'o') return names.ordinalOf(day);
  if (letter === 'D') return String(dayOfYear(fields.days)).padStart(count, '0');
  if (letter === 'E') return (count === 4 ? names.weekdays : names.weekdaysShort)[isoWeekday(fields.days) - 1]!;
  if (letter === 'H') return digits(hour);
  if (letter === 'h') return digits(hour % 12 === 0 ? 12 : hour % 12);
  if (letter === 'm') return digits(Math.floor(fields.second / 60) % 60);
  if (letter === 's') return digits(fields.second % 60);
  if (letter === 'S') return String(fields.nanos).padStart(9, '0').slice(0, count);
  if (letter === 'a') return hour < 12 ? 'AM' : 'PM';
  if (letter === 'z') return zoneTextOf(fields.offsetSeconds ?? 0);
  const offset = offsetText(fields.offsetSeconds ?? 0);
  if (offset === 'Z') return letter === 'X' ? 'Z' : '+00:00'.replace(':', count === 1 ? '' : ':');
  return count === 3 || count === 5 ? offset : offset.replace(':', '');
}

// Date patterns in CLDR syntax (`dd.MM.yyyy HH:mm`): parses whole texts and formats dates. Named zones, ranges of
// years and error codes are the responsibility of callers.

/**
 * Options for parsing. `locale` is a code of month-names.ts. Two-digit years above `pivot` belong to the previous
 * century (default 68: 69 is 1969, 68 is 2068). `defaultYear` is the year of texts whose pattern has no year; NaN if
 * such texts do not occur.
 */
export interface DatePatternOptions {
  locale?: string;
  twoDigitYearPivot?: number;
  defaultYear?: number;
}

/** A compiled pattern. */
export interface DatePattern {
  readonly source: string;
  /**
   * True if the pattern determines a day: by year, month and day, or by year, week and weekday. In a pattern without
   * a time, the day or weekday may be missing, and a quarter is sufficient: the first day of the period is used.
   */
  readonly hasDate: boolean;
  /** True if the year comes from the options. */
  readonly lacksYear: boolean;
  /** True if the pattern contains an hour. */
  readonly hasTime: boolean;
  readonly parts: readonly DatePart[];
  readonly twoDigitYearPivot: number;
  /** Parses a whole text. Null if it does not match, or if the day does not exist. */
  parse(text: string): DateFields | null;
  /** Formats a day and time. `offsetSeconds` is needed only by X, Z and z. */
  format(fields: DateFields): string;
}

/** Compiles a pattern, or returns a sentence about what is wrong with it. */
export function compileDatePattern(
  source: string,
  options: DatePatternOptions = {},
): DatePattern | { problem: string } {
  const names = DATE_NAMES.get(options.locale ?? 'en');
  if (names === undefined) return { problem: `the locale is not one of ${[...DATE_NAMES.keys()].join(', ')}` };
  const parts = splitPattern(source);
  if (typeof parts === 'string') return { problem: parts };
  const letters = new Set(parts.filter((part) => part.letter !== '').map((part) => part.letter));
  const has = (letter: string) => letters.has(letter);
  if (has('D') && ['M', 'd'].some(has)) return { problem: DAY_OF_YEAR };
  if (has('h') && !has('a')) return { problem: 'h (1 to 12) needs a (AM or PM); use H for 0 to 23' };
  if (has('Y') && !has('w')) return { problem: WEEK_YEAR_ALONE };
  if (has('w') && has('y') && !has('Y')) return { problem: WEEK_OF_YEAR };
  const hasTime = has('H') || has('h');
  const lacksYear = options.defaultYear !== undefined && !has('y') && !has('Y');
  const pivot = options.twoDigitYearPivot ?? 68;
  const hasNames = parts.some(isName);
  const zones = new ZoneNames();
  const hasDate = (lacksYear || has('y') || has('Y')) && definesDay(letters, hasTime);
  return {
    source,
    hasDate,
    lacksYear,
    hasTime,
    parts,
    twoDigitYearPivot: pivot,
    // Accents of names may be separate characters, as written by file systems and some exports.
    parse: (text) =>
      parseWith(
        { parts, names, pivot, zones, year: options.defaultYear ?? 1970, takesMidnight: hasDate && has('H') },
        hasNames && MARK.test(text) ? normalise(text, 'NFC') : text,
      ),
    format: (fields) => writeDate(parts, names, fields),
  };
}

const WEEK_YEAR_ALONE =
  "YYYY is the year of ISO weeks, as in YYYY-'W'ww; y is the year, M the month, d the day, as in dd.MM.yyyy";
const DAY_OF_YEAR =
  'D is the day of the year, which needs neither month nor day, as in yyyy-DDD; d is the day of the month, as in dd.MM.yyyy';
const WEEK_OF_YEAR = 'ww needs YYYY, the year of ISO weeks, which differs from yyyy around New Year';

/**
 * True if the letters other than the year determine one day or, in a pattern without a time, the first day of a
 * longer period.
 */
function definesDay(letters: ReadonlySet<string>, hasTime: boolean): boolean {
  const has = (letter: string) => letters.has(letter);
  const isFirst = !(has('E') || hasTime);
  const only = (...allowed: string[]) => [...letters].every((letter) => allowed.includes(letter));
  if (has('w')) return !['y', 'M', 'd', 'E', 'Q'].some(has) && (has('e') || isFirst);
  if (has('e')) return false;
  if (has('D')) return !has('Q');
  if (has('Q')) return isFirst && only('y', 'Q');
  if (has('M')) return has('d') || isFirst;
  return has('y') && isFirst && only('y');
}

/**
 * Finds a text that both patterns read as different days or times. Tries all days of two years; null if there is no
 * such text.
 */
export function ambiguousDateText(first: DatePattern, second: DatePattern): string | null {
  for (const [writer, reader] of [
    [first, second],
    [second, first],
  ] as const) {
    for (let days = dayNumber(2011, 1, 1); days < dayNumber(2013, 1, 1); days++) {
      const text = writer.format({ days, second: 47_105, nanos: 0, offsetSeconds: 0 });
      const own = writer.parse(text);
      const other = reader.parse(text);
      if (own !== null && other !== null && (own.days !== other.days || own.second !== other.second)) return text;
    }
  }
  return null;
}

/** Values read so far. */
interface Reading {
  year: number;
  quarter: number;
  /** Week of ISO 8601, in the ISO week-numbering year `year`; 0 if absent. */
  week: number;
  weekDay: number;
  month: number;
  day: number;
  weekday: number;
  /** 0 if absent. */
  dayOfYear: number;
  hour: number;
  half: number;
  minute: number;
  second: number;
  nanos: number;
  offset: number | null;
  zone: TimeZone | null;
}

/** A pattern compiled for parsing. `year` is the year of texts without one. */
interface Compiled {
  readonly parts: readonly DatePart[];
  readonly names: DateNames;
  readonly pivot: number;
  readonly zones: ZoneNames;
  readonly year: number;
  /** The hour 24 is the midnight at the end of the day, as in ISO 8601. */
  readonly takesMidnight: boolean;
}

function parseWith(compiled: Compiled, text: string): DateFields | null {
  const { parts, year, takesMidnight } = compiled;
  const reading: Reading = {
    year,
    quarter: 1,
    week: 0,
    weekDay: 1,
    month: 1,
    day: 1,
    weekday: 0,
    dayOfYear: 0,
    hour: 0,
    half: -1,
    minute: 0,
    second: 0,
    nanos: 0,
    offset: null,
    zone: null,
  };
  let position = 0;
  for (const [index, part] of parts.entries()) {
    const start = position;
    position = parsePart(part, compiled, text, position, reading);
    if (position < 0) return null;
    const isShort = (isName(part) && position - start <= ABBREVIATION_LENGTH_MAX) || part.letter === 'a';
    // Skips the dot of an abbreviation, unless the pattern contains it.
    if (isShort && text[position] === '.' && parts[index + 1]?.literal.startsWith('.') !== true) position++;
  }
  if (position !== text.length) return null;
  let { hour } = reading;
  if (reading.half >= 0) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + reading.half * 12;
  }
  if (reading.minute > 59 || reading.second > 59) return null;
  const isMidnight = hour === 24 && takesMidnight && reading.minute + reading.second + reading.nanos === 0;
  if (hour > 23 && !isMidnight) return null;
  const days = dayOf(reading);
  if (days === null) return null;
  if (!isWeekdayOf(reading, days) || (isMidnight && days === DAY_MAX)) return null;
  const second = hour * 3600 + reading.minute * 60 + reading.second;
  const fields: DateFields = isMidnight
    ? { days: days + 1, second: 0, nanos: 0, offsetSeconds: reading.offset }
    : { days, second, nanos: reading.nanos, offsetSeconds: reading.offset };
  // If a text has an offset and a zone, the offset decides: `2024-03-01T10:00+01:00[Europe/Berlin]`.
  return reading.zone === null || reading.offset !== null ? fields : { ...fields, zone: reading.zone };
}

function isWeekdayOf({ weekday }: Reading, days: number): boolean {
  return weekday === 0 || isoWeekday(days) === weekday;
}

function dayOf({ year, quarter, week, weekDay, month, day, dayOfYear: ordinal }: Reading): number | null {
  if (ordinal !== 0) return dayOfOrdinal(year, ordinal);
  if (week !== 0) return dayOfIsoWeek(year, week, weekDay);
  const first = quarter > 1 ? quarter * 3 - 2 : month;
  return isDate(year, first, day) ? dayNumber(year, first, day) : null;
}

/** @param ordinal day of the year, from 1 */
function dayOfOrdinal(year: number, ordinal: number): number | null {
  if (!isDate(year, 12, 31) || ordinal > dayOfYear(dayNumber(year, 12, 31))) return null;
  return dayNumber(year, 1, 1) + ordinal - 1;
}

/** Parses one piece at a position. Returns the position after it, or -1. */
function parsePart(
  part: DatePart,
  { names, pivot, zones }: Compiled,
  text: string,
  at: number,
  reading: Reading,
): number {
  const { letter, count } = part;
  if (letter === '') return parseLiteral(part.literal, text, at);
  if (letter === 'M' && count >= 3) {
    return parseName(count === 3 ? names.spellings.monthsShort : names.spellings.months, text, at, (index) => {
      reading.month = index + 1;
    });
  }
  if (letter === 'E') {
    return parseName(count === 4 ? names.spellings.weekdays : names.spellings.weekdaysShort, text, at, (index) => {
      reading.weekday = index + 1;
    });
  }
  if (letter === 'a') return parseHalf(text, at, reading);
  if (part.anyLength === true) return parseFraction(text, at, reading);
  if (letter === 'X' || letter === 'Z') return parseOffsetPart(text, at, reading);
  if (letter === 'z') {
    const found = zones.at(text, at) ?? zoneTextAt(text, at);
    if (found !== null && 'zone' in found) reading.zone = found.zone;
    else if (found !== null) reading.offset = found.offsetSeconds;
    return found?.end ?? -1;
  }
  if (letter === 'o') return parseOrdinal(names, text, at);
  if (letter === 'Q') return parseQuarter(text, at, count, reading);
  const least = letter === 'y' && count === 1 ? 4 : count;
  const most =
    letter === 'Y' || letter === 'e'
      ? least
      : letter === 'S'
        ? count
        : letter === 'y'
          ? least
          : letter === 'D'
            ? 3
            : Math.max(count, 2);
  let end = at;
  let value = 0;
  while (end < text.length && end - at < most) {
    const digit = text.charCodeAt(end) - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    end++;
  }
  if (end - at < least) return -1;
  if (letter === 'y') reading.year = count === 2 ? value + (value > pivot ? 1900 : 2000) : value;
  else if (letter === 'Y') reading.year = value;
  // Week 0 does not exist. It is replaced by a week that no year has.
  else if (letter === 'w') reading.week = value === 0 ? NO_WEEK : value;
  else if (letter === 'e') reading.weekDay = value;
  // Day 0 does not exist. It is replaced by a day that no year has.
  else if (letter === 'D') reading.dayOfYear = value === 0 ? NO_DAY_OF_YEAR : value;
  else if (letter === 'M') reading.month = value;
  else if (letter === 'd') reading.day = value;
  else if (letter === 'H' || letter === 'h') reading.hour = value;
  else if (letter === 'm') reading.minute = value;
  else if (letter === 's') reading.second = value;
  else reading.nanos = value * 10 ** (9 - count);
  return end;
}

const NO_WEEK = 99;
const NO_DAY_OF_YEAR = 999;

/** Parses a quarter. `QQQ` is the letter Q, in either case, and the number. */
function parseQuarter(text: string, at: number, count: number, reading: Reading): number {
  const isNamed = count === 3;
  if (isNamed && text[at] !== 'Q' && text[at] !== 'q') return -1;
  const digit = text.charCodeAt(at + (isNamed ? 1 : 0)) - 48;
  if (!(digit >= 1 && digit <= 4)) return -1;
  reading.quarter = digit;
  return at + (isNamed ? 2 : 1);
}

/** Spellings of AM and PM, tried in this order: `pm`, `p. m.`, `p`. A dot at the end is skipped by the caller. */
const HALVES: readonly RegExp[] = [/^([ap])m/i, /^([ap])\.?\s?m(?!\p{L})/iu, /^([ap])(?!\p{L})/iu];

/** Maximum length of the longest spelling, `p. m`, in characters, and the one after it. */
const HALF_LENGTH_MAX = 5;

function parseHalf(text: string, at: number, reading: Reading): number {
  const rest = text.slice(at, at + HALF_LENGTH_MAX);
  for (const spelling of HALVES) {
    const match = spelling.exec(rest);
    if (match === null) continue;
    reading.half = match[1]!.toLowerCase() === 'a' ? 0 : 1;
    return at + match[0].length;
  }
  return -1;
}

/** Digits after the ninth are finer than a nanosecond; they must be zeros. */
const FRACTION = /([0-9]{1,9})0*/y;

function parseFraction(text: string, at: number, reading: Reading): number {
  FRACTION.lastIndex = at;
  const match = FRACTION.exec(text);
  if (match === null) return -1;
  reading.nanos = Number(match[1]!.padEnd(9, '0'));
  return FRACTION.lastIndex;
}

/** The ending of a day may be missing: `1er mars`, `2 mars`. */
function parseOrdinal({ ordinals }: DateNames, text: string, at: number): number {
  const rest = foldName(text.slice(at, at + ORDINAL_LENGTH_MAX));
  const ending = ordinals.find((each) => rest.startsWith(each));
  return ending === undefined || /^\p{L}/u.test(text.slice(at + ending.length)) ? at : at + ending.length;
}

/** Length of the longest ending in month-names.ts, in characters. */
const ORDINAL_LENGTH_MAX = 4;

function parseName(choices: readonly Spelling[], text: string, at: number, found: (index: number) => void): number {
  const rest = foldName(text.slice(at, at + NAME_LENGTH_MAX));
  const best = choices.find(({ folded }) => rest.startsWith(folded));
  if (best === undefined) return -1;
  found(best.index);
  return at + best.folded.length;
}

const MARK = /\p{M}/u;

/** Maximum length of a month's or weekday's name in month-names.ts, in characters. */
const NAME_LENGTH_MAX = 16;

function isName({ letter, count }: DatePart): boolean {
  return letter === 'E' || (letter === 'M' && count >= 3);
}

/** Maximum length of an abbreviation with a dot, in letters: `sept.`, `niedz.`. Longer names are whole words. */
const ABBREVIATION_LENGTH_MAX = 5;

function parseOffsetPart(text: string, at: number, reading: Reading): number {
  if (text[at] === 'Z' || text[at] === 'z') {
    reading.offset = 0;
    return at + 1;
  }
  const match = /^([+-])([0-9]{2})(?::?([0-9]{2}))?/.exec(text.slice(at, at + 6));
  if (match === null) return -1;
  reading.offset = parseOffset(`${match[1]}${match[2]}:${match[3] ?? '00'}`);
  return reading.offset === null ? -1 : at + match[0].length;
}
