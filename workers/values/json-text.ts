// JSON as text: validates it, and finds its parts as written. Numbers keep their digits.

// Validates a long JSON text without creating values: JSON.parse uses a hundred bytes for each `[]`, and 200 MB for a
// cell. Accepts the same texts as JSON.parse (RFC 8259), up to a maximum depth.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Sticky patterns, matched at the current position. */
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

/** @param depthMax maximum number of nested brackets; deeper texts are refused */
export function isValidJson(text: string, depthMax: number): boolean {
  return new JsonValidator(text, depthMax).isValid();
}

class JsonValidator {
  readonly #text: string;
  readonly #depthMax: number;
  /** The open brackets at the current position. */
  readonly #open: number[] = [];
  #at = 0;

  constructor(text: string, depthMax: number) {
    this.#text = text;
    this.#depthMax = depthMax;
  }

  isValid(): boolean {
    do {
      if (!this.#value() || !this.#closeAll()) return false;
    } while (this.#open.length > 0);
    return this.#at === this.#text.length;
  }

  /**
   * Reads a value, or the start of a list or object up to its first scalar value. Empty lists and objects are closed.
   */
  #value(): boolean {
    for (;;) {
      const sign = this.#peek();
      if (sign === QUOTE) return this.#string();
      if (sign !== OPEN_LIST && sign !== OPEN_OBJECT) return this.#takes(SCALAR);
      if (this.#open.push(sign) > this.#depthMax) return false;
      this.#at++;
      const isEmpty = this.#peek() === (sign === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT);
      if (isEmpty) return true;
      if (sign === OPEN_OBJECT && !this.#key()) return false;
    }
  }

  /** After a value: closes brackets that end here, and moves to the next value. */
  #closeAll(): boolean {
    while (this.#open.length > 0) {
      const sign = this.#peek();
      const bracket = this.#open[this.#open.length - 1]!;
      this.#at++;
      if (sign === COMMA) {
        return bracket === OPEN_LIST || this.#key();
      }
      if (sign !== (bracket === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT)) return false;
      this.#open.pop();
    }
    this.#peek();
    return true;
  }

  #key(): boolean {
    if (this.#peek() !== QUOTE || !this.#string() || this.#peek() !== COLON) return false;
    this.#at++;
    return true;
  }

  #string(): boolean {
    this.#at++;
    for (;;) {
      const sign = this.#text.charCodeAt(this.#at);
      if (sign === BACKSLASH) {
        if (!this.#takes(ESCAPE)) return false;
      } else if (sign >= 0x20) {
        this.#at++;
        if (sign === QUOTE) return true;
      } else return false;
    }
  }

  #takes(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  /** The next character that is not white space; NaN at the end. */
  #peek(): number {
    for (;;) {
      const sign = this.#text.charCodeAt(this.#at);
      if (sign !== 0x20 && sign !== 0x0a && sign !== 0x0d && sign !== 0x09) return sign;
      this.#at++;
    }
  }
}

// The parts of a JSON array or object as written. Numbers keep their digits, which parsed values would lose.

/** The kind of JSON that a text is; `none` if it is not valid JSON. */
export type JsonKind = 'array' | 'object' | 'string' | 'number' | 'boolean' | 'null' | 'none';

/**
 * Longer texts are scanned instead of parsed, because the result of JSON.parse is up to fifty times as large. In
 * UTF-16 units.
 */
const PARSED_LENGTH_MAX = 65_536;

/** Maximum depth of JSON that is read: enough for any document, and small enough for recursive readers. */
export const JSON_DEPTH_MAX = 200;

export function jsonKind(text: string): JsonKind {
  if (text.length > PARSED_LENGTH_MAX) return isValidJson(text, JSON_DEPTH_MAX) ? kindByStart(text) : 'none';
  // Check the depth before parsing: millions of nested lists take a hundred times the memory of their text.
  if (isTooDeep(text)) return 'none';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'none';
  }
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as JsonKind;
}

function kindByStart(text: string): JsonKind {
  const start = text.trimStart().charAt(0);
  return KIND_BY_START[start] ?? 'number';
}

const KIND_BY_START: Readonly<Record<string, JsonKind>> = {
  '[': 'array',
  '{': 'object',
  '"': 'string',
  t: 'boolean',
  f: 'boolean',
  n: 'null',
};

/** The items of an array in valid JSON, each as written. */
export function* jsonItems(text: string): Generator<string, void> {
  for (const [from, to] of pieces(text)) yield text.slice(from, to).trim();
}

/**
 * Keys and values of an object in valid JSON, in order, each value as written. Equal keys may occur; the last one
 * counts.
 */
export function* jsonEntries(text: string): Generator<[key: string, value: string], void> {
  for (const [from, to] of pieces(text)) {
    const key = stringEnd(text, text.indexOf('"', from));
    const colon = text.indexOf(':', key);
    yield [keyOf(text.slice(text.indexOf('"', from), key)), text.slice(colon + 1, to).trim()];
  }
}

function keyOf(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

/** Ranges of the comma-separated pieces of an array or object. */
function* pieces(text: string): Generator<[from: number, to: number], void> {
  const first = text.search(/[[{]/);
  let depth = 0;
  let from = first + 1;
  for (let at = first; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') at = stringEnd(text, at) - 1;
    else if (sign === '[' || sign === '{') depth++;
    else if (sign === ']' || sign === '}') {
      depth--;
      if (depth > 0) continue;
      if (text.slice(from, at).trim() !== '') yield [from, at];
      return;
    } else if (sign === ',' && depth === 1) {
      yield [from, at];
      from = at + 1;
    }
  }
}

/**
 * Position after the closing quote of the string that starts at `at`; the end of the text if the string is not
 * closed.
 */
function stringEnd(text: string, at: number): number {
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === '\\') end++;
    else if (text[end] === '"') return end + 1;
  }
  return text.length;
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') at = stringEnd(text, at) - 1;
    else if (sign === '[' || sign === '{') depth++;
    else if (sign === ']' || sign === '}') depth--;
    if (depth > JSON_DEPTH_MAX) return true;
  }
  return false;
}
