// From the stored bytes of an upload to a reader of its rows: type, compression, encoding, dialect, header row, lane.
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import type { Arena } from '../arena.ts';
import { Failed } from '../failure.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { TaskOverrides } from '../messages.ts';
import type { TemplateInput } from '../template/template.ts';
import type { Waits } from '../waits.ts';
import { type CsvReaderParts, isFastDialect, type LargeRowAccess, noBreath } from './csv/csv-input.ts';
import { openCsvReader } from './csv/csv-reader.ts';
import { openPlainReader } from './csv/plain-reader.ts';
import { DecodingSource } from './decoding-source.ts';
import { detectForm, sampleText } from './detect/detect-form.ts';
import { type Encoding, encodingOf } from './encoding.ts';
import type { ExpectedHeaders } from './expected-headers.ts';
import { contentTypeOf, looksLikeJson, looksLikeMarkup } from './file-type.ts';
import { GunzipSource } from './gunzip-source.ts';
import { lookAhead } from './prefix-source.ts';
import type { ByteSource, RowReader } from './reader.ts';
import type { Scout } from './scout/scout.ts';

/** Bytes looked at before the first row: 500 records of usual width, and what arrives in the first moments of an upload. */
const SAMPLE_BYTES = 65_536;

const SPACE = 0x20;
const DELETE = 0x7f;

/** `[`, `{` and `<`. */
const OTHER_BEGINNINGS = [0x5b, 0x7b, 0x3c];

export interface OpenSettings {
  readonly input: TemplateInput;
  readonly overrides: TaskOverrides;
  /** The headers that the Template looks for; null = none known. */
  readonly expected: ExpectedHeaders | null;
  readonly inflatedBytesMax: number | null;
  readonly arena: Arena;
  readonly kernel: Kernel;
  /** See LargeRowGate. */
  readonly largeRow: LargeRowAccess;
  /** See CsvReaderParts. */
  readonly scout?: Scout;
  readonly breathe?: () => Promise<void>;
}

/** Waits for the first bytes. Throws Failed. */
export function* openRows(stored: ByteSource, settings: OpenSettings): Waits<RowReader> {
  let { head, source } = yield* lookAhead(stored, SAMPLE_BYTES);
  let type = contentTypeOf(head);
  if (type === 'gzip') {
    const inflated = new GunzipSource(source, settings.inflatedBytesMax ?? Number.POSITIVE_INFINITY);
    ({ head, source } = yield* lookAhead(inflated, SAMPLE_BYTES));
    type = contentTypeOf(head);
  }
  if (type !== 'text') {
    const what = type === 'zip' ? 'an XLSX workbook or another ZIP file' : 'compressed twice';
    throw new Failed('UNSUPPORTED_FILE_TYPE', `The file is ${what}; send CSV (also gzip-compressed).`);
  }
  return yield* openText(source, head, settings);
}

function openText(raw: ByteSource, head: Uint8Array, settings: OpenSettings): Waits<RowReader> {
  if (head.length === 0) throw new Failed('MALFORMED_FILE', 'The file is empty.');
  const { csv } = settings.input;
  const encoding = encodingOf(head, csv.encoding);
  const isWhole = head.length < SAMPLE_BYTES;
  const sample = utf8Sample(head, encoding);
  if (!beginsAsTable(sample)) refuseOtherText(sampleText(sample), isWhole);
  let source = raw;
  if (encoding.markBytes > 0) source.read(new Uint8Array(encoding.markBytes));
  if (encoding.name !== 'utf-8') source = new DecodingSource(source, encoding.name);
  const dialect = detectForm(
    sample,
    isWhole,
    {
      delimiter: settings.overrides.delimiter ?? csv.delimiter,
      quote: csv.quote,
      headerRow: settings.overrides.headerRow ?? csv.headerRow,
      expected: settings.expected,
    },
    settings,
  );
  const parts: CsvReaderParts = {
    heap: settings.arena.heap,
    arena: settings.arena,
    kernel: settings.kernel,
    source,
    dialect,
    nullValues: settings.input.nullValues,
    ragged: csv.ragged,
    strayQuotes: csv.strayQuotes,
    type: dialect.delimiter === '\t' ? 'tsv' : 'csv',
    encoding: encoding.name,
    largeRow: settings.largeRow,
    scout: settings.scout,
    breathe: settings.breathe ?? noBreath,
  };
  return isFastDialect(parts.dialect) ? openCsvReader(parts) : openPlainReader(parts);
}

/** The first part of the file as UTF-8, whatever its encoding. */
function utf8Sample(head: Uint8Array, { name, markBytes }: Encoding): Uint8Array {
  const bytes = markBytes === 0 ? head : head.subarray(markBytes);
  // A decoder is made in C++, which takes as long as all it does for a small file.
  if (name === 'utf-8' && isUtf8(bytes)) return bytes;
  return Buffer.from(new TextDecoder(name, { ignoreBOM: true }).decode(bytes, { stream: true }));
}

/** True for a text whose first character alone shows that it is neither blank nor JSON nor markup, as most do. */
function beginsAsTable(text: Uint8Array): boolean {
  const first = text[0];
  return first !== undefined && first > SPACE && first < DELETE && !OTHER_BEGINNINGS.includes(first);
}

function refuseOtherText(text: string, whole: boolean): void {
  if (looksLikeJson(text)) {
    throw new Failed('UNSUPPORTED_FILE_TYPE', 'The file is JSON, which this version does not read yet; send CSV.');
  }
  if (looksLikeMarkup(text)) throw new Failed('UNSUPPORTED_FILE_TYPE', 'The file is HTML or XML; send CSV.');
  if (whole && text.trim() === '') throw new Failed('MALFORMED_FILE', 'The file has only blank lines.');
}
