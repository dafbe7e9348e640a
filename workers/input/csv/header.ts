// What comes before the data rows, in both lanes: skips the records above the header and reads the header, or finds the
// number of columns of a file without one.
import type { Coroutine } from '../../thread/coroutine.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import { joinHeaderLines } from '../detect/header-lines.ts';
import type { MetaSearch } from '../meta-values.ts';
import type { CsvDialect, CsvReaderParts } from './csv-input.ts';
import { malformed } from './malformed.ts';

/** Records above the header between two time slices of the thread: half a millisecond of work. */
const SLICE_RECORDS = 2048;

/** The next record of a file whose columns are not known yet. */
export interface LeadingRecord {
  readonly fields: number;
  /** Nothing stands in it. */
  readonly blank: boolean;
  readonly line: number;
  /** Clean texts, and the line of the first field with text behind its closing quote (0 = there is none). */
  read(): { readonly texts: readonly string[]; readonly strayLine: number };
}

export interface LeadingRecords {
  /** The next record, which stays. Throws Failed. */
  peek(): LeadingRecord | 'wait' | 'end';
  wait(): Promise<void>;
  skip(): void;
}

export interface CsvHeader {
  /** One per column; '' where there is none. */
  readonly texts: readonly string[];
  /** Blank records before the first data row: rows, when the file has one column. */
  readonly blankRecords: number;
}

export interface HeaderRules {
  readonly strayFails: boolean;
  /** Is shown the records above the header. */
  readonly preamble: MetaSearch | undefined;
  readonly delimiter: string;
}

/** What both lanes are told of the header. */
export function headerRules({ dialect, strayQuotes, preamble }: CsvReaderParts): HeaderRules {
  return { strayFails: strayQuotes === 'fail', preamble, delimiter: dialect.delimiter };
}

/**
 * Waits for bytes.
 * @param giveWay lets the thread do other things: blank lines and records above a header can be the whole file
 */
export function* readHeader(
  records: LeadingRecords,
  { headerRow, headerLines = 1, nameless, hasSeparatorLine = false }: CsvDialect,
  { strayFails, preamble, delimiter }: HeaderRules,
  giveWay: () => Promise<void>,
): Coroutine<CsvHeader> {
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
    if (headerRow === null ? !record.blank : skipped + headerLines > headerRow) {
      if (record.fields > COLUMNS_MAX) throw malformed('columns', record.line);
      if (headerRow === null) return { texts: new Array<string>(record.fields).fill(''), blankRecords: skipped };
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
