// Reads JSON files of the catalog field by field.
import { isUtf8 } from 'node:buffer';
import { parseTemplate } from '../../workers/template/template-text.ts';
import { suggestion } from '../../workers/values/suggestion.ts';
import type { ProblemList } from './problems.ts';

// Parses a JSON file of the catalog. The parser's messages are not shown, because they quote the file.

/** Returns undefined, and adds a problem, if the file is not valid JSON. */
export function readJson(file: string, bytes: Buffer, problems: ProblemList): unknown {
  const text = readText(file, bytes, problems);
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    const { line, column } = syntaxErrorPosition(text);
    problems.add(file, '', 'is not valid JSON.', line, column);
    return undefined;
  }
}

/**
 * Maximum length of a text in which the position of a syntax error is located, in characters; this takes a few
 * milliseconds on the event loop.
 */
const LOCATED_CHARACTERS_MAX = 131_072;

/**
 * Locates a syntax error with the Template parser, because the runtime's JSON parser does not always report the
 * position.
 */
function syntaxErrorPosition(text: string): { readonly line: number | null; readonly column: number | null } {
  if (text.length > LOCATED_CHARACTERS_MAX) return { line: null, column: null };
  const read = parseTemplate(text, 'json');
  const problem = 'problems' in read ? read.problems.find(({ code }) => !/^TOO_/.test(code)) : undefined;
  return problem ?? { line: null, column: null };
}

/** Decodes UTF-8 without its byte order mark; null after a problem. */
export function readText(file: string, bytes: Buffer, problems: ProblemList): string | null {
  if (!isUtf8(bytes)) {
    problems.add(file, '', 'is not UTF-8: save it as UTF-8.');
    return null;
  }
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}

// Reads one JSON object of the catalog field by field. An invalid field is reported with its pointer and a suggested
// fix, and then treated as absent, so that one pass finds all problems.

/** Names of accounts, plans, Templates, tables and secrets. */
export const SLUG = /^[A-Za-z0-9_-]{1,64}$/;
export const SLUG_RULE = '1 to 64 of A-Z, a-z, 0-9, "_" and "-"';

/** C0, DEL, C1, and the line and paragraph separators, which would break a log line, a header or a terminal. */
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d))?$/;

export class FieldReader {
  readonly file: string;
  readonly pointer: string;
  #object: Readonly<Record<string, unknown>>;
  #problems: ProblemList;

  /** Null after a problem: the value is not an object. Names outside `known` are problems, with a suggestion. */
  static of(
    file: string,
    pointer: string,
    value: unknown,
    known: readonly string[],
    problems: ProblemList,
  ): FieldReader | null {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      problems.add(file, pointer, 'must be an object: write {...}.');
      return null;
    }
    const reader = new FieldReader(file, pointer, value as Record<string, unknown>, problems);
    for (const name of Object.keys(value)) {
      if (known.includes(name)) continue;
      reader.problem(name, `is not a known setting.${problems.full ? '' : suggestion(name, known)}`);
    }
    return reader;
  }

  private constructor(file: string, pointer: string, object: Record<string, unknown>, problems: ProblemList) {
    this.file = file;
    this.pointer = pointer;
    this.#object = object;
    this.#problems = problems;
  }

  /** Undefined if absent. */
  raw(name: string): unknown {
    return Object.hasOwn(this.#object, name) ? this.#object[name] : undefined;
  }

  pointerOf(name: string): string {
    return `${this.pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }

  problem(name: string, message: string): null {
    this.#problems.add(this.file, this.pointerOf(name), message);
    return null;
  }

  /** Null if absent or null. */
  text(name: string, lengthMax: number): string | null {
    const value = this.raw(name) ?? null;
    if (value === null) return null;
    if (typeof value !== 'string') return this.problem(name, 'must be a text in quotes.');
    if (value.length > lengthMax) return this.problem(name, `must have at most ${lengthMax} characters.`);
    if (CONTROL_CHARACTERS.test(value)) return this.problem(name, 'must not contain control characters.');
    return value;
  }

  /** A required text that must match the pattern. */
  matching(name: string, pattern: RegExp, rule: string): string | null {
    const value = this.raw(name);
    if (typeof value === 'string' && pattern.test(value)) return value;
    return this.problem(name, value === undefined ? `is missing: write ${rule}.` : `must be ${rule}.`);
  }

  boolean(name: string, fallback: boolean): boolean {
    const value = this.raw(name);
    if (value === undefined) return fallback;
    if (typeof value === 'boolean') return value;
    this.problem(name, 'must be true or false.');
    return fallback;
  }

  /** A null value means "unlimited"; an absent one gives the fallback. */
  limit(name: string, min: number, max: number, fallback: number | null): number | null {
    const value = this.raw(name);
    if (value === undefined) return fallback;
    if (value === null) return null;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    return this.problem(name, `must be a whole number from ${min} to ${max}, or null for no limit.`);
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice): Choice {
    const value = this.raw(name);
    if (value === undefined) return fallback;
    const choice = choices.find((each) => each === value);
    if (choice !== undefined) return choice;
    const near = typeof value === 'string' ? suggestion(value, choices) : '';
    this.problem(name, `must be ${choices.map((each) => JSON.stringify(each)).join(' or ')}.${near}`);
    return fallback;
  }

  /** A point in time in milliseconds since 1970; null if absent or null. */
  time(name: string): number | null {
    const value = this.raw(name) ?? null;
    if (value === null) return null;
    const time = typeof value === 'string' ? parseTime(value) : null;
    return time ?? this.problem(name, 'must be a date and time such as "2026-01-31T00:00:00Z".');
  }

  /** Empty if absent. */
  list(name: string): readonly unknown[] {
    const value = this.raw(name);
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    this.problem(name, 'must be a list: write [...].');
    return [];
  }

  /** The object under a name; null if absent, null or invalid. */
  child(name: string, known: readonly string[]): FieldReader | null {
    const value = this.raw(name) ?? null;
    return value === null ? null : FieldReader.of(this.file, this.pointerOf(name), value, known, this.#problems);
  }
}

/** Parses RFC 3339, or a date alone (midnight UTC); null if it is neither, or if the day does not exist. */
export function parseTime(text: string): number | null {
  const [, year, month, day] = DATE_TIME.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return null;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null;
  const time = Date.parse(text.toUpperCase().replace(' ', 'T'));
  return Number.isNaN(time) ? null : time;
}
