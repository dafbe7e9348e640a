// What both CSV lanes are given: where the bytes come from, how they are to be read, and what the Template says of them.
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import type { LargeRowAccess } from '../../memory/large-row.ts';
import type { Failed } from '../../protocol/failure.ts';
import type { CsvInput } from '../../template/template.ts';
import type { OpenSettings } from '../format.ts';
import type { MetaSearch } from '../meta-values.ts';
import type { ReadAheadThread } from '../read-ahead/read-ahead-thread.ts';
import type { FileHead, MetaValues } from '../reader.ts';
import type { ByteSource } from '../source/source.ts';

/** Name of the format. */
export const CSV = 'csv';

export interface CsvDialect {
  /** One character, or '' for none: the file has one column; the fast lane takes one ASCII character. */
  readonly delimiter: string;
  /** One character, or '' for none; the fast lane takes one ASCII character. */
  readonly quote: string;
  /** 0-based record of the header (blank ones count), null when the file has none. Records above it are skipped. */
  readonly headerRow: number | null;
  /** Lines of the header, of which `headerRow` is the last; one unless given. */
  readonly headerLines?: number;
  /** The first record is one for Excel (separator-line.ts). Of a file with a header it is one of those above it. */
  readonly hasSeparatorLine?: boolean;
  /** Rows have one field more than the header: which column lacks a name. */
  readonly nameless?: 'first' | 'last';
}

export interface CsvReaderParts {
  readonly heap: Heap;
  readonly arena: Arena;
  readonly kernel: Kernel;
  /** UTF-8. */
  readonly source: ByteSource;
  readonly dialect: CsvDialect;
  readonly nullValues: readonly string[];
  readonly ragged: CsvInput['ragged'];
  readonly strayQuotes: CsvInput['strayQuotes'];
  /** For the FileHead: csv or tsv, and the encoding before it was decoded. */
  readonly type: string;
  readonly encoding: string;
  readonly largeRow: LargeRowAccess;
  /** For the FileHead, beside the dialect. */
  readonly found?: Pick<FileHead, 'delimiter' | 'quotesAfterSpace' | 'hasComments' | 'oneColumn' | 'headerLines'>;
  /** Counts the lines that are left out. */
  readonly comments?: { readonly lines: number } | undefined;
  /**
   * Where nobody has declared the delimiter: so many rows with filled fields beyond the header's fail the file when most
   * rows are such. Without it they are counted.
   */
  readonly wideRowsMin?: number;
  /** Gets such a failure in place of a throw, and the file is read as it was detected. */
  readonly onDoubt?: (failed: Failed) => void;
  /** Is shown the records above the header. */
  readonly preamble?: MetaSearch;
  /** Values below the table, and, where the header is known, those above it. */
  readonly meta?: MetaValues;
  /** Header texts where they are known, and the source begins with the first data row; else they are read. */
  readonly headers?: readonly string[];
  /** Reads ahead where the source is a large file. */
  readonly readAhead?: ReadAheadThread;
  /** Called now and then while what stands above the header is read; nothing by default. */
  readonly giveWay?: () => Promise<void>;
  /** Bytes read at a time; results do not depend on it. WINDOW_BYTES unless a test says otherwise. */
  readonly windowBytes?: number;
}

export async function goOnAtOnce(): Promise<void> {}

/** What both lanes tell of the file. */
export function headOf(parts: CsvReaderParts, headers: readonly string[]): FileHead {
  const { type, encoding, dialect, found, preamble, meta } = parts;
  const quote = dialect.quote === '' ? null : dialect.quote;
  const { delimiter, headerRow } = dialect;
  const head: FileHead = { format: CSV, type, encoding, delimiter, quote, headerRow, headers };
  if (found === undefined && preamble === undefined && meta === undefined) return head;
  return { ...head, ...found, ...metaOf(preamble, meta) };
}

function metaOf(preamble: MetaSearch | undefined, meta: MetaValues | undefined): Pick<FileHead, 'meta'> {
  return preamble === undefined && meta === undefined ? {} : { meta: { ...preamble?.values, ...meta } };
}

/** True when the SIMD kernels read this dialect; else it is the plain lane's. */
export function isFastDialect(dialect: CsvDialect): boolean {
  return isFast(dialect.delimiter) && isFast(dialect.quote);
}

function isFast(character: string): boolean {
  return character === '' || isAscii(character);
}

/** By the request or the Template: it is obeyed then, whatever the rows. */
export function isDelimiterDeclared({ overrides, input }: Pick<OpenSettings, 'overrides' | 'input'>): boolean {
  return (overrides.delimiter ?? input.csv.delimiter) !== null;
}

function isAscii(character: string): boolean {
  return character.length === 1 && character.charCodeAt(0) < 0x80;
}
