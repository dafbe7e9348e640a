// Owns date patterns as CLDR writes them (`dd.MM.yyyy HH:mm`): reading a text as a whole and writing one. Zones by name,
// ranges of years and what a row's error is called are the caller's.
import { type CivilDate, civilDate, dayNumber, isDate, isoWeekday } from './calendar.ts';
import { parseLiteral } from './date-literal.ts';
import { letterHint, NO_PERCENT } from './date-pattern-hint.ts';
import { DATE_NAMES, type DateNames, foldName, type Spelling } from './month-names.ts';
import { normalise } from './normalise.ts';
import { offsetText, parseOffset, type Timestamp, timestampOf } from './timestamp.ts';

/** Longest pattern in characters: far above any real one, so that a pattern costs nothing to compile. */
const DATE_PATTERN_LENGTH_MAX = 100;

/** What a text says: a day and the time of that day; `offsetSeconds` is null when the text names no offset. */
export interface DateFields {
  days: number;
  second: number;
  nanos: number;
  offsetSeconds: number | null;
}

/** How a pattern is read: `locale` is a code of month-names.ts; two digits above `pivot` are of the century before (default 68: 69 is 1969, 68 is 2068). */
export interface DatePatternOptions {
  locale?: string;
  twoDigitYearPivot?: number;
}

/** A compiled pattern. */
export interface DatePattern {
  readonly source: string;
  /** Whether it has a year, a month and a day; without a time it may lack the day, which is the month's first then. */
  readonly hasDate: boolean;
  /** Whether it has an hour. */
  readonly hasTime: boolean;
  readonly parts: readonly DatePart[];
  readonly twoDigitYearPivot: number;
  /** The whole text or nothing: null when it does not match or names a day that does not exist. */
  parse(text: string): DateFields | null;
  /** The text of a day and time; `offsetSeconds` is only needed by X and Z. */
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
  const hasTime = has('H') || has('h');
  const pivot = options.twoDigitYearPivot ?? 68;
  const hasNames = parts.some(isName);
  return {
    source,
    hasDate: has('y') && has('M') && (has('d') || !(has('E') || hasTime)),
    hasTime,
    parts,
    twoDigitYearPivot: pivot,
    // Names may come with their accents as characters of their own, as file systems and some exports write them.
    parse: (text) => parseWith(parts, names, pivot, hasNames && MARK.test(text) ? normalise(text, 'NFC') : text),
    format: (fields) => formatWith(parts, names, fields),
  };
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

/** The fields of an instant in its own offset. */
export function fieldsOfTimestamp(value: Timestamp): DateFields {
  const local = value.seconds + value.offsetSeconds;
  const days = Math.floor(local / 86400);
  return { days, second: local - days * 86400, nanos: value.nanos, offsetSeconds: value.offsetSeconds };
}

/** The instant of fields, with their own offset or the given one; null out of range. */
export function timestampOfFields(fields: DateFields, offsetSeconds: number): Timestamp | null {
  const offset = fields.offsetSeconds ?? offsetSeconds;
  return timestampOf(fields.days * 86400 + fields.second - offset, fields.nanos, offset);
}

/** One piece of a pattern: a literal (`letter` empty) or `count` times the same letter. */
export interface DatePart {
  readonly letter: string;
  readonly count: number;
  readonly literal: string;
}

const COUNTS: Readonly<Record<string, readonly number[]>> = {
  y: [1, 2, 4],
  M: [1, 2, 3, 4],
  d: [1, 2],
  E: [1, 2, 3, 4],
  H: [1, 2],
  h: [1, 2],
  m: [1, 2],
  s: [1, 2],
  S: [1, 2, 3, 4, 5, 6, 7, 8, 9],
  a: [1],
  X: [1, 2, 3],
  Z: [1, 5],
};

function splitPattern(source: string): DatePart[] | string {
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
      if (allowed === undefined && source.includes('%')) return NO_PERCENT;
      if (allowed === undefined)
        return `the letter ${run} means nothing in a date pattern (put text in '...')${letterHint(run)}`;
      if (!allowed.includes(piece.length)) return `${run} is written ${allowed.map((n) => run.repeat(n)).join(' or ')}`;
      if (parts.some((part) => part.letter === run)) return `${run} comes twice`;
      parts.push({ letter: run, count: piece.length, literal: '' });
    }
  }
  return parts;
}

/** What has been read so far. */
interface Reading {
  year: number;
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

function parseWith(parts: readonly DatePart[], names: DateNames, pivot: number, text: string): DateFields | null {
  const reading: Reading = {
    year: 1970,
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
  if (!isDate(reading.year, reading.month, reading.day)) return null;
  const days = dayNumber(reading.year, reading.month, reading.day);
  if (reading.weekday !== 0 && isoWeekday(days) !== reading.weekday) return null;
  const second = hour * 3600 + reading.minute * 60 + reading.second;
  return { days, second, nanos: reading.nanos, offsetSeconds: reading.offset };
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
  const least = letter === 'y' && count === 1 ? 4 : count;
  const most = letter === 'S' ? count : letter === 'y' ? least : Math.max(count, 2);
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
  else if (letter === 'M') reading.month = value;
  else if (letter === 'd') reading.day = value;
  else if (letter === 'H' || letter === 'h') reading.hour = value;
  else if (letter === 'm') reading.minute = value;
  else if (letter === 's') reading.second = value;
  else reading.nanos = value * 10 ** (9 - count);
  return end;
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

function formatWith(parts: readonly DatePart[], names: DateNames, fields: DateFields): string {
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
  if (letter === 'M' && count >= 3) return (count === 3 ? names.monthsShort : names.months)[month - 1]!;
  if (letter === 'M') return digits(month);
  if (letter === 'd') return digits(day);
  if (letter === 'E') return (count === 4 ? names.weekdays : names.weekdaysShort)[isoWeekday(fields.days) - 1]!;
  if (letter === 'H') return digits(hour);
  if (letter === 'h') return digits(hour % 12 === 0 ? 12 : hour % 12);
  if (letter === 'm') return digits(Math.floor(fields.second / 60) % 60);
  if (letter === 's') return digits(fields.second % 60);
  if (letter === 'S') return String(fields.nanos).padStart(9, '0').slice(0, count);
  if (letter === 'a') return hour < 12 ? 'AM' : 'PM';
  const offset = offsetText(fields.offsetSeconds ?? 0);
  if (offset === 'Z') return letter === 'X' ? 'Z' : '+00:00'.replace(':', count === 1 ? '' : ':');
  return count === 3 || count === 5 ? offset : offset.replace(':', '');
}
