// Reads single records as texts, for what comes before the data: skipped rows and the header. Not for data rows.
import type { Heap } from '../../heap.ts';
import type { StructuralIndex } from './structural-index.ts';

const LF = 10;
const CR = 13;

/** Bounds of the fields of the next complete record, which stays in the index; null when there is none. */
export interface RecordBounds {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Address behind its last structural. */
  readonly behind: number;
}

export function peekRecord(heap: Heap, index: StructuralIndex): RecordBounds | null {
  if (index.cursor >= index.completeEnd) return null;
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

/** Takes the record out of the index. */
export function skipRecord(heap: Heap, index: StructuralIndex, record: RecordBounds): void {
  index.rowStart = heap.u32[(record.behind >>> 2) - 1]! + 1;
  index.cursor = record.behind;
  index.rowEnds--;
}

export function isBlankRecord(record: RecordBounds): boolean {
  return record.starts.length === 1 && record.starts[0] === record.ends[0];
}

/** Clean texts of a record's fields. `stray`: address of the first field with text behind its closing quote, or 0. */
export function recordTexts(heap: Heap, record: RecordBounds, quote: string): { texts: string[]; stray: number } {
  let stray = 0;
  const texts = record.starts.map((start, field) => {
    const text = Buffer.from(heap.u8.buffer, start, record.ends[field]! - start).toString('utf8');
    if (quote === '' || !text.startsWith(quote)) return text;
    const inner = text.slice(1, -1).replaceAll(quote + quote, '');
    if (text.length > 1 && text.endsWith(quote) && !inner.includes(quote)) {
      return text.slice(1, -1).replaceAll(quote + quote, quote);
    }
    if (stray === 0) stray = start;
    return text;
  });
  return { texts, stray };
}
