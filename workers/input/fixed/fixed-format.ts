// The format of fixed widths: a text whose lines have their columns at known places, as mainframes and banks write them. No
// file shows that it is one: the Template says so (input.fixed). What reads them is loaded when the first one comes.
import { Failed } from '../../protocol/failure.ts';
import { awaited } from '../../thread/coroutine.ts';
import { sampleText } from '../detect/detect-form.ts';
import { textSource } from '../encoding/text-source.ts';
import { certain } from '../explanation.ts';
import { readFooter } from '../footer.ts';
import type { StreamedFormat } from '../format.ts';
import { preambleSearch, valuesOfFirstRows } from '../preamble.ts';
import { refusalOf } from '../refusal.ts';
import { UncommentedSource, uncommented } from '../source/uncommented-source.ts';

/** Name of the format, and type in the report. */
export const FIXED = 'fixed';

export const fixedFormat: StreamedFormat = {
  name: FIXED,
  endings: [],
  needsWholeFile: false,
  splittable: null,

  /** Any text, where the Template says so. */
  detect(start, input) {
    if (input.fixed === null || refusalOf(start, input) !== null) return null;
    const isBlank = start.isWhole && sampleText(start.text(input.csv.encoding)).trim() === '';
    const problem = isBlank ? new Failed('MALFORMED_FILE', 'The file has only blank lines.') : null;
    return { sureness: 'signature', problem };
  },

  *open(source, start, settings) {
    const { openFixedReader } = yield* awaited(import('./fixed-reader.ts'));
    const { csv, fixed, nullValues } = settings.input;
    const encoding = start.encoding(csv.encoding);
    const header = settings.overrides.headerRow ?? csv.headerRow;
    settings.onExplained?.({ headerRow: certain('the Template says where the columns are') });
    const footer = yield* readFooter({ delimiter: '', quote: '', encoding }, settings);
    const text = textSource(footer?.source ?? source, encoding, settings);
    const comments =
      csv.comment === null
        ? undefined
        : new UncommentedSource(text, { mark: csv.comment, delimiter: '', quote: '', spaced: false });
    const headerRow = header === 'none' ? null : header;
    const first = start.text(csv.encoding);
    const sample = csv.comment === null ? first : uncommented(first, csv.comment);
    const preamble = preambleSearch(first, settings.input);
    const above =
      headerRow === null ? valuesOfFirstRows(preamble, sample, start.isWhole, { delimiter: '', quote: '' }) : {};
    return yield* openFixedReader({
      format: FIXED,
      heap: settings.arena.heap,
      arena: settings.arena,
      source: comments ?? text,
      comments,
      encoding: encoding.name,
      columns: fixed!.columns,
      headerRow,
      nullValues,
      ragged: csv.ragged,
      largeRow: settings.largeRow,
      preamble,
      values: { ...above, ...footer?.values },
    });
  },
};
