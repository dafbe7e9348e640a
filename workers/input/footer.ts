// The values below a table (input.footer): the last records of a file that is whole, looked at before its first.
import { TextDecoder } from 'node:util';
import { META_RECORDS_MAX } from '../template/section-schemas.ts';
import type { TemplateInput } from '../template/template.ts';
import type { Coroutine } from '../thread/coroutine.ts';
import { TextSample } from './detect/text-sample.ts';
import type { Encoding } from './encoding/encoding.ts';
import { withoutEndMarks } from './end-mark.ts';
import { utf8Of } from './file-start.ts';
import type { OpenSettings } from './format.ts';
import { MetaSearch } from './meta-values.ts';
import type { MetaValues } from './reader.ts';
import { ForwardSource } from './source/forward-source.ts';
import type { ByteSource, WholeSource } from './source/source.ts';

/** Bytes looked at, of the file's end: some hundreds of records of usual width. */
const TAIL_BYTES = 65_536;

export interface FooterForm {
  /** '' where a line is one field. */
  readonly delimiter: string;
  readonly quote: string;
  readonly encoding: Encoding;
}

export interface Footer {
  readonly values: MetaValues;
  /** From the file's first byte on, in the place of the source before. */
  readonly source: ByteSource;
}

/** Waits for the end of the file. Null: the Template looks for nothing there. Throws Failed, Cancelled. */
export function* readFooter(form: FooterForm, settings: OpenSettings): Coroutine<Footer | null> {
  const { input, whole } = settings;
  if (input.footer.length === 0) return null;
  if (whole === undefined) throw new Error('a file whose end is looked at is read where none can be whole');
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
  // From the last line upwards; a cell of several lines is none of a footer.
  for (const line of lines.reverse()) {
    if (line === '' || (comment !== null && line.startsWith(comment))) continue;
    if (!search.wants(record)) break;
    const [texts] = new TextSample(line, { delimiter, quote }, true).first(1);
    search.take(record++, texts ?? [], delimiter);
  }
  return search.values;
}

/** The end of the file as a text, from the beginning of a line on. */
function tailOf(file: WholeSource, { encoding }: FooterForm): string {
  // An even place, for encodings of two bytes.
  const from = Math.max(encoding.markBytes, (file.sizeBytes - TAIL_BYTES) & ~1);
  const bytes = new Uint8Array(Math.max(0, file.sizeBytes - from));
  const tail = bytes.subarray(0, file.readAt(bytes, from));
  const utf8 = utf8Of(tail, { name: encoding.name, markBytes: 0 });
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    utf8.subarray(0, withoutEndMarks(utf8, 0, utf8.length)),
  );
  return from === encoding.markBytes ? text : text.slice(text.search(/[\r\n]|$/));
}

/** A whole file read forwards, which nobody else closes. */
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
