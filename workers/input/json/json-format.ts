// The JSON format, and JSON with a prefix, which is refused.
import { Failed } from '../../protocol/failure.ts';
import { awaited } from '../../scheduling/coroutine.ts';
import type { TemplateInput } from '../../template/template.ts';
import { sampleText } from '../detect/detect-form.ts';
import { type Detection, PART_OUTPUT_BYTES_MAX, type SplittableInput, type StreamedFormat } from '../format.ts';
import { JSON_FORMAT } from './json-name.ts';

// Recognises JSON with a prefix: JavaScript, JSONP, a guard against hijacking, a comment. Such files are neither JSON
// nor tables. Without this check, they would be read as CSV, and the message would only say that columns are missing.

/** Number of bytes in which the JSON must begin. */
const LOOKED_AT_BYTES = 1024;

const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

const NAME = String.raw`[A-Za-z_$][\w$]*(?:\.[\w$]+|\[["'\w]+\])*`;

interface Wrapping {
  readonly form: RegExp;
  readonly name: string;
  readonly isComment?: true;
}

const WRAPPINGS: readonly Wrapping[] = [
  {
    form: new RegExp(String.raw`^\s*(?:(?:export\s+)?(?:var|let|const)\s+)?${NAME}\s*=\s*|^\s*export\s+default\s+`),
    name: 'JavaScript that assigns the JSON to a variable',
  },
  {
    // A guard such as `typeof f === "function" &&` may precede the call.
    form: new RegExp(
      String.raw`^\s*(?:/\*[^*]*\*/\s*)?(?:typeof\s+${NAME}\s*===?\s*["']function["']\s*&&\s*|${NAME}\s*&&\s*)?${NAME}\s*\(\s*`,
    ),
    name: 'JSONP, a call of a function with the JSON in it',
  },
  {
    form: /^\s*(?:\)\]\}'?,?|while\s*\(1\);|for\s*\(;;\);)\s*/,
    name: 'JSON after a prefix that prevents browsers from running it',
  },
  { form: /^\s*(?:\/\/[^\n]*\n\s*|\/\*[^*]*\*\/\s*)+/, name: 'JSON after a comment', isComment: true },
];

/** Beginnings of JSON or of a JavaScript object. */
const INSIDE = /^(?:\[\s*(?:[{[\]"]|-?\d|$)|\{\s*(?:["'}]|[A-Za-z_$][\w$]*\s*:|$))/;

/**
 * Returns null for any other file.
 * @param hasComments whether the Template declares comment lines
 */
function wrappedJson(bytes: Uint8Array, hasComments: boolean): Failed | null {
  const start = bytes.subarray(0, LOOKED_AT_BYTES);
  if (!start.includes(OPEN_LIST) && !start.includes(OPEN_OBJECT)) return null;
  const text = Buffer.from(start.buffer, start.byteOffset, start.length)
    .toString('latin1')
    .replace(/^\u00EF\u00BB\u00BF/, '');
  for (const { form, name, isComment } of WRAPPINGS) {
    const before = isComment && hasComments ? null : form.exec(text);
    if (before === null || !INSIDE.test(text.slice(before[0].length))) continue;
    return new Failed(
      'MALFORMED_FILE',
      `The file is ${name}. Send the JSON alone: remove everything before its first bracket and after its last one.`,
    );
  }
  return null;
}

// The JSON format: a list of objects or of lists, concatenated objects or lists (NDJSON), or an object that contains
// such a list. The reader is loaded on first use.

const ENDINGS = ['json', 'ndjson', 'jsonl', 'geojson'];

/**
 * A list of objects or lists, or an object. The first header of a CSV may be in brackets or braces, but a name follows
 * there, which JSON does not allow.
 */
const BEGINNING = /^\s*(?:\[\s*(?:[{[\]]|$)|\{\s*(?:"|\}|$))/;

/** For files with a JSON extension: broken JSON is then refused as JSON. */
const ANY_BEGINNING = /^\s*[[{]/;

/** Two lines that look like lists of values. JSON.parse decides. */
const TWO_LISTS = /^\s*(\[[^\n]{0,4096}\])\s*\n\s*(\[[^\n]{0,4096}\])\s*(?:\n|$)/;

// Concatenated records can be read in parts. A line break is never inside a text of JSON, but it may be inside a record.
// The part before then ends inside a record, which is an error, and the file is read as a whole.

const LF = 10;
const CLOSE_OBJECT = 0x7d;

/** Returns the offset of the first object that begins a line after a line that ends an object. */
function recordStart(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    let before = at - 1;
    while (before >= 0 && isSpace(bytes[before]!)) before--;
    let start = at + 1;
    while (start < bytes.length && isSpace(bytes[start]!)) start++;
    if (bytes[before] === CLOSE_OBJECT && bytes[start] === OPEN_OBJECT) return start;
  }
  return 0;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

const splitJson: SplittableInput = {
  canSplit: ({ keys }) => keys !== undefined,
  recordStart,
  outputBytesMax: PART_OUTPUT_BYTES_MAX,
  *resume(source, head, settings) {
    const { resumeJson } = yield* awaited(import('./open-json.ts'));
    return yield* resumeJson(source, head, settings);
  },
};

export const jsonFormat: StreamedFormat = {
  name: JSON_FORMAT,
  endings: ENDINGS,
  needsWholeFile: false,
  splittable: splitJson,

  detect(start, input) {
    if (isOther(start.bytes)) return wrapped(start.bytes, input);
    const text = sampleText(start.text(null));
    const beginning = ENDINGS.includes(start.ending) ? ANY_BEGINNING : BEGINNING;
    if (beginning.test(text) || isListPerLine(text)) return { sureness: 'content', problem: null };
    return wrapped(start.bytes, input);
  },

  *open(source, start, settings) {
    const { openJson } = yield* awaited(import('./open-json.ts'));
    return yield* openJson(source, start, settings);
  },
};

/** True for most other files: the first byte is neither white space nor a bracket nor part of a byte order mark. */
function isOther(bytes: Uint8Array): boolean {
  const first = bytes[0]!;
  return first > 0x20 && first < 0x80 && first !== 0x5b && first !== 0x7b;
}

/** Recognises JSON wrapped in other text, for a specific refusal. */
function wrapped(bytes: Uint8Array, input: TemplateInput): Detection | null {
  const problem = wrappedJson(bytes, input.csv.comment !== null);
  return problem === null ? null : { sureness: 'content', problem };
}

function isListPerLine(text: string): boolean {
  const [, ...lists] = TWO_LISTS.exec(text) ?? [];
  return lists.length > 0 && lists.every(isJson);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
