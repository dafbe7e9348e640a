// What comes before the data rows, in both lanes: skips the records above the header and reads the header, or finds the
// number of columns of a file without one.
import type { Waits } from '../../waits.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import { malformed } from './malformed.ts';

/** Records above the header between two breaths of the thread: half a millisecond of work. */
const BREATH_RECORDS = 2048;

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

/**
 * Waits for bytes.
 * @param headerRow see CsvDialect
 * @param breathe lets the thread do other things: blank lines and records above a header can be the whole file
 */
export function* readHeader(
  records: LeadingRecords,
  headerRow: number | null,
  strayFails: boolean,
  breathe: () => Promise<void>,
): Waits<CsvHeader> {
  let skipped = 0;
  let allBlank = true;
  for (;;) {
    const record = records.peek();
    if (record === 'wait') {
      yield records.wait();
      continue;
    }
    if (record === 'end') throw malformed(allBlank ? 'empty' : 'header', 0);
    allBlank &&= record.blank;
    if (headerRow === null ? !record.blank : skipped === headerRow) {
      if (record.fields > COLUMNS_MAX) throw malformed('columns', record.line);
      if (headerRow !== null) return { texts: headerTexts(records, record, strayFails), blankRecords: 0 };
      return { texts: new Array<string>(record.fields).fill(''), blankRecords: skipped };
    }
    records.skip();
    skipped++;
    if (skipped % BREATH_RECORDS === 0) yield breathe();
  }
}

function headerTexts(records: LeadingRecords, record: LeadingRecord, strayFails: boolean): readonly string[] {
  if (record.blank) throw malformed('blankHeader', 0);
  const { texts, strayLine } = record.read();
  if (strayLine !== 0 && strayFails) throw malformed('stray', strayLine);
  records.skip();
  return texts;
}
