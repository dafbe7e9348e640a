// From the bytes of a CSV to a reader of its rows: encoding, dialect, header row, lane.
import type { Pauses } from '../../run/slice-clock.ts';
import type { Sliced } from '../../run/time-slices.ts';
import type { TemplateInput } from '../../template/template.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import { type DetectedForm, detectForm, sampleText } from '../detect/detect-form.ts';
import { explainForm } from '../detect/explain-form.ts';
import { textSource } from '../encoding/text-source.ts';
import { guessed } from '../encoding/undecodable.ts';
import type { FileStart } from '../file-start.ts';
import { readFooter } from '../footer.ts';
import type { OpenSettings } from '../format.ts';
import { MetaSearch } from '../meta-values.ts';
import type { RowReader } from '../reader.ts';
import type { ByteSource } from '../source/source.ts';
import { UncommentedSource, uncommented } from '../source/uncommented-source.ts';
import { UnspacedSource } from '../source/unspaced-source.ts';
import { type CsvReaderParts, goOnAtOnce, isDelimiterDeclared, isFastDialect } from './csv-input.ts';
import { openCsvReader } from './csv-reader.ts';
import { malformed, WIDE_ROWS_MIN } from './malformed.ts';
import { openPlainReader } from './plain-reader.ts';

/** @param raw the bytes from the first one on. Throws Failed. */
export function* openCsv(raw: ByteSource, start: FileStart, settings: OpenSettings): Coroutine<RowReader> {
  const { csv } = settings.input;
  const encoding = start.encoding(csv.encoding);
  if (encoding.isGuess === true) settings.onDoubt?.(guessed(encoding.name));
  const text = start.text(csv.encoding);
  const sample = csv.comment === null ? text : uncommented(text, csv.comment);
  const giveWay = settings.giveWay ?? goOnAtOnce;
  const form = declaredHeader(
    yield* inSlices(formOf(sample, start.isWhole, settings), settings.clock, giveWay),
    settings,
  );
  if (form.isDoubtful === true) {
    const failed = malformed('headerDelimiter', 0);
    if (settings.onDoubt === undefined) throw failed;
    settings.onDoubt(failed);
  }
  settings.onExplained?.(explainForm(sampleText(sample), start.isWhole, form));
  const { quote, headerRow, headerLines, nameless } = form;
  const delimiter = form.oneColumn === true ? '' : form.delimiter!;
  const footer = yield* readFooter({ delimiter, quote, encoding }, settings);
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
    dialect: { delimiter, quote, headerRow, headerLines, nameless },
    found: { ...foundOf(form), ...(comments !== undefined && { hasComments: true as const }) },
    ...(comments !== undefined && { comments }),
    wideRowsMin: isDelimiterDeclared(settings) ? Number.POSITIVE_INFINITY : WIDE_ROWS_MIN,
    nullValues: settings.input.nullValues,
    ragged: csv.ragged,
    strayQuotes: csv.strayQuotes,
    type: form.delimiter === '\t' ? 'tsv' : 'csv',
    encoding: encoding.name,
    ...(settings.input.preamble.length > 0 && { preamble: preambleOf(settings.input) }),
    ...(footer !== null && { meta: footer.values }),
    largeRow: settings.largeRow,
    readAhead: settings.readAhead,
    giveWay,
    onDoubt: settings.onDoubt,
  };
  return yield* isFastDialect(parts.dialect) ? openCsvReader(parts) : openPlainReader(parts);
}

/** How the file is read, where the Template and the request do not say all. */
function* formOf(sample: Uint8Array, isWhole: boolean, settings: OpenSettings): Sliced<DetectedForm> {
  const { overrides, input, expected } = settings;
  const { delimiter, quote, headerRow: declared } = input.csv;
  const headerRow = overrides.headerRow ?? declared;
  if (input.format === 'lines') {
    const row = headerRow ?? (input.csv.headerRows === null ? 'none' : 0);
    return { delimiter: null, quote: '', oneColumn: true, headerRow: row === 'none' ? null : row };
  }
  const known = { delimiter: overrides.delimiter ?? delimiter, quote, headerRow, expected };
  return yield* detectForm(sample, isWhole, known, settings);
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

function preambleOf({ preamble, nullValues }: TemplateInput): MetaSearch {
  return new MetaSearch(preamble, nullValues);
}

function foundOf({ delimiter, spaced, oneColumn, headerLines }: DetectedForm): NonNullable<CsvReaderParts['found']> {
  return {
    delimiter,
    ...(spaced && { quotesAfterSpace: spaced }),
    ...(oneColumn && { oneColumn }),
    ...(headerLines !== undefined && { headerLines }),
  };
}
