// What the detectors make of the first part of a CSV: how it is to be read, where nothing was told.
import { isAscii } from 'node:buffer';
import type { ExpectedHeaders } from '../expected-headers.ts';
import { detectDialect } from './dialect.ts';
import type { ScanTools } from './even-cut.ts';
import { detectHeaderRow } from './header-row.ts';
import { plainForm } from './plain-form.ts';
import { type Dialect, splitSample } from './sample.ts';

/** What the request or the Template has already fixed. */
export interface KnownForm {
  readonly delimiter: string | null;
  readonly quote: string | null;
  /** 0-based record. */
  readonly headerRow: number | 'none' | null;
  /** The headers that the Template looks for; null = none known. */
  readonly expected: ExpectedHeaders | null;
}

const QUOTE = '"';

export interface DetectedForm extends Dialect {
  /** 0-based record, null when the file has no header. */
  readonly headerRow: number | null;
}

/**
 * @param bytes the first part of the file, valid UTF-8 without a byte order mark
 * @param ended true when it is the whole file
 */
export function detectForm(bytes: Uint8Array, ended: boolean, known: KnownForm, tools: ScanTools): DetectedForm {
  const expected = known.headerRow === null ? known.expected : null;
  const isOpen = known.delimiter === null && known.quote === null;
  const plain = isOpen ? plainForm(bytes, ended, expected, tools) : null;
  const headerRow = known.headerRow ?? plain?.headerRow ?? null;
  if (plain !== null && headerRow !== null)
    return { delimiter: plain.delimiter, quote: QUOTE, headerRow: rowOf(headerRow) };
  const text = sampleText(bytes);
  const { delimiter, quote } = plain === null ? detectDialect(text, ended, known) : { ...plain, quote: QUOTE };
  if (headerRow !== null) return { delimiter, quote, headerRow: rowOf(headerRow) };
  const isExpected = expected === null ? null : (cell: string) => expected.has(cell);
  const records = (most: number) => splitSample(text, { delimiter, quote }, ended, most).records;
  return { delimiter, quote, headerRow: detectHeaderRow(records, isExpected) };
}

function rowOf(headerRow: number | 'none'): number | null {
  return headerRow === 'none' ? null : headerRow;
}

/** The text of the first part of a file. */
export function sampleText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString(isAscii(buffer) ? 'latin1' : 'utf8');
}
