// The parts of a JSON array or object as they are written: numbers keep their digits, which a parsed value would not.

/** What a text is: sound JSON of a kind, or none. */
export type JsonKind = 'array' | 'object' | 'string' | 'number' | 'boolean' | 'null' | 'none';

/** Deeper JSON is refused: every reader of it can go down by recursion. */
const DEPTH_MAX = 200;

export function jsonKind(text: string): JsonKind {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'none';
  }
  if (value === null) return 'null';
  if (isTooDeep(text)) return 'none';
  if (Array.isArray(value)) return 'array';
  return typeof value as JsonKind;
}

/** The items of an array whose text is sound, each as it is written. */
export function jsonItems(text: string): string[] {
  return pieces(text).map(([from, to]) => text.slice(from, to).trim());
}

/** Keys and values of an object whose text is sound, each value as it is written. Of equal keys the last counts. */
export function jsonEntries(text: string): Map<string, string> {
  const entries = pieces(text).map(([from, to]): [string, string] => {
    const key = stringEnd(text, text.indexOf('"', from));
    const colon = text.indexOf(':', key);
    return [JSON.parse(text.slice(from, key)) as string, text.slice(colon + 1, to).trim()];
  });
  return new Map(entries);
}

/** From where to where the comma-separated pieces of an array or object go. */
function pieces(text: string): [from: number, to: number][] {
  const found: [number, number][] = [];
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
      if (text.slice(from, at).trim() !== '') found.push([from, at]);
      break;
    } else if (sign === ',' && depth === 1) {
      found.push([from, at]);
      from = at + 1;
    }
  }
  return found;
}

/** Behind the closing quote of the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  for (let end = at + 1; ; end++) {
    if (text[end] === '\\') end++;
    else if (text[end] === '"') return end + 1;
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') at = stringEnd(text, at) - 1;
    else if (sign === '[' || sign === '{') depth++;
    else if (sign === ']' || sign === '}') depth--;
    if (depth > DEPTH_MAX) return true;
  }
  return false;
}
