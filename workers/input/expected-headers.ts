// The headers that a Template looks for. The search for the header row tests many cells; a look at the length and the
// first byte excludes most of them without decoding.
import { isAscii } from 'node:buffer';
import type { Sliced } from '../scheduling/time-slices.ts';
import { type ColumnPattern, MATCHED_NAME_LENGTH_MAX } from '../template/column-pattern.ts';
import { cleaned, headerKey, isPlain, type MatchedHeaders, matchHeaders } from '../template/file-columns.ts';
import type { HeaderMatch, Template } from '../template/template.ts';
import { expectedTexts } from './detect/header-row.ts';
import { TextSample } from './detect/text-sample.ts';

/**
 * Latin letters that neither Unicode compatibility forms nor case folding turn into ASCII, so that a header key still
 * contains them.
 */
const FOREIGN_LETTER = /[\u00C0-\u00D6\u00D8-\u00DE\u00E0-\u00F6\u00F8-\u0131\u0134-\u013E\u0141-\u0148\u014A-\u017E]/;

const SPACE = 0x20;
const LAST_VISIBLE = 0x7e;

/**
 * Bit in which upper and lower case of an ASCII letter differ. Some other characters also differ in this bit only. For
 * them, the filter is merely less exact.
 */
const CASE_BIT = 0x20;
const SHAPE_FACTOR = 128;
const SHAPES = 8192;

/**
 * Longest record that is remembered, in bytes. Longer records are examined each time, so that little is kept for each
 * Template.
 */
const KEPT_BYTES_MAX = 4096;

/** The parts of a Template that say which headers it looks for. */
type ExpectingTemplate = Pick<Template, 'fileColumns' | 'input' | 'patterns' | 'takesOthers'>;

interface KnownRecord {
  readonly bytes: Buffer;
  readonly delimiter: string;
  readonly hits: number;
}

export class ExpectedHeaders {
  /** Number of columns that the Template looks for, each by its name or an alternative. */
  readonly columns: number;
  readonly #names: ReadonlySet<string>;
  readonly #patterns: readonly ColumnPattern[];
  readonly #level: HeaderMatch;
  /** For each shape (see shapeOf): 1 if an expected ASCII name has it. */
  readonly #shapes = new Uint8Array(SHAPES);
  /** True if the shape filter works: on the first two match levels, an ASCII text and its key differ in case only. */
  readonly #keepsShape: boolean;
  readonly #isAllAscii: boolean;
  readonly #template: ExpectingTemplate;
  /** The last record examined: many small files have the same header. */
  #last: KnownRecord | null = null;

  /** Returns null if the Template looks for no column by name. */
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

  /** Column names of the Template, in its order. */
  get names(): readonly string[] {
    return this.#template.fileColumns.map(({ name }) => name);
  }

  /**
   * True if the Template takes nothing beyond these headers of a file, so that columns that only later records have are
   * unused.
   */
  *areAllIn(headers: readonly string[]): Sliced<boolean> {
    if (this.#template.takesOthers) return false;
    const { fields } = yield* this.#match(headers);
    return fields.every((field) => field !== null);
  }

  /**
   * For each column that the Template names, the position of its header or null. Null as a whole if the Template also
   * takes other columns, or if a column matches several headers.
   */
  *fieldsIn(headers: readonly string[]): Sliced<readonly (number | null)[] | null> {
    if (this.#template.takesOthers) return null;
    const { fields, ambiguous } = yield* this.#match(headers);
    return ambiguous.length > 0 ? null : fields;
  }

  /** @param column index in the columns that the Template names */
  isRequired(column: number): boolean {
    return this.#template.fileColumns[column]!.ifMissing === 'fail';
  }

  /**
   * True if a missing column is read as null. False if it is required, or if operations leave it out (`if_missing: skip`).
   * @param column as in `isRequired`
   */
  isNullIfMissing(column: number): boolean {
    return this.#template.fileColumns[column]!.ifMissing === 'null';
  }

  #match(headers: readonly string[]): Sliced<MatchedHeaders> {
    const { fileColumns, input, patterns } = this.#template;
    return matchHeaders(headers, fileColumns, input.headerMatch, patterns);
  }

  /**
   * Number of distinct expected names in the record with the bytes [start, end). The fields may be in double quotes.
   */
  *hits(bytes: Uint8Array, start: number, end: number, delimiter: string): Sliced<number> {
    const record = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
    if (this.#last?.delimiter === delimiter && this.#last.bytes.equals(record)) return this.#last.hits;
    const sample = new TextSample(record.toString(), { delimiter, quote: '"' }, true);
    const hits = yield* expectedTexts(sample.has(0) ? sample.at(0) : [], (cell) => this.has(cell), 0);
    if (record.length <= KEPT_BYTES_MAX) this.#last = { bytes: Buffer.from(record), delimiter, hits };
    return hits;
  }

  /** Returns true only if the UTF-8 bytes [start, end) are certainly no expected header. Otherwise `has` decides. */
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

/** Hash below SHAPES of a text's length and first letter, regardless of case. */
function shapeOf(length: number, first: number): number {
  return (length * SHAPE_FACTOR + ((first | CASE_BIT) & (SHAPE_FACTOR - 1))) & (SHAPES - 1);
}
