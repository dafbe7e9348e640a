// Owns date patterns as CLDR writes them (`dd.MM.yyyy HH:mm`): reading a text as a whole and writing one. Zones by name,
// ranges of years and what a row's error is called are the caller's.
import { dayNumber, dayOfIsoWeek, isDate, isoWeekday } from './calendar.ts';
import type { DateFields } from './date-fields.ts';
import { parseLiteral } from './date-literal.ts';
import { type DatePart, splitPattern } from './date-pattern-parts.ts';
import { DATE_NAMES, type DateNames, foldName, type Spelling } from './month-names.ts';
import { normalise } from './normalise.ts';
import { parseOffset } from './timestamp.ts';
import { writeDate } from './written-date.ts';
import { zoneTextAt } from './zone-text.ts';

/**
 * How a pattern is read: `locale` is a code of month-names.ts; two digits above `pivot` are of the century before (default
 * 68: 69 is 1969, 68 is 2068). `defaultYear` is the year of texts whose pattern has none; NaN: there are no such texts.
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
   * Whether it tells a day: year, month and day, or year, week and day. Without a time the last of them may be missing, and
   * a quarter is enough: the first day counts.
   */
  readonly hasDate: boolean;
  /** Whether it takes the year from its options. */
  readonly lacksYear: boolean;
  /** Whether it has an hour. */
  readonly hasTime: boolean;
  readonly parts: readonly DatePart[];
  readonly twoDigitYearPivot: number;
  /** The whole text or nothing: null when it does not match or names a day that does not exist. */
  parse(text: string): DateFields | null;
  /** The text of a day and time; `offsetSeconds` is only needed by X, Z and z. */
  format(fields: DateFields): string;
}

/** Compiles a pattern, or says in a sentence what is wrong with it. */
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
  if (has('h') && !has('a')) return { problem: 'h (1 to 12) needs a (AM or PM); use H for 0 to 23' };
  if (has('Y') && !has('w')) return { problem: WEEK_YEAR_ALONE };
  if (has('w') && has('y') && !has('Y')) return { problem: WEEK_OF_YEAR };
  const hasTime = has('H') || has('h');
  const lacksYear = options.defaultYear !== undefined && !has('y') && !has('Y');
  const pivot = options.twoDigitYearPivot ?? 68;
  const hasNames = parts.some(isName);
  return {
    source,
    hasDate: (lacksYear || has('y') || has('Y')) && tellsDay(letters, hasTime),
    lacksYear,
    hasTime,
    parts,
    twoDigitYearPivot: pivot,
    // Names may come with their accents as characters of their own, as file systems and some exports write them.
    parse: (text) =>
      parseWith(
        { parts, names, pivot, year: options.defaultYear ?? 1970 },
        hasNames && MARK.test(text) ? normalise(text, 'NFC') : text,
      ),
    format: (fields) => writeDate(parts, names, fields),
  };
}

const WEEK_YEAR_ALONE =
  "YYYY is the year of ISO weeks, as in YYYY-'W'ww; y is the year, M the month, d the day, as in dd.MM.yyyy";
const WEEK_OF_YEAR = 'ww needs YYYY, the year of ISO weeks, which differs from yyyy around New Year';

/** Whether the letters beside the year tell one day, or (no time) the first of a longer time. */
function tellsDay(letters: ReadonlySet<string>, hasTime: boolean): boolean {
  const has = (letter: string) => letters.has(letter);
  const isFirst = !(has('E') || hasTime);
  const only = (...allowed: string[]) => [...letters].every((letter) => allowed.includes(letter));
  if (has('w')) return !['y', 'M', 'd', 'E', 'Q'].some(has) && (has('e') || isFirst);
  if (has('e')) return false;
  if (has('Q')) return isFirst && only('y', 'Q');
  if (has('M')) return has('d') || isFirst;
  return false;
}

/** A text that both patterns read, as different days or times; null when none was found among the days of a year. */
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

/** What has been read so far. */
interface Reading {
  year: number;
  quarter: number;
  /** Of ISO 8601, whose year is `year`; 0: none. */
  week: number;
  weekDay: number;
  month: number;
  day: number;
  weekday: number;
  hour: number;
  half: number;
  minute: number;
  second: number;
  nanos: number;
  offset: number | null;
}

/** A pattern as texts are read by it; `year` is that of texts which name none. */
interface Compiled {
  readonly parts: readonly DatePart[];
  readonly names: DateNames;
  readonly pivot: number;
  readonly year: number;
}

function parseWith({ parts, names, pivot, year }: Compiled, text: string): DateFields | null {
  const reading: Reading = {
    year,
    quarter: 1,
    week: 0,
    weekDay: 1,
    month: 1,
    day: 1,
    weekday: 0,
    hour: 0,
    half: -1,
    minute: 0,
    second: 0,
    nanos: 0,
    offset: null,
  };
  let position = 0;
  for (const [index, part] of parts.entries()) {
    const start = position;
    position = parsePart(part, names, pivot, text, position, reading);
    if (position < 0) return null;
    const isShort = isName(part) && position - start <= ABBREVIATION_LENGTH_MAX;
    // The dot of an abbreviation, unless the pattern names it itself.
    if (isShort && text[position] === '.' && parts[index + 1]?.literal.startsWith('.') !== true) position++;
  }
  if (position !== text.length) return null;
  let { hour } = reading;
  if (reading.half >= 0) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + reading.half * 12;
  }
  if (hour > 23 || reading.minute > 59 || reading.second > 59) return null;
  const days = dayOf(reading);
  if (days === null) return null;
  if (reading.weekday !== 0 && isoWeekday(days) !== reading.weekday) return null;
  const second = hour * 3600 + reading.minute * 60 + reading.second;
  return { days, second, nanos: reading.nanos, offsetSeconds: reading.offset };
}

function dayOf({ year, quarter, week, weekDay, month, day }: Reading): number | null {
  if (week !== 0) return dayOfIsoWeek(year, week, weekDay);
  const first = quarter > 1 ? quarter * 3 - 2 : month;
  return isDate(year, first, day) ? dayNumber(year, first, day) : null;
}

/** Reads one piece at a position; the position behind it, or -1. */
function parsePart(
  part: DatePart,
  names: DateNames,
  pivot: number,
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
  if (letter === 'a') {
    return parseName(HALVES, text, at, (index) => {
      reading.half = index;
    });
  }
  if (letter === 'X' || letter === 'Z') return parseOffsetPart(text, at, reading);
  if (letter === 'z') {
    const zone = zoneTextAt(text, at);
    if (zone !== null) reading.offset = zone.offsetSeconds;
    return zone?.end ?? -1;
  }
  if (letter === 'Q') return parseQuarter(text, at, count, reading);
  const least = letter === 'y' && count === 1 ? 4 : count;
  const most =
    letter === 'Y' || letter === 'e' ? least : letter === 'S' ? count : letter === 'y' ? least : Math.max(count, 2);
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
  // Week 0 is none; no year has the week that stands for it here.
  else if (letter === 'w') reading.week = value === 0 ? NO_WEEK : value;
  else if (letter === 'e') reading.weekDay = value;
  else if (letter === 'M') reading.month = value;
  else if (letter === 'd') reading.day = value;
  else if (letter === 'H' || letter === 'h') reading.hour = value;
  else if (letter === 'm') reading.minute = value;
  else if (letter === 's') reading.second = value;
  else reading.nanos = value * 10 ** (9 - count);
  return end;
}

const NO_WEEK = 99;

/** `QQQ` is the letter and the number, in any case. */
function parseQuarter(text: string, at: number, count: number, reading: Reading): number {
  const isNamed = count === 3;
  if (isNamed && text[at] !== 'Q' && text[at] !== 'q') return -1;
  const digit = text.charCodeAt(at + (isNamed ? 1 : 0)) - 48;
  if (!(digit >= 1 && digit <= 4)) return -1;
  reading.quarter = digit;
  return at + (isNamed ? 2 : 1);
}

const HALVES: readonly Spelling[] = ['am', 'pm'].map((folded, index) => ({ folded, index }));

function parseName(choices: readonly Spelling[], text: string, at: number, found: (index: number) => void): number {
  const rest = foldName(text.slice(at, at + NAME_LENGTH_MAX));
  const best = choices.find(({ folded }) => rest.startsWith(folded));
  if (best === undefined) return -1;
  found(best.index);
  return at + best.folded.length;
}

const MARK = /\p{M}/u;

/** Longest name of a month or weekday in month-names.ts, in characters. */
const NAME_LENGTH_MAX = 16;

function isName({ letter, count }: DatePart): boolean {
  return letter === 'E' || (letter === 'M' && count >= 3);
}

/** Longest abbreviation with a dot, in letters: `sept.`, `niedz.`. Longer names are whole words. */
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
