// Single records of the structural index as texts, for what comes before the data. Not for data rows.
import type { Heap } from '../../heap.ts';
import type { LeadingRecord, LeadingRecords } from './header.ts';
import type { RecordFeed } from './record-feed.ts';
import type { StructuralIndex } from './structural-index.ts';

const LF = 10;
const CR = 13;

interface RecordBounds {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Address behind its last structural. */
  readonly behind: number;
}

/** @param quote '' for none */
export function leadingRecords(feed: RecordFeed, quote: string): LeadingRecords {
  const { heap, index, window } = feed;
  return {
    peek: () => {
      const state = feed.advance();
      return state === 'rows' ? leadingRecord(heap, index, quote) : state;
    },
    wait: () => window.wait(),
    skip: () => {
      const { behind } = boundsOf(heap, index);
      index.rowStart = heap.u32[(behind >>> 2) - 1]! + 1;
      index.cursor = behind;
      index.rowEnds--;
    },
  };
}

function leadingRecord(heap: Heap, index: StructuralIndex, quote: string): LeadingRecord {
  const { starts, ends } = boundsOf(heap, index);
  return {
    fields: starts.length,
    blank: starts.length === 1 && starts[0] === ends[0],
    get line() {
      return index.lineOf(index.rowStart);
    },
    read: () => {
      let stray = 0;
      const texts = starts.map((start, field) => {
        const text = Buffer.from(heap.u8.buffer, start, ends[field]! - start).toString('utf8');
        const clean = cleanText(text, quote);
        if (clean === null && stray === 0) stray = start;
        return clean ?? text;
      });
      return { texts, strayLine: stray === 0 ? 0 : index.lineOf(stray) };
    },
  };
}

function boundsOf(heap: Heap, index: StructuralIndex): RecordBounds {
  const { u8, u32 } = heap;
  const starts = [index.rowStart];
  const ends: number[] = [];
  for (let entry = index.cursor; ; entry += 4) {
    const end = u32[entry >>> 2]!;
    const byte = u8[end];
    if (byte === LF || byte === CR) {
      const start = starts[starts.length - 1]!;
      ends.push(byte === LF && end > start && u8[end - 1] === CR ? end - 1 : end);
      return { starts, ends, behind: entry + 4 };
    }
    ends.push(end);
    starts.push(end + 1);
  }
}

/** A field's text without its quotes; null when text behind its closing quote makes it literal. */
function cleanText(text: string, quote: string): string | null {
  if (quote === '' || !text.startsWith(quote)) return text;
  const inner = text.slice(1, -1);
  if (text.length < 2 || !text.endsWith(quote) || inner.replaceAll(quote + quote, '').includes(quote)) return null;
  return inner.replaceAll(quote + quote, quote);
}
