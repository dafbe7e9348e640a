// Creates a Template test from rows of the sample, with scrambled cells.
import { randomInt } from 'node:crypto';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import { parseTemplate, type TemplateFormat } from '../../workers/template/template-text.ts';
import { DATE_NAMES, foldName } from '../../workers/values/month-names.ts';
import type { SourceRows } from '../../workers/watch/watch-messages.ts';
import { type RunTest, rowsOf, type TestInput } from '../template-tests/run-tests.ts';
import type { MadeTest } from './studio-answers.ts';

// Replaces the letters and digits of cells by random ones, so that a test has the shape of real rows without their
// content. Numbers with check digits stay valid, dates stay dates, and equal cells stay equal.

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();

/** Two groups of one or two digits and a year, or the year first, with a separator between them. */
const DATE = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)/;
const DATE_YEAR_FIRST = /^(\d{4})([./-])(\d{2})\2(\d{2})(?!\d)/;

/** Year, month and day without separators. */
const DATE_COMPACT = /^((?:19|20)\d\d)(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/;

/** Words that dates contain besides names of months and days. */
const DATE_PARTICLES = new Set('t z utc gmt am pm st nd rd th of de'.split(' '));

/** Words that operations read as true and false. They say as little as a date. */
const BOOLEANS = /^(?:true|false|yes|no|ja|nein|oui|non|si|y|n|on|off)$/i;

const MONTHS = 12;
const WEEK_DAYS = 7;
const MONTH_DAYS = 31;
/** Number of days that every month has. */
const DAYS_MAX = 28;

/** Attempts to obtain a different text, because a short cell may by chance be replaced by itself. */
const TRIES_MAX = 20;

const IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/;
const CARD = /^\d{13,19}$/;

export class Scrambler {
  readonly #kept: ReadonlySet<string>;
  readonly #known = new Map<string, string>();

  /** @param kept strings that occur in the Template. They are not confidential, and operations look for them. */
  constructor(kept: ReadonlySet<string>) {
    this.#kept = kept;
  }

  scramble(text: string): string {
    if (this.#kept.has(text) || this.#kept.has(text.trim())) return text;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    let made = scrambled(text);
    for (let tries = 0; made === text && tries < TRIES_MAX; tries++) made = scrambled(text);
    this.#known.set(text, made);
    return made;
  }
}

function scrambled(text: string): string {
  if (BOOLEANS.test(text.trim())) return text;
  const date = scrambledDate(text) ?? scrambledNamedDate(text);
  if (date !== null) return date;
  const bare = text.replaceAll(' ', '');
  if (IBAN.test(bare) && remainderOf97(bare) === 1) return respaced(text, withIbanDigits(letters(bare.slice(4)), bare));
  if (CARD.test(bare) && luhnSum(bare) % 10 === 0) return respaced(text, withLuhnDigit(letters(bare)));
  return letters(text);
}

/**
 * Leading zeros are kept, because they distinguish an identifier from a number. Letters outside ASCII become ASCII,
 * which every encoding can represent.
 */
function letters(text: string): string {
  let isFront = true;
  return text.replace(/[\p{L}\p{Nd}]/gu, (character) => {
    if (/\p{Nd}/u.test(character)) {
      if (isFront && character === '0') return character;
      const made = isFront ? randomInt(1, 10) : randomInt(10);
      isFront = false;
      return String(made);
    }
    isFront = true;
    const alphabet = /\p{Lu}/u.test(character) ? UPPER : LOWER;
    return alphabet[randomInt(alphabet.length)]!;
  });
}

/**
 * Numbers above twelve stay above twelve, and the year is kept, because only such numbers distinguish day from month.
 */
function scrambledDate(text: string): string | null {
  const part = (digits: string): string => {
    const value = Number(digits) > MONTHS ? randomInt(MONTHS + 1, DAYS_MAX + 1) : randomInt(1, MONTHS + 1);
    // A single digit comes from a notation without leading zeros, so the result has a single digit too.
    return digits.length === 1 ? String(((value - 1) % 9) + 1) : String(value).padStart(2, '0');
  };
  const found = DATE.exec(text);
  if (found !== null) {
    const [whole, first, mark, second, year] = found;
    return `${part(first!)}${mark}${part(second!)}${mark}${year}${time(text.slice(whole.length))}`;
  }
  const [, compactYear] = DATE_COMPACT.exec(text) ?? [];
  if (compactYear !== undefined) return `${compactYear}${twoDigits(MONTHS)}${twoDigits(DAYS_MAX)}`;
  const other = DATE_YEAR_FIRST.exec(text);
  if (other === null) return null;
  const [whole, year, mark, month, day] = other;
  return `${year}${mark}${part(month!)}${mark}${part(day!)}${time(text.slice(whole.length))}`;
}

function twoDigits(max: number): string {
  return String(randomInt(1, max + 1)).padStart(2, '0');
}

const MONTH_WORDS = dateWords(({ months, monthsShort }) => [...months, ...monthsShort]);
const DAY_WORDS = dateWords(({ weekdays, weekdaysShort }) => [...weekdays, ...weekdaysShort]);

type Spellings = NonNullable<ReturnType<typeof DATE_NAMES.get>>['spellings'];

function dateWords(of: (names: Spellings) => Spellings['months']): ReadonlySet<string> {
  return new Set([...DATE_NAMES.values()].flatMap(({ spellings }) => of(spellings).map(({ folded }) => folded)));
}

/** A date with the name of its month, such as 09-Mar-11: the day and the time become others. Null: not such a date. */
function scrambledNamedDate(text: string): string | null {
  const words = (text.match(/\p{L}+/gu) ?? []).map((word) => foldName(word.toLowerCase()));
  const isMonth = (word: string): boolean => MONTH_WORDS.has(word);
  const isKnown = (word: string): boolean => isMonth(word) || DAY_WORDS.has(word) || DATE_PARTICLES.has(word);
  if (!words.some(isMonth) || !words.every(isKnown)) return null;
  const clock = /\d{1,2}:\d\d.*$/.exec(text);
  const date = text.slice(0, clock?.index ?? text.length);
  const numbers = date.match(/\d+/g) ?? [];
  // The last of two numbers is the year, if none has four digits.
  const days = numbers.filter((digits) => digits.length < 3);
  const day = days[0];
  if (day === undefined || numbers.length > 2 || Number(day) === 0 || Number(day) > MONTH_DAYS) return null;
  // The day of the week stays the same, because a Run compares it with the date.
  const weeks = words.some((word) => DAY_WORDS.has(word) && !isMonth(word)) ? WEEK_DAYS : 1;
  const choices = Array.from({ length: DAYS_MAX }, (_, index) => index + 1).filter(
    (choice) => (choice - Number(day)) % weeks === 0 && (day.length > 1 || choice < 10),
  );
  const made = String(choices[randomInt(choices.length)]).padStart(day.length, '0');
  return date.replace(day, made) + time(text.slice(date.length));
}

/** Time after a date: digits stay within the range of hours, minutes and seconds. */
function time(text: string): string {
  return text.replace(/\d\d/g, () => String(randomInt(MONTHS)).padStart(2, '0'));
}

/** Inserts the spaces of a text between the characters of another text. */
function respaced(text: string, signs: string): string {
  let at = 0;
  return text.replace(/[^ ]/g, () => signs[at++]!);
}

function withIbanDigits(account: string, before: string): string {
  const country = before.slice(0, 2);
  const check = 98 - remainderOf97(`${country}00${account}`);
  return `${country}${String(check).padStart(2, '0')}${account}`;
}

/** ISO 7064: moves the first four characters to the end and replaces letters by two digits. */
function remainderOf97(iban: string): number {
  const digits = (iban.slice(4) + iban.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return Number(BigInt(digits) % 97n);
}

function withLuhnDigit(digits: string): string {
  const front = digits.slice(0, -1);
  return front + String((10 - (luhnSum(`${front}0`) % 10)) % 10);
}

function luhnSum(digits: string): number {
  return [...digits].reverse().reduce((sum, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return sum + (value > 9 ? value - 9 : value);
  }, 0);
}

// Creates a Template test from rows of the sample. The cells are scrambled in the same shape, and the current output
// of the Template becomes the expectation. Inserts the test into the Template's text without changing other lines.

/** The rows or the Template cannot be made into a test; the message gives the reason. */
export class NoTestError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NoTestError';
  }
}

export interface TemplateToTest {
  readonly path: string;
  readonly source: string;
  readonly format: TemplateFormat;
}

interface NewTest {
  readonly name: string;
  readonly input: { readonly text: string; readonly delimiter: string; readonly header_row: number };
  readonly expect: { readonly rows: readonly unknown[] };
}

export async function withGoldenTest(
  { source, format }: TemplateToTest,
  { headers, rows }: SourceRows,
  run: RunTest,
): Promise<MadeTest> {
  const checked = checkTemplate(source, format);
  const parsed = parseTemplate(source, format);
  if ('problems' in checked || 'problems' in parsed)
    throw new NoTestError('The Template has problems. Correct them first.');
  const scrambler = new Scrambler(textsOf(parsed.text.root.value));
  const cells = rows.map((row) => row.map((cell) => (cell === null ? '' : scrambler.scramble(cell))));
  const text = csvText([headers, ...cells]);
  const parts: TestInput = { input: Buffer.from(text), ending: 'csv', delimiter: ',', headerRow: 0, tables: {} };
  const { failure } = await run({ source, format, ...parts });
  if (failure !== null)
    throw new NoTestError(
      `These rows end the Run (${failure.code}), and the test would expect this failure. Correct the Template first.`,
    );
  const expect = { rows: await rowsOf({ source, format }, parts, run) };
  const name = testName(checked.template.tests.length, rows.length);
  const test: NewTest = { name, input: { text, delimiter: ',', header_row: 0 }, expect };
  const made = format === 'json' ? inJson(source, test) : inYaml(source, test);
  if ('problems' in checkTemplate(made, format)) {
    throw new NoTestError(
      'The tests of this Template are written in a form to which the studio cannot add a test. Write them as a YAML list, one test after the other.',
    );
  }
  return { source: made, name };
}

function testName(tests: number, rows: number): string {
  return `rows of a sample, scrambled (${tests + 1}, ${rows === 1 ? '1 row' : `${rows} rows`})`;
}

/** All strings of the Template, and the quoted strings inside them, as in expressions. */
function textsOf(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value === 'string') {
    found.add(value);
    for (const [, text] of value.matchAll(/["']([^"']+)["']/g)) found.add(text!);
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) textsOf(part, found);
  }
  return found;
}

/** Rows as CSV with commas. */
export function csvText(rows: readonly (readonly string[])[]): string {
  const cell = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => `${row.map(cell).join(',')}\n`).join('');
}

function inJson(source: string, test: NewTest): string {
  const template = JSON.parse(source) as { tests?: unknown[] };
  return `${JSON.stringify({ ...template, tests: [...(template.tests ?? []), test] }, null, 2)}\n`;
}

/**
 * Adds the test at the end of the list of tests, or with a new list at the end of the text. Strings are written as
 * JSON, which is valid YAML, so no special cases are needed.
 */
function inYaml(source: string, test: NewTest): string {
  const end = source.endsWith('\n') || source === '' ? '' : '\n';
  const lines = (source + end).split('\n');
  const head = lines.findIndex((line) => /^tests:\s*(?:#.*)?$/.test(line));
  if (head < 0) return `${source}${end}tests:\n${yamlTest(test, '  ').join('\n')}\n`;
  const next = lines.findIndex((line, index) => index > head && /^[^\s#-]/.test(line));
  let last = (next < 0 ? lines.length : next) - 1;
  while (last > head && /^\s*(?:#.*)?$/.test(lines[last]!)) last--;
  const indent = /^(\s*)- /.exec(lines.slice(head + 1).find((line) => /^\s*- /.test(line)) ?? '  - ')![1]!;
  return [...lines.slice(0, last + 1), ...yamlTest(test, indent), ...lines.slice(last + 1)].join('\n');
}

function yamlTest({ name, input, expect }: NewTest, indent: string): string[] {
  const { rows } = expect;
  return [
    `${indent}- name: ${JSON.stringify(name)}`,
    `${indent}  input:`,
    ...textLines(input.text, `${indent}    `),
    `${indent}    delimiter: ${JSON.stringify(input.delimiter)}`,
    `${indent}    header_row: ${input.header_row}`,
    `${indent}  expect:`,
    ...(rows.length === 0
      ? [`${indent}    rows: []`]
      : [`${indent}    rows:`, ...rows.map((row) => `${indent}      - ${JSON.stringify(row)}`)]),
  ];
}

/** Uses a block scalar if the text is plain, otherwise an escaped string. */
function textLines(text: string, indent: string): string[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const isPlain = lines.every((line) => /^[^\s\p{C}][^\p{C}]*$/u.test(line));
  if (!isPlain) return [`${indent}text: ${JSON.stringify(text)}`];
  return [`${indent}text: |`, ...lines.map((line) => `${indent}  ${line}`)];
}
