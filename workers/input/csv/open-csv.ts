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
  const detecting = detectForm(
    start.text(csv.encoding),
    start.isWhole,
    {
      delimiter: settings.overrides.delimiter ?? csv.delimiter,
      quote: csv.quote,
      headerRow: settings.overrides.headerRow ?? csv.headerRow,
      expected: settings.expected,
    },
    settings,
  );
  const giveWay = settings.giveWay ?? goOnAtOnce;
  const form = yield* inSlices(detecting, settings.clock, giveWay);
  if (form.isDoubtful === true) {
    const failed = malformed('headerDelimiter', 0);
    if (settings.onDoubt === undefined) throw failed;
    settings.onDoubt(failed);
  }
  settings.onExplained?.(explainForm(sampleText(start.text(csv.encoding)), start.isWhole, form));
  const { quote, headerRow, headerLines, nameless } = form;
  const delimiter = form.oneColumn === true ? '' : form.delimiter!;
  const footer = yield* readFooter({ delimiter, quote, encoding }, settings);
  let source = textSource(footer?.source ?? raw, encoding, settings);
  if (form.spaced === true) source = new UnspacedSource(source, { delimiter, quote });
  const parts: CsvReaderParts = {
    heap: settings.arena.heap,
    arena: settings.arena,
    kernel: settings.kernel,
    source,
    dialect: { delimiter, quote, headerRow, headerLines, nameless },
    found: foundOf(form),
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

function foundOf({ delimiter, spaced, oneColumn, headerLines }: DetectedForm): CsvReaderParts['found'] {
  return {
    delimiter,
    ...(spaced && { quotesAfterSpace: spaced }),
    ...(oneColumn && { oneColumn }),
    ...(headerLines !== undefined && { headerLines }),
  };
}
