// Files that no format here reads: what they are called in the refusal, by their content alone. What the file's name says does
// not count.
import { Failed } from '../protocol/failure.ts';
import type { TemplateInput } from '../template/template.ts';
import { sampleText } from './detect/detect-form.ts';
import type { FileStart } from './file-start.ts';
import { type KnownType, knownMarkupOf, knownTypeOf } from './refused-files.ts';

const SPACE = 0x20;
const DELETE = 0x7f;

/** `[`, `{` and `<`. */
const OTHER_BEGINNINGS = [0x5b, 0x7b, 0x3c];

/** Failed UNSUPPORTED_FILE_TYPE for a type that is known and read by none; null for a text that may be a table. */
export function refusalOf(start: FileStart, { csv, format }: TemplateInput): Failed | null {
  const type = knownTypeOf(start.bytes);
  if (type !== null) return unsupported(type);
  // Any text is lines.
  if (format === 'lines') return null;
  const sample = start.text(csv.encoding);
  if (beginsAsTable(sample)) return null;
  const text = sampleText(sample);
  // A reference table is one that only CSV is read of.
  if (looksLikeJson(text)) return unsupported({ name: 'JSON', advice: 'only CSV is read here' });
  const markup = knownMarkupOf(text);
  return markup && unsupported(markup);
}

/** True for a text whose first character alone shows that it is neither blank nor JSON nor markup, as most do. */
export function beginsAsTable(text: Uint8Array): boolean {
  const first = text[0];
  return first !== undefined && first > SPACE && first < DELETE && !OTHER_BEGINNINGS.includes(first);
}

function unsupported({ name, advice }: KnownType): Failed {
  return new Failed('UNSUPPORTED_FILE_TYPE', `The file is ${name}; ${advice}.`);
}

/**
 * True when a text begins as an array of objects, as an object, or as lines of objects. A CSV whose first header is in
 * brackets does not: behind its bracket stands a name, not `{`, `[`, `]`, `"` or `}`.
 */
function looksLikeJson(text: string): boolean {
  return /^\s*(?:\[\s*(?:[{[\]]|$)|\{\s*(?:"[^"]*"\s*:|\}|$))/.test(text);
}
