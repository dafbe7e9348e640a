// Single records of the structural index as texts, for what comes before the data. Not for data rows.
import { utf8Text } from '../../batch/ascii-text.ts';
import type { Heap } from '../../memory/heap.ts';
import type { LeadingRecord, LeadingRecords } from './header.ts';
import type { RecordFeed } from './record-feed.ts';
import type { StructuralIndex } from './structural-index.ts';

const LF = 10;
const CR = 13;

/** @param quote '' for none */
export function leadingRecords(feed: RecordFeed, quote: string): LeadingRecords {
  return new IndexedRecord(feed, quote);
}

/** The record at the index's cursor. One object for all: most records are only skipped, and there may be millions. */
class IndexedRecord implements LeadingRecord, LeadingRecords {
  readonly #feed: RecordFeed;
  fields = 0;
  blank = true;
  readonly #heap: Heap;
  readonly #index: StructuralIndex;
  readonly #quote: string;
  /** Address behind its last structural. */
  #behind = 0;

  constructor(feed: RecordFeed, quote: string) {
    this.#feed = feed;
    this.#heap = feed.heap;
    this.#index = feed.index;
    this.#quote = quote;
  }

  peek(): LeadingRecord | 'wait' | 'end' {
    const state = this.#feed.advance();
    return state === 'rows' ? this.#look() : state;
  }

  wait(): Promise<void> {
    return this.#feed.window.wait();
  }

  get line(): number {
    return this.#index.lineOf(this.#index.rowStart);
  }

  #look(): this {
    const { u8, u32 } = this.#heap;
    const { cursor, rowStart } = this.#index;
    let entry = cursor;
    while (u8[u32[entry >>> 2]!] !== LF && u8[u32[entry >>> 2]!] !== CR) entry += 4;
    this.fields = (entry - cursor) / 4 + 1;
    this.blank = entry === cursor && textEnd(u8, rowStart, u32[entry >>> 2]!) === rowStart;
    this.#behind = entry + 4;
    return this;
  }

  skip(): void {
    const index = this.#index;
    index.rowStart = this.#heap.u32[(this.#behind >>> 2) - 1]! + 1;
    index.cursor = this.#behind;
    index.rowEnds--;
  }

  read(): { texts: string[]; strayLine: number } {
    const { u8, u32 } = this.#heap;
    const index = this.#index;
    const texts: string[] = [];
    let stray = 0;
    let start = index.rowStart;
    for (let field = 0; field < this.fields; field++) {
      const end = u32[(index.cursor >>> 2) + field]!;
      const text = utf8Text(u8, start, textEnd(u8, start, end) - start);
      const clean = cleanText(text, this.#quote);
      if (clean === null && stray === 0) stray = start;
      texts.push(clean ?? text);
      start = end + 1;
    }
    return { texts, strayLine: stray === 0 ? 0 : index.lineOf(stray) };
  }
}

/** The end of a field's text before its structural: the CR of a CRLF belongs to the line break. */
function textEnd(u8: Uint8Array, start: number, end: number): number {
  return u8[end] === LF && end > start && u8[end - 1] === CR ? end - 1 : end;
}

/** A field's text without its quotes; null when text behind its closing quote makes it literal. */
function cleanText(text: string, quote: string): string | null {
  if (quote === '' || !text.startsWith(quote)) return text;
  const inner = text.slice(1, -1);
  if (text.length < 2 || !text.endsWith(quote) || inner.replaceAll(quote + quote, '').includes(quote)) return null;
  return inner.replaceAll(quote + quote, quote);
}
