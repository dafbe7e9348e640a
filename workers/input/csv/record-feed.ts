// Keeps complete rows coming: scans what the window holds, fills it when they are used up, and throws what makes the
// next row unreadable once all rows before it have been taken.
import type { Heap } from '../../memory/heap.ts';
import { ROW_BYTES_MAX } from '../ceilings.ts';
import type { ReadAheadRows } from '../read-ahead/read-ahead-rows.ts';
import { openQuote } from './lines.ts';
import { malformed } from './malformed.ts';
import type { StructuralIndex } from './structural-index.ts';
import type { Window } from './window.ts';

/** A CRLF behind the longest row. */
const LINE_BREAK_BYTES = 2;

export class RecordFeed {
  readonly heap: Heap;
  readonly window: Window;
  readonly index: StructuralIndex;
  /** Who reads ahead, where somebody does: from the first row behind the header on. */
  readAheadRows: ReadAheadRows | null = null;
  readonly #delimiter: number;
  readonly #quote: number;

  constructor(heap: Heap, window: Window, index: StructuralIndex, delimiter: number, quote: number) {
    this.heap = heap;
    this.window = window;
    this.index = index;
    this.#delimiter = delimiter;
    this.#quote = quote;
  }

  /** 'rows': the index holds at least one complete row. Throws Failed. */
  advance(): 'rows' | 'wait' | 'end' {
    const { window, index } = this;
    for (;;) {
      if (index.cursor < index.completeEnd) return 'rows';
      if (index.trouble !== null) throw malformed(index.trouble.kind, index.lineOf(index.trouble.address));
      if (!window.filling && index.scanned < window.scanEnd) {
        if (!index.scan(window)) this.#checkIncompleteRow();
        continue;
      }
      if (!window.filling && window.complete) {
        if (index.rowStart < window.filled) this.#failOpenQuote();
        return 'end';
      }
      const ahead = window.filling ? 'alone' : (this.readAheadRows?.advance() ?? 'alone');
      if (ahead === 'wait') return 'wait';
      if (ahead === 'rows') continue;
      if (window.fill(index.rowStart) === 'wait') return 'wait';
      if (window.start !== index.rowStart) index.restart(window.start);
    }
  }

  /** After a 'wait'. */
  wait(): Promise<void> {
    return this.readAheadRows?.isAway ? this.readAheadRows.wait() : this.window.wait();
  }

  close(): void {
    this.readAheadRows?.close();
    this.window.close();
  }

  #checkIncompleteRow(): void {
    const { window, index } = this;
    // At a full index the scanned bytes decide, not the ones that happen to be in the window.
    const seenBytes = (index.full ? index.scanned : window.filled) - index.rowStart;
    const tooLong = seenBytes > ROW_BYTES_MAX + LINE_BREAK_BYTES;
    if (tooLong || index.full) throw malformed(tooLong ? 'row' : 'columns', index.lineOf(index.rowStart));
  }

  #failOpenQuote(): never {
    const { window, index } = this;
    const at = openQuote(this.heap.u8, index.rowStart, window.filled, this.#delimiter, this.#quote);
    throw malformed('quote', index.lineOf(at));
  }
}
