// Reads values around a table that the readers do not pass: those below it (input.footer), and those above it
// (input.preamble) that are not in records above a header.
import { TextDecoder } from 'node:util';
import type { Coroutine } from '../scheduling/coroutine.ts';
import { META_RECORDS_MAX } from '../template/section-schemas.ts';
import type { TemplateInput } from '../template/template.ts';
import { sampleText } from './detect/detect-form.ts';
import type { Dialect } from './detect/sample.ts';
import { TextSample } from './detect/text-sample.ts';
import type { Encoding } from './encoding/encoding.ts';
import { withoutEndMarks } from './end-mark.ts';
import { utf8Of } from './file-start.ts';
import type { OpenSettings } from './format.ts';
import { MetaSearch } from './meta-values.ts';
import type { MetaValues } from './reader.ts';
import { ForwardSource } from './source/forward-source.ts';
import type { ByteSource, WholeSource } from './source/source.ts';
import { leadingComments } from './source/uncommented-source.ts';

// Values below a table. They are in the last records of the file, so the whole file must have arrived; they are read
// before the first row.

/** Bytes examined at the end of the file: some hundreds of records of usual width. */
const TAIL_BYTES = 65_536;

export interface FooterForm {
  /** '' if the whole line is one field. */
  readonly delimiter: string;
  readonly quote: string;
  readonly encoding: Encoding;
}

export interface Footer {
  readonly values: MetaValues;
  /** Starts at the first byte of the file and replaces the previous source. */
  readonly source: ByteSource;
}

/** Waits for the end of the file. Returns null if the Template has no footer values. Throws Failed, Cancelled. */
export function* readFooter(form: FooterForm, settings: OpenSettings): Coroutine<Footer | null> {
  const { input, whole } = settings;
  if (input.footer.length === 0) return null;
  if (whole === undefined) throw new Error('a footer was requested for a file that cannot be read as a whole');
  const file = yield* whole();
  return { values: footerOf(tailOf(file, form), form, input), source: new OwnedSource(file) };
}

function footerOf(
  text: string,
  { delimiter, quote }: FooterForm,
  { footer, nullValues, csv: { comment } }: TemplateInput,
): MetaValues {
  const search = new MetaSearch(footer, nullValues);
  const lines = text.split(/\r\n|[\r\n]/).slice(-META_RECORDS_MAX);
  let record = 0;
  // The lines are searched from the last one upwards. Cells that contain line breaks are not supported in a footer.
  for (const line of lines.reverse()) {
    if (line === '' || (comment !== null && line.startsWith(comment))) continue;
    if (!search.wants(record)) break;
    const [texts] = new TextSample(line, { delimiter, quote }, true).first(1);
    search.take(record++, texts ?? [], delimiter);
  }
  return search.values;
}

/** Returns the end of the file as text, starting at the beginning of a line. */
function tailOf(file: WholeSource, { encoding }: FooterForm): string {
  // The offset must be even for encodings with two bytes per character.
  const from = Math.max(encoding.markBytes, (file.sizeBytes - TAIL_BYTES) & ~1);
  const bytes = new Uint8Array(Math.max(0, file.sizeBytes - from));
  const tail = bytes.subarray(0, file.readAt(bytes, from));
  const utf8 = utf8Of(tail, { name: encoding.name, markBytes: 0 });
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    utf8.subarray(0, withoutEndMarks(utf8, 0, utf8.length)),
  );
  return from === encoding.markBytes ? text : text.slice(text.search(/[\r\n]|$/));
}

/** Reads a whole file forwards and closes it. A ForwardSource leaves closing to the owner of the file. */
class OwnedSource extends ForwardSource {
  readonly #file: WholeSource;

  constructor(file: WholeSource) {
    super(file);
    this.#file = file;
  }

  override close(): void {
    this.#file.close();
  }
}

// Values above a table (input.preamble) that are not in records above a header: comments at the beginning of the file,
// and the first rows of a file without a header, where nothing shows where the table begins.

/** @param text first part of the file as UTF-8, including comments */
export function preambleSearch(text: Uint8Array, { preamble, nullValues, csv }: TemplateInput): MetaSearch {
  const search = new MetaSearch(preamble, nullValues);
  if (csv.comment !== null && preamble.length > 0) search.takeComments(leadingComments(text, csv.comment));
  return search;
}

/**
 * For a file without a header, whose first records are also rows.
 * @param sample first part of the file as UTF-8, without comments
 * @param isWhole whether the sample is the whole file. Otherwise its last record may be cut off and is left out.
 */
export function valuesOfFirstRows(
  search: MetaSearch,
  sample: Uint8Array,
  isWhole: boolean,
  dialect: Dialect,
): MetaValues {
  const records = new TextSample(sampleText(sample), dialect, isWhole);
  for (let record = 0; record < META_RECORDS_MAX && search.wants(record) && records.has(record); record++)
    search.take(record, records.at(record), dialect.delimiter);
  return search.values;
}
