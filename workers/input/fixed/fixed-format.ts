// The fixed-width format: lines with columns at known positions, as written by mainframes and banks. It cannot be
// detected from the content, so the Template must declare it (input.fixed). The reader is loaded on first use.
import { Failed } from '../../protocol/failure.ts';
import { awaited } from '../../scheduling/coroutine.ts';
import { sampleText } from '../detect/detect-form.ts';
import { refuseUnmarkedUtf16 } from '../encoding/encoding.ts';
import { textSource } from '../encoding/text-source.ts';
import { certain } from '../explanation.ts';
import type { StreamedFormat } from '../format.ts';
import { unreadableTypeOf } from '../refusal.ts';
import { NulFreeSource, RecordLengthSource } from '../source/converted-source.ts';
import { UncommentedSource, uncommented } from '../source/uncommented-source.ts';
import { preambleSearch, readFooter, valuesOfFirstRows } from '../values-around.ts';

/** Name of the format, and its type in the report. */
export const FIXED = 'fixed';

export const fixedFormat: StreamedFormat = {
  name: FIXED,
  endings: [],
  needsWholeFile: false,
  splittable: null,

  /** Accepts any text if the Template declares the format. */
  detect(start, input) {
    if (input.fixed === null || unreadableTypeOf(start, input) !== null) return null;
    const isBlank = start.isWhole && sampleText(start.text(input.csv.encoding)).trim() === '';
    const problem = isBlank ? new Failed('MALFORMED_FILE', 'The file has only blank lines.') : null;
    return { sureness: 'signature', problem };
  },

  *open(source, start, settings) {
    const { openFixedReader } = yield* awaited(import('./fixed-reader.ts'));
    const { csv, fixed, nullValues } = settings.input;
    const encoding = start.encoding(csv.encoding);
    refuseUnmarkedUtf16(start, csv.encoding, csv.nulBytes === 'drop');
    const header = settings.overrides.headerRow ?? csv.headerRow;
    settings.onExplained?.({ headerRow: certain('the Template says where the columns are') });
    const footer = yield* readFooter({ delimiter: '', quote: '', encoding }, settings);
    const decoded = textSource(footer?.source ?? source, encoding, settings);
    const nul = csv.nulBytes === 'drop' ? new NulFreeSource(decoded) : undefined;
    const { columns, recordLength } = fixed!;
    const text = recordLength === null ? (nul ?? decoded) : new RecordLengthSource(nul ?? decoded, recordLength);
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
      nul,
      encoding: encoding.name,
      encodingGuess: encoding.guessedBy,
      columns,
      hasLineEnds: recordLength === null,
      headerRow,
      nullValues,
      ragged: csv.ragged,
      largeRow: settings.largeRow,
      preamble,
      values: { ...above, ...footer?.values },
    });
  },
};
