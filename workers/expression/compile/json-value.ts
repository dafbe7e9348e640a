// Owns how the text of a JSON cell becomes a value. Where JSON.parse would lose something, digits of a whole number beyond
// 2^53 or the order of keys that are whole numbers, the text is read here.
import { JSON_DEPTH_MAX } from '../../values/json-parts.ts';
import { MapValue, Uint, type Value } from './value.ts';
import { valueOfJson } from './value-text.ts';

/** What JSON.parse may round, or move. */
const LONG_NUMBER = /[0-9]{16}/;
const WHOLE_KEY = /"[0-9]+"\s*:/;

/** No longer than a uint: a bigint of a million digits takes the square of them. */
const WHOLE_NUMBER = /^-?[0-9]{1,20}$/;

const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const UINT_MAX = 2n ** 64n - 1n;

/**
 * Numbers are doubles, whole ones that no double can tell from their neighbours ints, or uints above those; objects are maps
 * in their order. Undefined when it is nested too deep.
 * @param text sound JSON
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

  /** Of a key that is given twice the last value counts, as for JSON.parse. */
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

  /** The next character that is no white space; '' behind the end. */
  #peek(): string {
    while (/^[ \t\r\n]$/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text[this.#at] ?? '';
  }
}
