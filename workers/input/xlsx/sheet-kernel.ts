// Passes sections of a sheet's XML to the kernel that reads rows (kernel/assembly/read-sheet.ts), and reads back its
// position.
import * as words from '../../kernel/layout/sheet.ts';
import { PREFIX_BYTES_MAX, PREFIX_WORD_BYTES, STATUS_FULL, STATUS_LEFT } from '../../kernel/layout/sheet.ts';
import { COLUMNS_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import type { CellRange } from './cell-range.ts';
import type { StringStore } from './string-store.ts';
import type { XmlStretch } from './xml-stretch.ts';
import type { XmlTokens } from './xml-tokens.ts';

const BEYOND_ALL_ROWS = words.ROW_NUMBER_MAX;

/** Position of a reader in a sheet. */
export interface SheetPlace {
  /** The row that was begun last, from 1, or 0 before the first row. */
  row: number;
  isInRow: boolean;
  isRowLeftOut: boolean;
  nextColumn: number;
}

/** Accesses a word of the kernel's state, see layout/sheet.ts. */
export type SetWord = (word: number, value: number) => void;
export type GetWord = (word: number) => number;

/** Memory into which the kernel writes rows. */
export interface KernelRows {
  /** Sets the addresses, and the state of the current row. */
  lend(set: SetWord): void;
  takeBack(get: GetWord): void;
}

export interface KernelCells {
  readonly strings: StringStore | null;
  readonly styles: Uint8Array;
  readonly is1904: boolean;
}

export interface KernelSheet {
  readonly range: CellRange | null;
  readonly skipHidden: boolean;
  /** See SheetReader. */
  readonly columns: Int32Array | null;
  /** Prefix of element names, including its colon. */
  readonly prefix: Uint8Array;
}

/**
 * 'left': the slow reader must read what follows. 'full': no more rows are wanted now. 'more': the window contains no
 * further complete item.
 */
export type KernelStop = 'more' | 'full' | 'left';

export class SheetKernel {
  readonly #stretch: XmlStretch;
  readonly #state: number;
  #map = 0;
  readonly #set: SetWord;
  readonly #get: GetWord;
  /** Results of the last `read`: number of rows that ended, and bytes of shared strings in them. */
  closed = 0;
  sharedBytes = 0;

  /** Throws MemoryWanted. */
  constructor(stretch: XmlStretch, { strings, styles, is1904 }: KernelCells) {
    const { heap } = stretch;
    this.#stretch = stretch;
    this.#state = heap.allocate(words.STATE_BYTES);
    const styleBytes = heap.allocate(styles.length);
    const pages = strings === null ? 0 : strings.placePages();
    heap.u8.set(styles, styleBytes);
    this.#set = (word, value) => {
      heap.u32[(this.#state + word) >>> 2] = value;
    };
    this.#get = (word) => heap.u32[(this.#state + word) >>> 2]!;
    this.#set(words.STYLES, styleBytes);
    this.#set(words.STYLES_COUNT, styles.length);
    this.#set(words.IS_1904, is1904 ? 1 : 0);
    this.#set(words.SHARED_PAGES, pages);
    this.#set(words.SHARED_COUNT, strings?.keptLength ?? 0);
    this.#set(words.COLUMNS_MAX, COLUMNS_MAX);
    this.#set(words.ROW_BYTES_MAX, ROW_BYTES_MAX);
  }

  /** Prepares for the rows of this sheet. Returns false if the kernel cannot read the sheet. */
  begin({ range, skipHidden, columns, prefix }: KernelSheet): boolean {
    if (prefix.length > PREFIX_BYTES_MAX) return false;
    const { heap } = this.#stretch;
    const set = this.#set;
    set(words.FIRST_ROW, range?.firstRow ?? 0);
    set(words.LAST_ROW, range?.lastRow ?? BEYOND_ALL_ROWS);
    set(words.SKIPS_HIDDEN, skipHidden ? 1 : 0);
    if (columns !== null && this.#map === 0) this.#map = heap.allocate(columns.byteLength);
    if (columns !== null) heap.u32.set(new Uint32Array(columns.buffer), this.#map >>> 2);
    set(words.COLUMNS_MAP, columns === null ? 0 : this.#map);
    set(words.PREFIX, prefix.length);
    heap.u8.set(prefix, this.#state + words.PREFIX + PREFIX_WORD_BYTES);
    set(words.SHARED_ROW_BYTES, 0);
    return true;
  }

  /** Continues at the position of `tokens`, for at most `rowsMax` rows of the sheet. */
  read(tokens: XmlTokens, place: SheetPlace, rows: KernelRows, rowsMax: number, sharedRowBytes: number): KernelStop {
    const set = this.#set;
    set(words.IS_IN_ROW, place.isInRow ? 1 : 0);
    set(words.ROW, place.row);
    set(words.NEXT_COLUMN, place.nextColumn);
    set(words.IS_LEFT_OUT, place.isRowLeftOut ? 1 : 0);
    set(words.SHARED_ROW_BYTES, sharedRowBytes);
    rows.lend(set);
    this.closed = 0;
    this.sharedBytes = 0;
    const stop = this.#readStretches(tokens, rowsMax);
    const get = this.#get;
    rows.takeBack(get);
    place.isInRow = get(words.IS_IN_ROW) !== 0;
    place.row = get(words.ROW);
    place.nextColumn = get(words.NEXT_COLUMN);
    place.isRowLeftOut = get(words.IS_LEFT_OUT) !== 0;
    return stop;
  }

  get sharedRowBytes(): number {
    return this.#get(words.SHARED_ROW_BYTES);
  }

  #readStretches(tokens: XmlTokens, rowsMax: number): KernelStop {
    const stretch = this.#stretch;
    for (;;) {
      this.#set(words.AT, stretch.place(tokens));
      this.#set(words.CLOSED_MAX, rowsMax - this.closed);
      stretch.kernel.readSheet(this.#state, stretch.end);
      this.closed += this.#get(words.CLOSED);
      this.sharedBytes += this.#get(words.SHARED_BYTES);
      const at = this.#get(words.AT);
      const status = this.#get(words.STATUS);
      if (status === STATUS_FULL || status === STATUS_LEFT) {
        stretch.moveTo(tokens, at);
        return status === STATUS_FULL ? 'full' : 'left';
      }
      const stop = stretch.moveOn(tokens, at);
      if (stop !== 'again') return stop;
    }
  }
}
