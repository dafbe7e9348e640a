// What both CSV lanes are given: where the bytes come from, how they are to be read, and what the Template says of them.
import type { Arena } from '../../arena.ts';
import type { Heap } from '../../heap.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import type { CsvInput } from '../../template/template.ts';
import type { ByteSource } from '../reader.ts';
import type { Scout } from '../scout/scout.ts';

export interface CsvDialect {
  /** One character; the fast lane takes one ASCII character. */
  readonly delimiter: string;
  /** One character, or '' for none; the fast lane takes one ASCII character. */
  readonly quote: string;
  /** 0-based record of the header (blank ones count), null when the file has none. Records above it are skipped. */
  readonly headerRow: number | null;
}

/** Lets a Run read a row that does not fit its window (see LargeRowGate). */
export interface LargeRowAccess {
  acquire(heap: Heap, regionBytes: number): Promise<void>;
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
  /** Header texts where they are known, and the source begins with the first data row; else they are read. */
  readonly headers?: readonly string[];
  /** Reads ahead where the source is a large file. */
  readonly scout?: Scout;
  /** Called now and then while what stands above the header is read; nothing by default. */
  readonly breathe?: () => Promise<void>;
  /** Bytes read at a time; results do not depend on it. WINDOW_BYTES unless a test says otherwise. */
  readonly windowBytes?: number;
}

export async function noBreath(): Promise<void> {}

/** True when the SIMD kernels read this dialect; else it is the plain lane's. */
export function isFastDialect(dialect: CsvDialect): boolean {
  return isAscii(dialect.delimiter) && (dialect.quote === '' || isAscii(dialect.quote));
}

function isAscii(character: string): boolean {
  return character.length === 1 && character.charCodeAt(0) < 0x80;
}
