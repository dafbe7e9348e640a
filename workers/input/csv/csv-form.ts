// Determines how a CSV is read, from the settings of the request and the Template and from the file.
import { Failed } from '../../protocol/failure.ts';
import type { Sliced } from '../../scheduling/time-slices.ts';
import { type DetectedForm, detectForm, type KnownForm } from '../detect/detect-form.ts';
import { escapesOf } from '../detect/escapes.ts';
import { longDelimiter } from '../detect/long-delimiter.ts';
import type { Dialect, Sample } from '../detect/sample.ts';
import { Samples } from '../detect/samples.ts';
import { SampleScanner } from '../detect/scan-text.ts';
import type { OpenSettings } from '../format.ts';
import { type EscapeForm, quoteBehindEscapes, unescaped } from '../source/unescaped-source.ts';
import { drawnTable, malformed, TEXT_SEQUENCE, unsureDelimiter } from './csv-input.ts';

// Recognizes tables that are drawn with characters: Markdown, and the output of psql and mysql. Their lines of dashes are
// neither rows nor headers.

/** Lines of dashes are near the beginning: below the header, or around it. */
const LOOK_BYTES = 8_192;

const DRAWN_LINE_END = 0x0a;
const DASHES = '--';

/** A line of dashes without its white space. */
const LINE_OF_DASHES = /^[|+]?:?-{2,}:?(?:[|+]:?-{2,}:?)*[|+]?$/;

/** Returns the number of the first line, from 1, that consists of dashes between `|` or `+`, or 0. */
function lineOfDashes(text: Uint8Array): number {
  const start = Buffer.from(text.buffer, text.byteOffset, Math.min(text.length, LOOK_BYTES));
  if (!start.includes(DASHES)) return 0;
  // The last line may be incomplete.
  const end = start.length < text.length ? start.lastIndexOf(DRAWN_LINE_END) + 1 : start.length;
  const lines = start.toString('latin1', 0, end).split(/\r\n?|\n/);
  let quotes = 0;
  for (const [index, line] of lines.entries()) {
    // A quoted cell may contain a table in Markdown.
    if (quotes % 2 === 0 && isLineOfDashes(line.replace(/[ \t]/g, ''))) return index + 1;
    quotes += line.split('"').length - 1;
  }
  return 0;
}

function isLineOfDashes(line: string): boolean {
  return /[|+]/.test(line) && LINE_OF_DASHES.test(line);
}

// The line `sep=;` above some files, which sets the delimiter for Excel. It is not a record of the table.

/** The delimiter that the line names, and the length of the line with its line break. */
interface SeparatorLine {
  readonly delimiter: string;
  readonly bytes: number;
}

/**
 * A letter, digit or quote cannot be a delimiter. Programs that read the line as a row may have added delimiters after
 * it.
 */
const SEPARATOR_LINE = /^"?sep=([^\p{L}\p{N}"\r\n])"?\1*(?:\r\n|\r|\n)/iu;

/** Maximum length of the line. A longer line would mean an implausible number of columns, so it is something else. */
const LINE_BYTES_MAX = 1024;

/** Bytes that the line can begin with. */
const FIRST_BYTES = new Set(Buffer.from('"sS'));

/** @param text first part of a file, UTF-8 without a byte order mark */
export function separatorLine(text: Uint8Array): SeparatorLine | null {
  // In most files, the first byte excludes a separator line. Decoding the line took 6 % of the thread time of a small
  // Run.
  if (!FIRST_BYTES.has(text[0] ?? 0)) return null;
  const start = Buffer.from(text.buffer, text.byteOffset, Math.min(text.length, LINE_BYTES_MAX)).toString();
  const found = SEPARATOR_LINE.exec(start);
  return found === null ? null : { delimiter: found[1]!, bytes: Buffer.byteLength(found[0]) };
}

// Determines how a CSV is read, from the settings of the request and the Template and from the first part of the file.

/** File name extensions of tab-separated files. */
const TAB_ENDINGS: ReadonlySet<string> = new Set(['tsv', 'tab']);

/** Minimum share of records with a tab for which such an extension is believed. */
const TAB_SHARE_MIN = 0.5;

const RECORD_SEPARATOR = 0x1e;
const LF = 10;
const CR = 13;

/** First part of the table: UTF-8 without comments and separator line. */
export interface CsvSample {
  readonly bytes: Uint8Array;
  /** True if the bytes are the whole table. */
  readonly isWhole: boolean;
  readonly separator: SeparatorLine | null;
  /** File name extension in lower case without the dot. */
  readonly ending: string;
}

export interface CsvForm extends DetectedForm {
  /** Set if the file has backslash escapes. */
  readonly escapes: EscapeForm | null;
  /** The sample as its readers see it, without escapes. */
  readonly table: Uint8Array;
  /** A reason why the file may be read wrongly, or null. */
  readonly doubt: Failed | null;
}

/** Throws Failed if the records cannot be found. */
export function* csvForm(sample: CsvSample, settings: OpenSettings): Sliced<CsvForm> {
  const { bytes, isWhole } = sample;
  const { input } = settings;
  const known = knownForm(sample, settings);
  if (input.format === 'lines') {
    const row = known.headerRow ?? (input.csv.headerRows === null ? 'none' : 0);
    const headerRow = row === 'none' ? null : row;
    return { delimiter: null, quote: '', oneColumn: true, headerRow, escapes: null, table: bytes, doubt: null };
  }
  const dashes = known.delimiter === null ? lineOfDashes(bytes) : 0;
  if (dashes !== 0) throw drawnTable(dashes);
  const found = yield* unescapedForm(sample, known, settings);
  const escapes = input.csv.escape === '' ? null : escapesIn(sample, found.form, known, settings);
  if (escapes === null) return formOf(found.form, null, bytes, found.doubt);
  const table = unescaped(bytes, isWhole, escapes);
  const quote = quoteBehindEscapes(escapes);
  const form = yield* detectForm(table, isWhole, { ...known, delimiter: escapes.delimiter, quote }, settings);
  return formOf(form, escapes, table, null);
}

/**
 * The fields are copied one by one. V8 copies objects of different shapes with `...` many times slower, which slows
 * down each small file.
 */
function formOf(found: DetectedForm, escapes: EscapeForm | null, table: Uint8Array, doubt: Failed | null): CsvForm {
  const form: Readonly<Record<keyof CsvForm, unknown>> & CsvForm = {
    delimiter: found.delimiter,
    quote: found.quote,
    spaced: found.spaced,
    oneColumn: found.oneColumn,
    isDoubtful: found.isDoubtful,
    headerRow: found.headerRow,
    headerLines: found.headerLines,
    nameless: found.nameless,
    escapes,
    table,
    doubt,
  };
  return form;
}

/** Number of fields of the widest record in the sample. Empty fields at the end count only in the first record. */
export function widestRecord({ table, ...form }: CsvForm, isWhole: boolean, settings: OpenSettings): number {
  if (form.oneColumn === true || form.delimiter === null) return 1;
  const { delimiter, quote, spaced } = form;
  const sample = samplesOf(table, isWhole, settings).of({ delimiter, quote, spaced });
  let widest = 0;
  for (let record = 0; sample.has(record); record++) widest = Math.max(widest, sample.filledWidth(record));
  return widest;
}

function knownForm({ bytes, isWhole, separator, ending }: CsvSample, settings: OpenSettings): KnownForm {
  const { overrides, input, expected } = settings;
  const { quote, headerRow: declared } = input.csv;
  const given = overrides.headerRow ?? declared;
  // If a request or Template names the first record, it means the first record of the table.
  const headerRow = typeof given === 'number' && separator !== null ? Math.max(0, given - 1) : given;
  const delimiter = overrides.delimiter ?? input.csv.delimiter ?? separator?.delimiter ?? null;
  const known = { delimiter, quote, headerRow, expected };
  if (delimiter !== null || input.format === 'lines' || !TAB_ENDINGS.has(ending)) return known;
  const isTabbed = holdTabs(samplesOf(bytes, isWhole, settings).of({ delimiter: '\t', quote: quote ?? '"' }));
  return isTabbed ? { ...known, delimiter: '\t', isGuessed: true } : known;
}

/** True if at least half of the records contain a tab. */
function holdTabs({ rowsByWidth }: Sample): boolean {
  let [records, cut] = [0, 0];
  for (const [width, rows] of rowsByWidth) {
    records += rows;
    if (width > 1) cut += rows;
  }
  return cut > 0 && cut >= records * TAB_SHARE_MIN;
}

/** Detects the form of a file without escapes. Also detects delimiters of several characters. */
function* unescapedForm(
  { bytes, isWhole }: CsvSample,
  known: KnownForm,
  settings: OpenSettings,
): Sliced<{ readonly form: DetectedForm; readonly doubt: Failed | null }> {
  const form = yield* detectForm(bytes, isWhole, known, settings);
  const doubt = form.isDoubtful === true ? malformed('headerDelimiter', 0) : null;
  if (known.delimiter !== null) return { form, doubt };
  const long = longDelimiter(new Samples(bytes, isWhole, null), dialectOf(form));
  if (long === null) return { form, doubt };
  if (!long.isSure) return { form, doubt: unsureDelimiter(long.delimiter) };
  const declared = { ...known, delimiter: long.delimiter };
  return { form: yield* detectForm(bytes, isWhole, declared, settings), doubt: null };
}

/** Escapes that the Template declares or that the file shows. */
function escapesIn(
  { bytes, isWhole }: CsvSample,
  found: DetectedForm,
  known: KnownForm,
  { input: { csv, nullValues } }: OpenSettings,
): EscapeForm | null {
  const declared = { delimiter: known.isGuessed === true ? null : known.delimiter, quote: known.quote };
  const keepsNull = !nullValues.includes('');
  const dialect = dialectOf(found);
  const shown = escapesOf(new Samples(bytes, isWhole, null), dialect, declared);
  if (shown !== null) return { ...shown, keepsNull };
  if (csv.escape === null) return null;
  return { delimiter: dialect.delimiter || ',', quote: known.quote ?? dialect.quote, keepsNull };
}

function dialectOf({ delimiter, quote, oneColumn, spaced }: DetectedForm): Dialect {
  return { delimiter: oneColumn === true ? '' : delimiter!, quote, spaced };
}

function samplesOf(bytes: Uint8Array, isWhole: boolean, settings: OpenSettings): Samples {
  return new Samples(bytes, isWhole, new SampleScanner(bytes, isWhole, settings));
}

/**
 * Returns 0x1E if it ends the first record instead of a line break; otherwise null. Throws Failed for a JSON text
 * sequence, in which it begins each text.
 * @param text first part of a file
 */
export function foundSeparator(text: Uint8Array, isWhole: boolean): string | null {
  const first = text.indexOf(RECORD_SEPARATOR);
  if (first < 0) return null;
  if (first === 0) throw new Failed('MALFORMED_FILE', TEXT_SEQUENCE);
  const record = text.subarray(0, first);
  const isLast = first + 1 === text.length && !isWhole;
  return record.includes(LF) || record.includes(CR) || isLast ? null : '\u001e';
}
