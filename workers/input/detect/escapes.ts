// Detects backslash escapes in a CSV, as written by MySQL, Spark, PHP and ClickHouse. They are evident if records that
// are uneven or have misplaced quotes become even and correct once the escapes are read.
import { unescaped } from '../source/unescaped-source.ts';
import { USUAL_DELIMITERS } from './dialect.ts';
import type { Dialect, Sample } from './sample.ts';
import { Samples } from './samples.ts';

const BACKSLASH = 0x5c;

/** Minimum number of records: a single record cannot be uneven. */
const RECORDS_MIN = 2;

export interface EscapedDialect {
  readonly delimiter: string;
  readonly quote: string;
}

/**
 * @param found dialect without escapes
 * @param declared settings of the Template or the request
 * @returns the dialect with escapes, or null if nothing shows that the file has escapes
 */
export function escapesOf(
  samples: Samples,
  found: Dialect,
  declared: { readonly delimiter: string | null; readonly quote: string | null },
): EscapedDialect | null {
  const { bytes, ended } = samples;
  if (!bytes.includes(BACKSLASH) || isValid(samples.of(found))) return null;
  const quote = declared.quote ?? '"';
  const delimiters =
    declared.delimiter === null ? [...new Set([found.delimiter, ...USUAL_DELIMITERS])] : [declared.delimiter];
  for (const delimiter of delimiters) {
    if (!isRewritable(delimiter, quote) || !samples.holds(delimiter)) continue;
    const plain = samples.of({ delimiter, quote });
    if (isValid(plain) || !hasEscapedMark(samples, { delimiter, quote }, plain)) continue;
    const rewritten = unescaped(bytes, ended, { delimiter, quote, keepsNull: true });
    const sample = new Samples(rewritten, ended, null).of({ delimiter, quote: quote || '"' });
    if (isValid(sample)) return { delimiter, quote };
  }
  return null;
}

/**
 * True if a backslash changes how the file is split: before a quote inside a quoted field, or, in a file with uneven
 * records, before a delimiter or a line break. Any other backslash belongs to the text, as in unquoted JSON.
 */
function hasEscapedMark({ text }: Samples, { delimiter, quote }: EscapedDialect, plain: Sample): boolean {
  const field = `(?:^|[\\r\\n${literal(delimiter)}])${literal(quote)}`;
  const untilQuote = `(?:[^${literal(quote)}\\\\]|\\\\[^${literal(quote)}])*\\\\${literal(quote)}`;
  if (quote !== '' && new RegExp(`${field}${untilQuote}`, 'u').test(text)) return true;
  return plain.rowsByWidth.size > 1 && new RegExp(`\\\\[\\r\\n${literal(delimiter)}]`, 'u').test(text);
}

/** Escapes a character for a regular expression. Works inside brackets, too. */
function literal(mark: string): string {
  return mark === '' ? '' : `\\u{${mark.codePointAt(0)!.toString(16)}}`;
}

/** True if delimiter and quote are single ASCII characters, which the rewriting source needs. */
function isRewritable(delimiter: string, quote: string): boolean {
  return delimiter.length === 1 && delimiter < '\x80' && quote.length <= 1 && quote < '\x80';
}

/** True if all records have the same number of fields, more than one, and no quote is misplaced. */
function isValid(sample: Sample): boolean {
  const [[width, records] = [0, 0], ...others] = [...sample.rowsByWidth];
  return others.length === 0 && width > 1 && records >= RECORDS_MIN && sample.strayQuotes === 0;
}
