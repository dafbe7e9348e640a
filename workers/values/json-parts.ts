// The parts of a JSON array or object as they are written: numbers keep their digits, which a parsed value would not.
import { isSoundJson } from './sound-json.ts';

/** What a text is: sound JSON of a kind, or none. */
export type JsonKind = 'array' | 'object' | 'string' | 'number' | 'boolean' | 'null' | 'none';

/** A longer text is walked through instead of parsed: what JSON.parse makes of it is up to fifty times as large. */
const PARSED_LENGTH_MAX = 65_536;

/** Deepest JSON that is read: deep enough for any document, shallow enough for every reader that goes down by recursion. */
export const JSON_DEPTH_MAX = 200;

export function jsonKind(text: string): JsonKind {
  if (text.length > PARSED_LENGTH_MAX) return isSoundJson(text, JSON_DEPTH_MAX) ? kindByStart(text) : 'none';
  // Before it is parsed: millions of lists in each other take a hundred times the memory of their text.
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

/** The items of an array whose text is sound, each as it is written. */
export function* jsonItems(text: string): Generator<string, void> {
  for (const [from, to] of pieces(text)) yield text.slice(from, to).trim();
}

/** Keys and values of an object whose text is sound, each value as it is written. Of equal keys the last counts: they come in their order. */
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

/** From where to where the comma-separated pieces of an array or object go. */
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

/** Behind the closing quote of the string that begins at `at`; behind the text where none closes it. */
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
