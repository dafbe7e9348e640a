// From the bytes of a CSV to a reader of its rows: encoding, dialect, header row, lane.
import type { Pauses } from '../../run/slice-clock.ts';
import type { Sliced } from '../../run/time-slices.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import { type DetectedForm, detectForm } from '../detect/detect-form.ts';
import { explainForm } from '../detect/explain-form.ts';
import { textSource } from '../encoding/text-source.ts';
import { guessed } from '../encoding/undecodable.ts';
import type { FileStart } from '../file-start.ts';
import { readFooter } from '../footer.ts';
import type { OpenSettings } from '../format.ts';
import { preambleSearch, valuesOfFirstRows } from '../preamble.ts';
import type { RowReader } from '../reader.ts';
import type { ByteSource } from '../source/source.ts';
import { UncommentedSource, uncommented } from '../source/uncommented-source.ts';
import { UnspacedSource } from '../source/unspaced-source.ts';
import { type CsvReaderParts, goOnAtOnce, isDelimiterDeclared, isFastDialect } from './csv-input.ts';
import { openCsvReader } from './csv-reader.ts';
import { malformed, WIDE_ROWS_MIN } from './malformed.ts';
import { openPlainReader } from './plain-reader.ts';
import { type SeparatorLine, separatorLine } from './separator-line.ts';

/** @param raw the bytes from the first one on. Throws Failed. */
export function* openCsv(raw: ByteSource, start: FileStart, settings: OpenSettings): Coroutine<RowReader> {
  const { csv } = settings.input;
  const encoding = start.encoding(csv.encoding);
  if (encoding.isGuess === true) settings.onDoubt?.(guessed(encoding.name));
  const text = start.text(csv.encoding);
  const sample = csv.comment === null ? text : uncommented(text, csv.comment);
  const giveWay = settings.giveWay ?? goOnAtOnce;
  const separator = settings.input.format === 'lines' ? null : separatorLine(sample);
  const table = separator === null ? sample : sample.subarray(separator.bytes);
  const form = declaredHeader(
    yield* inSlices(formOf(table, separator, start.isWhole, settings), settings.clock, giveWay),
    settings,
  );
  if (form.isDoubtful === true) {
    const failed = malformed('headerDelimiter', 0);
    if (settings.onDoubt === undefined) throw failed;
    settings.onDoubt(failed);
  }
  settings.onExplained?.(explainForm(table, start.isWhole, form));
  const { quote, headerLines, nameless } = form;
  const delimiter = form.oneColumn === true ? '' : form.delimiter!;
  // Records are counted from the first one of the file.
  const headerRow = form.headerRow === null || separator === null ? form.headerRow : form.headerRow + 1;
  const footer =
    settings.input.footer.length === 0 ? null : yield* readFooter({ delimiter, quote, encoding }, settings);
  const preamble = settings.input.preamble.length > 0 ? preambleSearch(text, settings.input) : undefined;
  // Without a header nothing stands above it: the first rows are looked at.
  const first =
    headerRow === null && preamble !== undefined
      ? valuesOfFirstRows(preamble, sample, start.isWhole, { delimiter, quote })
      : null;
  let source = textSource(footer?.source ?? raw, encoding, settings);
  let comments: UncommentedSource | undefined;
  if (csv.comment !== null) {
    comments = new UncommentedSource(source, { mark: csv.comment, delimiter, quote, spaced: form.spaced === true });
    source = comments;
  }
  if (form.spaced === true) source = new UnspacedSource(source, { delimiter, quote });
  const parts: CsvReaderParts = {
    heap: settings.arena.heap,
    arena: settings.arena,
    kernel: settings.kernel,
    source,
    dialect: { delimiter, quote, headerRow, headerLines, nameless, hasSeparatorLine: separator !== null },
    found: foundOf(form, comments !== undefined),
    comments,
    wideRowsMin: isDelimiterDeclared(settings) ? Number.POSITIVE_INFINITY : WIDE_ROWS_MIN,
    nullValues: settings.input.nullValues,
    ragged: csv.ragged,
    strayQuotes: csv.strayQuotes,
    type: form.delimiter === '\t' ? 'tsv' : 'csv',
    encoding: encoding.name,
    preamble: first === null ? preamble : undefined,
    meta: footer === null && first === null ? undefined : { ...first, ...footer?.values },
    largeRow: settings.largeRow,
    readAhead: settings.readAhead,
    giveWay,
    onDoubt: settings.onDoubt,
  };
  return yield* isFastDialect(parts.dialect) ? openCsvReader(parts) : openPlainReader(parts);
}

/** How the file is read, where the Template and the request do not say all. */
function formOf(
  sample: Uint8Array,
  separator: SeparatorLine | null,
  isWhole: boolean,
  settings: OpenSettings,
): Sliced<DetectedForm> {
  const { overrides, input, expected } = settings;
  const { quote, headerRow: declared } = input.csv;
  const given = overrides.headerRow ?? declared;
  // Who names the first record means the first one of the table.
  const headerRow = typeof given === 'number' && separator !== null ? Math.max(0, given - 1) : given;
  const delimiter = input.csv.delimiter ?? separator?.delimiter ?? null;
  if (input.format === 'lines') {
    return linesForm(headerRow ?? (input.csv.headerRows === null ? 'none' : 0));
  }
  const known = { delimiter: overrides.delimiter ?? delimiter, quote, headerRow, expected };
  return detectForm(sample, isWhole, known, settings);
}

// biome-ignore lint/correctness/useYield: there is nothing to detect
function* linesForm(row: number | 'none'): Sliced<DetectedForm> {
  return { delimiter: null, quote: '', oneColumn: true, headerRow: row === 'none' ? null : row };
}

/** With as many lines of the header as the Template says. */
function declaredHeader(form: DetectedForm, { overrides, input }: OpenSettings): DetectedForm {
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

/** What is not in the dialect; most files have nothing of it. */
function foundOf(form: DetectedForm, hasComments: boolean): CsvReaderParts['found'] {
  const { delimiter, spaced, oneColumn, headerLines } = form;
  const isOwn = delimiter !== null && spaced === undefined && oneColumn === undefined && headerLines === undefined;
  if (isOwn && !hasComments) return undefined;
  return {
    delimiter,
    ...(spaced && { quotesAfterSpace: spaced }),
    ...(oneColumn && { oneColumn }),
    ...(headerLines !== undefined && { headerLines }),
    ...(hasComments && { hasComments: true as const }),
  };
}
