// The format CSV and its variants: any delimiter, quote and encoding, with or without a header.

import { Failed } from '../../protocol/failure.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import type { Pauses, Sliced } from '../../scheduling/time-slices.ts';
import type { CsvInput } from '../../template/template.ts';
import { sampleText } from '../detect/detect-form.ts';
import { explainForm } from '../detect/explain-form.ts';
import { refuseUnmarkedUtf16 } from '../encoding/encoding.ts';
import { textSource } from '../encoding/text-source.ts';
import { guessed } from '../encoding/undecodable.ts';
import type { FileStart } from '../file-start.ts';
import { type OpenSettings, PART_OUTPUT_BYTES_MAX, type SplittableInput, type StreamedFormat } from '../format.ts';
import type { FileHead, RowReader } from '../reader.ts';
import { beginsAsTable, unreadableTypeOf } from '../refusal.ts';
import {
  NulFreeSource,
  quoteBehindSeparators,
  SeparatedSource,
  separatedSample,
  UnspacedSource,
  withoutNul,
} from '../source/converted-source.ts';
import type { ByteSource } from '../source/source.ts';
import { UncommentedSource, uncommented } from '../source/uncommented-source.ts';
import { type EscapeForm, quoteBehindEscapes, UnescapedSource } from '../source/unescaped-source.ts';
import { preambleSearch, readFooter, valuesOfFirstRows } from '../values-around.ts';
import { type CsvForm, csvForm, foundSeparator, separatorLine, widestRecord } from './csv-form.ts';
import {
  CSV,
  type CsvDialect,
  type CsvReaderParts,
  goOnAtOnce,
  isDelimiterDeclared,
  isFastDialect,
  noDelimiter,
  WIDE_ROWS_MIN,
} from './csv-input.ts';
import { openCsvReader } from './csv-reader.ts';
import { openPlainReader } from './plain-reader.ts';

// Opens a reader for the rows of a CSV: decides encoding and form, adds the sources that rewrite the text, and chooses
// the fast or the slow reader.

/**
 * Throws Failed, LateQuote.
 * @param raw source that starts at the first byte of the file
 */
function* openCsv(raw: ByteSource, start: FileStart, given: OpenSettings): Coroutine<RowReader> {
  const { csv } = given.input;
  const encoding = start.encoding(csv.encoding);
  if (encoding.guessedBy !== undefined) given.onDoubt?.(guessed(encoding.name));
  refuseUnmarkedUtf16(start, csv.encoding, csv.nulBytes === 'drop');
  const giveWay = given.giveWay ?? goOnAtOnce;
  const decoded = start.text(csv.encoding);
  const text = csv.nulBytes === 'drop' ? withoutNul(decoded) : decoded;
  const recordSeparator =
    csv.recordSeparator ?? (given.input.format === 'lines' ? null : foundSeparator(text, start.isWhole));
  const settings = recordSeparator === null ? given : withoutEscapes(given);
  const records = recordSeparator === null ? text : separatedSample(text, recordSeparator);
  const sample = csv.comment === null ? records : uncommented(records, csv.comment);
  const separator = settings.input.format === 'lines' ? null : separatorLine(sample);
  const table = separator === null ? sample : sample.subarray(separator.bytes);
  const part = { bytes: table, isWhole: start.isWhole, separator, ending: start.ending };
  const found = yield* inSlices(csvForm(part, settings), settings.clock, giveWay);
  const form = declaredColumns(declaredHeader(found, settings), settings);
  if (form.doubt !== null && settings.onDoubt === undefined) throw form.doubt;
  if (form.doubt !== null) settings.onDoubt?.(form.doubt);
  settings.onExplained?.(explainForm(form.table, start.isWhole, form));
  const { headerLines, nameless, escapes } = form;
  const spaced = form.spaced === true || (start.quotesAfterSpace && maySkipSpaces(form));
  const written = { delimiter: form.oneColumn === true ? '' : form.delimiter!, quote: escapes?.quote ?? form.quote };
  // FileHead counts records from the first record of the file.
  const headerRow = form.headerRow === null || separator === null ? form.headerRow : form.headerRow + 1;
  const footer = settings.input.footer.length === 0 ? null : yield* readFooter({ ...written, encoding }, settings);
  const preamble = settings.input.preamble.length > 0 ? preambleSearch(records, settings.input) : undefined;
  // Without a header there are no records above it, so the first rows are searched.
  const first =
    headerRow === null && preamble !== undefined ? valuesOfFirstRows(preamble, sample, start.isWhole, written) : null;
  const source = textSource(footer?.source ?? raw, encoding, settings);
  const { delimiter, quote } = written;
  const rewritten = rewrittenSource(source, { delimiter, quote, spaced, escapes, recordSeparator }, csv);
  const parts: CsvReaderParts = {
    heap: settings.arena.heap,
    arena: settings.arena,
    kernel: settings.kernel,
    source: rewritten.source,
    comments: rewritten.comments,
    nul: rewritten.nul,
    dialect: {
      delimiter,
      quote: rewrittenQuote(form, recordSeparator),
      headerRow,
      headerLines,
      nameless,
      hasSeparatorLine: separator !== null,
      ...(headerRow === null && columnsOf(form, start.isWhole, settings)),
    },
    found: foundOf({ ...form, quote }, spaced, recordSeparator, rewritten.source !== source),
    wideRowsMin: isDelimiterDeclared(settings) ? Number.POSITIVE_INFINITY : WIDE_ROWS_MIN,
    nullValues: settings.input.nullValues,
    ragged: csv.ragged,
    strayQuotes: csv.strayQuotes,
    escapesAreOpen: settings.input.csv.escape === null && escapes === null,
    seeksLateQuotes: !spaced && escapes === null && recordSeparator === null && maySkipSpaces(form),
    type: form.delimiter === '\t' ? 'tsv' : 'csv',
    encoding: encoding.name,
    encodingGuess: encoding.guessedBy,
    preamble: first === null ? preamble : undefined,
    meta: footer === null && first === null ? undefined : { ...first, ...footer?.values },
    largeRow: settings.largeRow,
    readAhead: settings.readAhead,
    giveWay,
    onDoubt: settings.onDoubt,
  };
  return yield* isFastDialect(parts.dialect) ? openCsvReader(parts) : openPlainReader(parts);
}

/**
 * Spaces before quotes can be left out only between single-byte delimiters and quotes: the source works byte by byte.
 */
function maySkipSpaces({ delimiter, quote, oneColumn }: Pick<CsvForm, 'delimiter' | 'quote' | 'oneColumn'>): boolean {
  const marks = { delimiter: delimiter ?? '', quote };
  return oneColumn !== true && quote !== '' && delimiter !== null && delimiter !== ' ' && isFastDialect(marks);
}

interface RewrittenForm {
  readonly delimiter: string;
  readonly quote: string;
  readonly spaced: boolean;
  readonly escapes: EscapeForm | null;
  readonly recordSeparator: string | null;
}

/** Wraps the text for the readers: without NUL bytes, comments, escapes, and spaces before quotes. */
function rewrittenSource(
  text: ByteSource,
  { delimiter, quote, spaced, escapes, recordSeparator: separator }: RewrittenForm,
  { nulBytes, comment }: CsvInput,
): Pick<CsvReaderParts, 'source' | 'comments' | 'nul'> {
  let source = text;
  const nul = nulBytes === 'drop' ? new NulFreeSource(source) : undefined;
  source = nul ?? source;
  if (separator !== null)
    return { source: new SeparatedSource(source, { separator, delimiter, quote, spaced }), comments: undefined, nul };
  const comments =
    comment === null ? undefined : new UncommentedSource(source, { mark: comment, delimiter, quote, spaced });
  source = comments ?? source;
  if (escapes !== null) source = new UnescapedSource(source, escapes);
  else if (spaced) source = new UnspacedSource(source, { delimiter, quote });
  return { source, comments, nul };
}

/** Escapes are not supported together with a record separator. */
function withoutEscapes(settings: OpenSettings): OpenSettings {
  const { input } = settings;
  return { ...settings, input: { ...input, csv: { ...input.csv, escape: '' } } };
}

/** Quote of the text that the readers receive. */
function rewrittenQuote(form: CsvForm, recordSeparator: string | null): string {
  if (recordSeparator !== null) return quoteBehindSeparators(form);
  return form.escapes === null ? form.quote : quoteBehindEscapes(form.escapes);
}

/** The number of columns of a file without a header. */
function columnsOf(
  form: CsvForm,
  isWhole: boolean,
  settings: OpenSettings,
): Pick<CsvDialect, 'columns' | 'areColumnsDeclared'> {
  const { columns } = settings.input.csv;
  return columns === null ? { columns: widestRecord(form, isWhole, settings) } : { columns, areColumnsDeclared: true };
}

/** In a file of several columns, the first records may have one field, so that no delimiter was found in them. */
function declaredColumns(form: CsvForm, { overrides, input }: OpenSettings): CsvForm {
  const delimiter = overrides.delimiter ?? input.csv.delimiter;
  const columns = input.csv.columns ?? 1;
  if (form.headerRow !== null || form.oneColumn !== true || columns === 1) return form;
  if (delimiter === null) return { ...form, doubt: form.doubt ?? noDelimiter(columns) };
  const { oneColumn: _, ...rest } = form;
  return { ...rest, delimiter, quote: input.csv.quote ?? '"' };
}

/** Applies the number of header lines that the Template declares. */
function declaredHeader(form: CsvForm, { overrides, input }: OpenSettings): CsvForm {
  const { headerRow, headerRows } = input.csv;
  if (headerRows === null || headerRow === 'none') return form;
  const { headerLines: _, ...rest } = form;
  const isGiven = (overrides.headerRow ?? headerRow) !== null;
  const last = isGiven ? form.headerRow! : Math.max(form.headerRow ?? 0, headerRows - 1);
  const lines = Math.min(headerRows, last + 1);
  return { ...rest, headerRow: last, ...(lines > 1 && { headerLines: lines }) };
}

function* inSlices<T>(work: Sliced<T>, clock: Pauses | undefined, giveWay: () => Promise<void>): Coroutine<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (clock?.isDue()) yield giveWay();
  }
}

/** Facts for FileHead that are not in the dialect. Most files have no such facts. */
function foundOf(
  { delimiter, quote, oneColumn, headerLines, escapes }: CsvForm,
  spaced: boolean,
  recordSeparator: string | null,
  isRewritten: boolean,
): CsvReaderParts['found'] {
  const isOwn = delimiter !== null && oneColumn === undefined && headerLines === undefined;
  if (isOwn && !isRewritten) return undefined;
  return {
    delimiter,
    quote: quote === '' ? null : quote,
    ...(spaced && { quotesAfterSpace: spaced }),
    ...(escapes !== null && { escape: '\\' as const }),
    ...(recordSeparator !== null && { recordSeparator }),
    ...(oneColumn && { oneColumn }),
    ...(headerLines !== undefined && { headerLines }),
    ...(isRewritten && { isRewritten: true as const }),
  };
}

// Reads a CSV in parts, each of which begins at a record.

// Finds a record start in a CSV near any byte, by line breaks. A line break inside a quoted cell may be mistaken for
// the end of a record.

const LF = 10;

/**
 * Returns the offset of a probable record start: the first one after a line break from which two records have as many
 * fields as the header. Falls back to the position after the first line break, or 0 if there is no line break.
 */
function recordStart(bytes: Uint8Array, { delimiter, quote, headers }: FileHead): number {
  const dialect = { delimiter: delimiter!.charCodeAt(0), quote: quote === null ? -1 : quote.charCodeAt(0) };
  const first = bytes.indexOf(LF) + 1;
  for (let start = first; start > 0; start = bytes.indexOf(LF, start) + 1) {
    const one = recordAt(bytes, start, dialect);
    const two = one === null ? null : recordAt(bytes, one.end, dialect);
    if (two === null) return first;
    if (one?.fields === headers.length && two.fields === headers.length) return start;
  }
  return first;
}

/**
 * Parses the record that begins at a byte: its number of fields and the byte after its line break. Returns null if the
 * record does not end within the bytes.
 */
function recordAt(
  bytes: Uint8Array,
  start: number,
  { delimiter, quote }: { readonly delimiter: number; readonly quote: number },
): { readonly fields: number; readonly end: number } | null {
  let fields = 1;
  let quoted = bytes[start] === quote;
  for (let at = start + (quoted ? 1 : 0); at < bytes.length; at++) {
    const byte = bytes[at];
    // The second quote of a doubled quote reopens the field that the first one closed.
    if (byte === quote) quoted = quoted ? false : bytes[at - 1] === quote || bytes[at - 1] === delimiter;
    else if (quoted) continue;
    else if (byte === LF) return { fields, end: at + 1 };
    else if (byte === delimiter) fields++;
  }
  return null;
}

// Reads a CSV in parts: each part is read as a file without a header.

/** True for files that are UTF-8 without rewriting, in a dialect that the kernels support. */
function canSplit({ type, encoding, delimiter, quote, isRewritten }: FileHead): boolean {
  const isText = (type === 'csv' || type === 'tsv') && encoding === 'utf-8' && isRewritten !== true;
  return isText && delimiter !== null && isFastDialect({ delimiter, quote: quote ?? '' });
}

/** @param head head of a file for which canSplit returns true */
function resume(source: ByteSource, head: FileHead, settings: OpenSettings): Coroutine<RowReader> {
  const { input, arena, kernel, largeRow, readAhead } = settings;
  const { type, encoding, delimiter, quote, headerRow, headers, oneColumn, meta } = head;
  if (delimiter === null) throw new Error('a part of a file that is not CSV');
  return openCsvReader({
    heap: arena.heap,
    arena,
    kernel,
    source,
    dialect: { delimiter: oneColumn === true ? '' : delimiter, quote: quote ?? '', headerRow },
    found: { delimiter, quote, ...(oneColumn === true ? { oneColumn } : {}) },
    nullValues: input.nullValues,
    ragged: input.csv.ragged,
    strayQuotes: input.csv.strayQuotes,
    escapesAreOpen: input.csv.escape === null,
    // The text of a file that is split is not rewritten, so spaces before quotes are not left out.
    seeksLateQuotes: maySkipSpaces({ delimiter, quote: quote ?? '', oneColumn }),
    // OPEN_QUOTES_MAX is a limit of the file, and other parts are read by other threads.
    openQuotesMax: 0,
    type,
    encoding,
    largeRow,
    readAhead,
    headers,
    ...(meta === undefined ? {} : { meta }),
    // If most rows of the file are wide, then most rows of at least one part are wide.
    ...(isDelimiterDeclared(settings) ? {} : { wideRowsMin: 1 }),
  });
}

const splitCsv: SplittableInput = {
  canSplit,
  opensFirst: true,
  recordStart,
  outputBytesMax: PART_OUTPUT_BYTES_MAX,
  resume,
};

export const csvFormat: StreamedFormat = {
  name: CSV,
  endings: ['csv', 'tsv', 'tab', 'txt'],
  needsWholeFile: false,
  splittable: splitCsv,

  /** Accepts any text that is of no other known type. */
  detect(start, input) {
    if (unreadableTypeOf(start, input) !== null) return null;
    const sureness = input.format === 'lines' ? 'signature' : 'possible';
    const text = start.text(input.csv.encoding);
    if (beginsAsTable(text) || !start.isWhole || sampleText(text).trim() !== '') return { sureness, problem: null };
    return { sureness, problem: new Failed('MALFORMED_FILE', 'The file has only blank lines.') };
  },

  open: openCsv,
};
