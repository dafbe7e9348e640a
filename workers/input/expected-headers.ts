// The headers that a Template looks for, told from other cells: when the header row of a file is looked for, most cells are
// none, and a glance at their bytes says so.
import { isAscii } from 'node:buffer';
import { cleaned, headerKey, isPlain, matchHeaders } from '../plan/headers.ts';
import type { Sliced } from '../run/time-slices.ts';
import { type ColumnPattern, MATCHED_NAME_LENGTH_MAX } from '../template/column-pattern.ts';
import type { HeaderMatch, Template } from '../template/template.ts';
import { expectedTexts } from './detect/header-row.ts';
import { TextSample } from './detect/text-sample.ts';

/** Latin letters of which neither Unicode's compatible forms nor case folding make ASCII: a key keeps something of them. */
const FOREIGN_LETTER = /[\u00C0-\u00D6\u00D8-\u00DE\u00E0-\u00F6\u00F8-\u0131\u0134-\u013E\u0141-\u0148\u014A-\u017E]/;

const SPACE = 0x20;
const LAST_VISIBLE = 0x7e;

/** Letters of ASCII differ by it from their capitals; some other characters from each other, which does no harm. */
const CASE_BIT = 0x20;
const SHAPE_FACTOR = 128;
const SHAPES = 8192;

/** Longer records, in bytes, are looked at each time: what is kept of each Template stays small. */
const KEPT_BYTES_MAX = 4096;

/** What of a Template says which headers it looks for. */
type ExpectingTemplate = Pick<Template, 'fileColumns' | 'input' | 'patterns' | 'takesOthers'>;

interface KnownRecord {
  readonly bytes: Buffer;
  readonly delimiter: string;
  readonly hits: number;
}

export class ExpectedHeaders {
  /** That are looked for, each by its name or another one. */
  readonly columns: number;
  readonly #names: ReadonlySet<string>;
  readonly #patterns: readonly ColumnPattern[];
  readonly #level: HeaderMatch;
  /** By the shape of a plain text: whether a name has it too. */
  readonly #shapes = new Uint8Array(SHAPES);
  /** On the first two levels a plain text and its key differ in case alone: most cells of a file are told by their shape. */
  readonly #keepsShape: boolean;
  readonly #isAllAscii: boolean;
  readonly #template: ExpectingTemplate;
  /** The last record that was looked at: many small files have the same header. */
  #last: KnownRecord | null = null;

  /** Null when the Template looks for none by name. */
  static of(template: ExpectingTemplate): ExpectedHeaders | null {
    const { fileColumns, input, patterns } = template;
    if (fileColumns.length === 0) return null;
    const names = new Set<string>();
    const forms: ColumnPattern[] = [];
    for (const { name, match } of fileColumns) {
      names.add(headerKey(name, input.headerMatch));
      for (const form of match) {
        if (typeof form === 'string') names.add(headerKey(form, input.headerMatch));
        else if ('pattern' in form) forms.push(patterns.checked(form.pattern));
      }
    }
    return new ExpectedHeaders(names, forms, template);
  }

  private constructor(names: ReadonlySet<string>, patterns: readonly ColumnPattern[], template: ExpectingTemplate) {
    const level = template.input.headerMatch;
    this.#template = template;
    this.columns = template.fileColumns.length;
    this.#names = names;
    this.#patterns = patterns;
    this.#level = level;
    this.#keepsShape = level !== 'loose' && patterns.length === 0;
    this.#isAllAscii = [...names].every((name) => isAscii(Buffer.from(name)));
    for (const name of names) this.#shapes[shapeOf(name.length, name.charCodeAt(0))] = 1;
  }

  has(text: string): boolean {
    if (this.#keepsShape) {
      if (this.#shapes[shapeOf(text.length, text.charCodeAt(0))] === 0 && isPlain(text)) return false;
      if (this.#isAllAscii && FOREIGN_LETTER.test(text)) return false;
    }
    if (this.#names.has(headerKey(text, this.#level))) return true;
    if (text.length > MATCHED_NAME_LENGTH_MAX) return false;
    return this.#patterns.some(
      (pattern) => pattern.test(text) || (this.#level !== 'exact' && pattern.test(cleaned(text))),
    );
  }

  /** Whether these headers of a file are all that the Template takes of it: columns that come later are nobody's. */
  *areAllIn(headers: readonly string[]): Sliced<boolean> {
    const { fileColumns, input, patterns, takesOthers } = this.#template;
    if (takesOthers) return false;
    const { fields } = yield* matchHeaders(headers, fileColumns, input.headerMatch, patterns);
    return fields.every((field) => field !== null);
  }

  /** How many different names the record has whose bytes are [start, end): of a plain file, in double quotes if any. */
  *hits(bytes: Uint8Array, start: number, end: number, delimiter: string): Sliced<number> {
    const record = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
    if (this.#last?.delimiter === delimiter && this.#last.bytes.equals(record)) return this.#last.hits;
    const sample = new TextSample(record.toString(), { delimiter, quote: '"' }, true);
    const hits = yield* expectedTexts(sample.has(0) ? sample.at(0) : [], (cell) => this.has(cell), 0);
    if (record.length <= KEPT_BYTES_MAX) this.#last = { bytes: Buffer.from(record), delimiter, hits };
    return hits;
  }

  /** True for bytes [start, end) of UTF-8 that are surely none: of most others, too, `has` will say no. */
  exclude(bytes: Uint8Array, start: number, end: number): boolean {
    if (start === end) return true;
    if (!this.#keepsShape || this.#shapes[shapeOf(end - start, bytes[start]!)] !== 0) return false;
    let before = SPACE;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (byte < SPACE || byte > LAST_VISIBLE || (byte === SPACE && before === SPACE)) return false;
      before = byte;
    }
    return before !== SPACE;
  }
}

/** A number below SHAPES of the length and the first letter of a text, in either case. */
function shapeOf(length: number, first: number): number {
  return (length * SHAPE_FACTOR + ((first | CASE_BIT) & (SHAPE_FACTOR - 1))) & (SHAPES - 1);
}
