// What comes before the data rows: skips the records above the header and reads the header, or finds the number of
// columns of a file without one.
import { COLUMNS_MAX } from '../ceilings.ts';
import { malformed } from './malformed.ts';
import { isBlankRecord, peekRecord, type RecordBounds, recordTexts, skipRecord } from './record.ts';
import type { RecordFeed } from './record-feed.ts';

export interface CsvHeader {
  /** One per column; '' where there is none. */
  readonly texts: readonly string[];
  /** Blank records before the first data row: rows, when the file has one column. */
  readonly blankRecords: number;
}

/** @param headerRow see CsvDialect */
export async function readHeader(
  feed: RecordFeed,
  headerRow: number | null,
  quote: string,
  strayFails: boolean,
): Promise<CsvHeader> {
  let skipped = 0;
  let allBlank = true;
  for (;;) {
    const record = await nextRecord(feed);
    if (record === null) throw malformed(allBlank ? 'empty' : 'header', 0);
    const blank = isBlankRecord(record);
    allBlank &&= blank;
    if (headerRow === null ? !blank : skipped === headerRow)
      return headerOf(feed, record, { headerRow, quote, strayFails, skipped });
    skipRecord(feed.heap, feed.index, record);
    skipped++;
  }
}

interface HeaderPlace {
  readonly headerRow: number | null;
  readonly quote: string;
  readonly strayFails: boolean;
  readonly skipped: number;
}

function headerOf(feed: RecordFeed, record: RecordBounds, place: HeaderPlace): CsvHeader {
  const { heap, index } = feed;
  const columns = record.starts.length;
  if (columns > COLUMNS_MAX) throw malformed('columns', index.lineOf(index.rowStart));
  if (place.headerRow === null) return { texts: new Array<string>(columns).fill(''), blankRecords: place.skipped };
  if (isBlankRecord(record)) throw malformed('blankHeader', 0);
  const { texts, stray } = recordTexts(heap, record, place.quote);
  if (stray !== 0 && place.strayFails) throw malformed('stray', index.lineOf(stray));
  skipRecord(heap, index, record);
  return { texts, blankRecords: 0 };
}

async function nextRecord(feed: RecordFeed): Promise<RecordBounds | null> {
  for (;;) {
    const state = feed.advance();
    if (state === 'rows') return peekRecord(feed.heap, feed.index);
    if (state === 'end') return null;
    await feed.window.wait();
  }
}
