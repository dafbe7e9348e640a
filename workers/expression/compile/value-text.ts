// Converts values to texts, to JSON and to cells of columns, and JSON to values.

import type { ColumnType } from '../../batch/schema.ts';
import { Decimal, decimalText } from '../../values/decimal.ts';
import { JSON_DEPTH_MAX } from '../../values/json-text.ts';
import { CalendarDate, Duration, dateText, durationText, Timestamp, timestampText } from '../../values/timestamp.ts';
import type { Type } from '../check/type.ts';
import { checkLength } from '../syntax/text-point.ts';
import { columnOfType } from './environment.ts';
import { BAD_ARGUMENT, MapValue, narrowInteger, OptionalValue, TypeValue, Uint, type Value } from './value.ts';

// Converts values to texts and JSON, and JSON to values, for cells of computed columns.

/**
 * The text of a value as in a CSV cell. Null is the empty text; lists and maps are JSON. Accepts both forms of ints.
 */
export function valueText(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint' || typeof value === 'number') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Decimal) return decimalText(value);
  if (value instanceof CalendarDate) return dateText(value.days);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof OptionalValue) return valueText(value.value);
  return jsonText(value);
}

/**
 * JSON of a value. Numbers of every type are JSON numbers, values without a JSON form are texts, and NaN and
 * infinities are null.
 */
export function jsonText(value: Value): string {
  const writer = new JsonWriter();
  writer.write(value, 0);
  return writer.pieces.join('');
}

/** The value of parsed JSON: numbers become doubles, objects maps. Undefined if the nesting is too deep. */
function valueOfJson(json: unknown, depth = 0): Value | undefined {
  if (json === null || typeof json === 'boolean' || typeof json === 'string' || typeof json === 'number') return json;
  if (typeof json !== 'object' || depth >= JSON_DEPTH_MAX) return undefined;
  if (Array.isArray(json)) {
    const list: Value[] = [];
    for (const element of json) {
      const value = valueOfJson(element, depth + 1);
      if (value === undefined) return undefined;
      list.push(value);
    }
    return list;
  }
  const map = new MapValue();
  for (const [key, member] of Object.entries(json)) {
    const value = valueOfJson(member, depth + 1);
    if (value === undefined) return undefined;
    map.add(key, value);
  }
  return map;
}

/**
 * Writes JSON within the maximum length of a text: shared parts of a value can make its JSON far larger than the
 * value.
 */
class JsonWriter {
  readonly pieces: string[] = [];
  #length = 0;

  write(value: Value, depth: number): void {
    if (depth > JSON_DEPTH_MAX) throw BAD_ARGUMENT;
    if (Array.isArray(value)) {
      this.#append('[');
      for (const [index, element] of value.entries()) {
        if (index > 0) this.#append(',');
        this.write(element, depth + 1);
      }
      this.#append(']');
    } else if (value instanceof MapValue) {
      this.#append('{');
      let first = true;
      for (const entry of value.entries()) {
        if (!first) this.#append(',');
        first = false;
        this.#append(`${JSON.stringify(valueText(entry.key))}:`);
        this.write(entry.value, depth + 1);
      }
      this.#append('}');
    } else if (value instanceof OptionalValue) this.write(value.value, depth + 1);
    else this.#append(scalarJson(value));
  }

  #append(piece: string): void {
    this.#length += piece.length;
    checkLength(this.#length);
    this.pieces.push(piece);
  }
}

function scalarJson(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'null';
  const text = valueText(value);
  const plain =
    typeof value === 'boolean' ||
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    value instanceof Uint ||
    value instanceof Decimal;
  return plain ? text : JSON.stringify(text);
}

// Converts the text of a JSON cell to a value. JSON.parse would round whole numbers beyond 2^53 and move keys that
// are whole numbers to the front; texts with these are parsed here.

/** Texts that JSON.parse may change. */
const LONG_NUMBER = /[0-9]{16}/;
const WHOLE_KEY = /"[0-9]+"\s*:/;

/** Limited to the length of a uint, because parsing a bigint takes quadratic time. */
const WHOLE_NUMBER = /^-?[0-9]{1,20}$/;

const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const UINT_MAX = 2n ** 64n - 1n;

/**
 * Numbers are doubles; whole numbers beyond the exact range of doubles are ints, or uints above that. Objects are
 * maps in their order. Undefined if the nesting is too deep.
 * @param text valid JSON
 */
export function valueOfJsonText(text: string): Value | undefined {
  if (!LONG_NUMBER.test(text) && !WHOLE_KEY.test(text)) return valueOfJson(JSON.parse(text));
  return new JsonReader(text).value(0);
}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): Value | undefined {
    const first = this.#peek();
    if (first === '"') return this.#string();
    if (first !== '[' && first !== '{') return this.#scalar();
    if (depth >= JSON_DEPTH_MAX) return undefined;
    return first === '[' ? this.#list(depth) : this.#map(depth);
  }

  #list(depth: number): Value | undefined {
    const list: Value[] = [];
    this.#at++;
    while (this.#peek() !== ']') {
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      list.push(value);
      if (this.#peek() === ',') this.#at++;
    }
    this.#at++;
    return list;
  }

  /** If a key occurs twice, the last value is used, as in JSON.parse. */
  #map(depth: number): Value | undefined {
    const members = new Map<string, Value>();
    this.#at++;
    while (this.#peek() !== '}') {
      const key = this.#string();
      this.#peek();
      this.#at++;
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      members.set(key, value);
      if (this.#peek() === ',') this.#at++;
    }
    this.#at++;
    const map = new MapValue();
    for (const [key, value] of members) map.add(key, value);
    return map;
  }

  #string(): string {
    const from = this.#at;
    let end = from;
    let isEscaped = true;
    while (isEscaped) {
      end = this.#text.indexOf('"', end + 1);
      let backslashes = 0;
      while (this.#text[end - 1 - backslashes] === '\\') backslashes++;
      isEscaped = backslashes % 2 === 1;
    }
    this.#at = end + 1;
    return JSON.parse(this.#text.slice(from, end + 1)) as string;
  }

  #scalar(): Value {
    const word = /[^\s,\]}]*/y;
    word.lastIndex = this.#at;
    const text = word.exec(this.#text)![0];
    this.#at += text.length;
    const value = JSON.parse(text) as number | boolean | null;
    if (typeof value !== 'number' || Number.isSafeInteger(value) || !WHOLE_NUMBER.test(text)) return value;
    const whole = BigInt(text);
    if (whole >= INT_MIN && whole <= INT_MAX) return whole;
    return whole > 0n && whole <= UINT_MAX ? new Uint(whole) : value;
  }

  /** The next character that is not white space; '' at the end. */
  #peek(): string {
    while (/^[ \t\r\n]$/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text[this.#at] ?? '';
  }
}

// Determines the column type of an expression's result, and converts results to cells. Values of types without a
// column type become text or JSON.

/** The type of the column for an expression's results, and the conversion of results to cells. */
export interface ResultColumn {
  readonly type: ColumnType;
  /**
   * Converts a result in the form of its type (see compileExpression) to a cell in the form of the column's type (see
   * Resolver.column). A json cell is a Value, which valueText converts to JSON. Null stays null.
   */
  readonly cell: (result: unknown) => unknown;
}

/** The column for results of a type (`expression.type`). */
export function resultColumn(type: Type): ResultColumn {
  const column = columnOfType(type);
  if (type.kind === 'uint') {
    return {
      type: column,
      cell: (result) => (result instanceof Uint ? new Decimal(narrowInteger(result.value), 0) : null),
    };
  }
  if (type.kind === 'optional') {
    return {
      type: column,
      cell: (result) => (result instanceof OptionalValue && result.present ? result.value : null),
    };
  }
  // Bytes, durations and types have no column type.
  const asText = column === 'text' && type.kind !== 'string';
  return { type: column, cell: asText ? (result) => (result === null ? null : valueText(result as Value)) : same };
}

const same = (result: unknown) => result;
