// Reads what precedes the data rows, for both CSV readers: skips the records above the header and reads the header, or
// finds the number of columns of a file without a header.
import type { Coroutine } from '../../scheduling/coroutine.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import { joinHeaderLines } from '../detect/header-lines.ts';
import type { MetaSearch } from '../meta-values.ts';
import { type CsvDialect, type CsvReaderParts, malformed } from './csv-input.ts';

/** Records above the header between two yields of the thread: half a millisecond of work. */
const SLICE_RECORDS = 2048;

/** The next record of a file whose columns are not yet known. */
export interface LeadingRecord {
  readonly fields: number;
  /** True if the record is a blank line. */
  readonly blank: boolean;
  readonly line: number;
  /**
   * Returns the cleaned texts, and the line of the first field with text after its closing quote (0 if there is no such
   * field).
   */
  read(): { readonly texts: readonly string[]; readonly strayLine: number };
  /** Returns the line of a quoted field that spans line breaks and has text after its closing quote, or 0. */
  swallowedLine(): number;
}

export interface LeadingRecords {
  /** Returns the next record without consuming it. Throws Failed. */
  peek(): LeadingRecord | 'wait' | 'end';
  wait(): Promise<void>;
  skip(): void;
}

export interface CsvHeader {
  /** One text per column, '' for a column without a header. */
  readonly texts: readonly string[];
  /** Number of blank records before the first data row. They are rows if the file has one column. */
  readonly blankRecords: number;
}

export interface HeaderRules {
  readonly strayFails: boolean;
  /** Receives the records above the header. */
  readonly preamble: MetaSearch | undefined;
  readonly delimiter: string;
}

/** Rules for reading the header, for both readers. */
export function headerRules({ dialect, strayQuotes, preamble }: CsvReaderParts): HeaderRules {
  return { strayFails: strayQuotes === 'fail', preamble, delimiter: dialect.delimiter };
}

/**
 * Waits for bytes.
 * @param giveWay yields the thread: blank lines and records above a header can fill the whole file
 */
export function* readHeader(
  records: LeadingRecords,
  dialect: CsvDialect,
  { strayFails, preamble, delimiter }: HeaderRules,
  giveWay: () => Promise<void>,
): Coroutine<CsvHeader> {
  const { headerRow, headerLines = 1, nameless, hasSeparatorLine = false } = dialect;
  const lines: (readonly string[])[] = [];
  let skipped = 0;
  let allBlank = true;
  let isLeftOut = headerRow === null && hasSeparatorLine;
  for (;;) {
    const record = records.peek();
    if (record === 'wait') {
      yield records.wait();
      continue;
    }
    if (record === 'end') throw malformed(allBlank ? 'empty' : 'header', 0);
    if (isLeftOut) {
      records.skip();
      isLeftOut = false;
      continue;
    }
    allBlank &&= record.blank;
    const swallowed = record.swallowedLine();
    if (swallowed !== 0) throw malformed('swallowed', swallowed);
    if (headerRow === null ? !record.blank : skipped + headerLines > headerRow) {
      if (record.fields > COLUMNS_MAX) throw malformed('columns', record.line);
      if (headerRow === null) return { texts: blankTexts(dialect, record.fields), blankRecords: skipped };
      lines.push(headerTexts(records, record, strayFails));
      if (skipped === headerRow) return { texts: columnTexts(lines, nameless), blankRecords: 0 };
    } else {
      if (headerRow !== null && preamble?.wants(skipped) === true)
        preamble.take(skipped, record.read().texts, delimiter);
      records.skip();
    }
    skipped++;
    if (skipped % SLICE_RECORDS === 0) yield giveWay();
  }
}

/** @param fields number of fields of the first record */
function blankTexts({ columns = 0, areColumnsDeclared }: CsvDialect, fields: number): readonly string[] {
  return new Array<string>(areColumnsDeclared === true ? columns : Math.max(fields, columns)).fill('');
}

function headerTexts(records: LeadingRecords, record: LeadingRecord, strayFails: boolean): readonly string[] {
  if (record.blank) throw malformed('blankHeader', 0);
  const { texts, strayLine } = record.read();
  if (strayLine !== 0 && strayFails) throw malformed('stray', strayLine);
  records.skip();
  return texts;
}

function columnTexts(lines: readonly (readonly string[])[], nameless: CsvDialect['nameless']): readonly string[] {
  const texts = lines.length === 1 ? lines[0]! : joinHeaderLines(lines);
  if (nameless === undefined) return texts;
  return nameless === 'first' ? ['', ...texts] : [...texts, ''];
}
