// Builds the row table of each batch, also if rows have too many or too few fields.
import { BATCH_ROWS_MAX } from '../../batch/batch.ts';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import {
  BEFORE,
  EMPTY_IS_NULL,
  EVENT_BYTES,
  EVENT_LENGTH,
  EVENT_ROW,
  EVENT_STRAYS,
  EVENTS,
  LENGTH_FITS,
  LENGTH_LONG,
  LENGTH_SHORT,
  MAY_BE_STRAY,
  PLAIN,
  RAGGED_FAILS,
  ROWS,
  STATE_BYTES,
  STOP,
  STOP_AT,
  STOP_COLUMNS,
  STOP_RAGGED,
  STOP_STRAY,
  STOP_SWALLOWED,
  STRAY_FAILS,
  STRUCTURALS,
} from '../../kernel/layout/ragged-rows.ts';
import type { Heap } from '../../memory/heap.ts';
import { type CodeCounts, countCode } from '../../protocol/report.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import type { CsvDefect } from './csv-input.ts';
import { NO_RAGGED_ROWS, type RaggedRow } from './selected-rows.ts';
import type { StructuralIndex } from './structural-index.ts';

// Checks whether a row that is too long, too short, or has misplaced quotes would be correct if backslashes were
// escapes. Used if escapes are not declared and the first part of the file does not show them. Such a row fails the
// file, because reading it would be a guess.

const BACKSLASH = 0x5c;
const LF = 10;
const CR = 13;

interface EscapeMarks {
  readonly delimiter: string;
  readonly quote: string;
}

export interface RowFaults {
  readonly isLong: boolean;
  readonly isShort: boolean;
  readonly hasStrays: boolean;
}

/** @param row bytes of the row, with or without its line break */
export function isLikelyEscaped(
  row: Uint8Array,
  marks: EscapeMarks,
  { isLong, isShort, hasStrays }: RowFaults,
): boolean {
  if (row.indexOf(BACKSLASH) < 0) return false;
  const text = Buffer.from(row.buffer, row.byteOffset, row.length);
  const { delimiter, quote } = marks;
  const escapesQuote = quote !== '' && text.includes(`\\${quote}`);
  const escapesDelimiter = delimiter !== '' && text.includes(`\\${delimiter}`);
  if ((hasStrays || isLong) && escapesQuote) return true;
  return (isLong && escapesDelimiter) || (isShort && endsInBackslash(text));
}

/** True for an odd number of backslashes before the line break. */
function endsInBackslash(row: Buffer): boolean {
  let end = row.length;
  while (end > 0 && (row[end - 1] === LF || row[end - 1] === CR)) end--;
  let start = end;
  while (start > 0 && row[start - 1] === BACKSLASH) start--;
  return (end - start) % 2 === 1;
}

// Builds the row table of each batch (RawTable in workers/batch/batch.ts) from complete structurals, and counts errors
// of rows.

/** Number of u32 entries of the table: 512 KiB. Batches of wide files have fewer rows. */
const TABLE_ENTRIES = 131_072;

const STOPS: Readonly<Record<number, CsvDefect>> = {
  [STOP_RAGGED]: 'ragged',
  [STOP_STRAY]: 'stray',
  [STOP_SWALLOWED]: 'swallowed',
  [STOP_COLUMNS]: 'columns',
};

/** Errors that are reported with the line of the cell. Other errors are reported with the line of the row. */
const STOPS_AT_CELL: ReadonlySet<CsvDefect> = new Set(['stray', 'swallowed']);

export interface RowRules {
  readonly columns: number;
  /** 0xFF for no quote. */
  readonly quote: number;
  readonly raggedFails: boolean;
  readonly strayFails: boolean;
  readonly emptyIsNull: boolean;
  /** True if the text of additional cells is needed (RaggedRow.extra). */
  readonly keepsExtra: boolean;
  /** Delimiter and quote, if a row that is only correct with escapes must stop the table; otherwise null. */
  readonly escapeMarks: EscapeMarks | null;
}

export class RowTable {
  readonly at: number;
  /** Number of rows in the table. */
  rows = 0;
  plain = true;
  /** Rows in the table with too few or too many fields. */
  ragged: readonly RaggedRow[] = NO_RAGGED_ROWS;
  /** Error of the row after the table's rows, which must fail, and its address. */
  stop: { readonly kind: CsvDefect; readonly address: number } | null = null;
  readonly #heap: Heap;
  readonly #kernel: KernelExports;
  readonly #rules: RowRules;
  readonly #counts: CodeCounts;
  readonly #rowsMax: number;
  readonly #state: number;
  readonly #events: number;

  constructor(heap: Heap, kernel: KernelExports, rules: RowRules, counts: CodeCounts) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#rules = rules;
    this.#counts = counts;
    this.#rowsMax = Math.min(BATCH_ROWS_MAX, Math.floor(TABLE_ENTRIES / (rules.columns + 1)));
    this.at = heap.allocate(TABLE_ENTRIES * 4);
    this.#state = heap.allocate(STATE_BYTES);
    this.#events = heap.allocate(this.#rowsMax * EVENT_BYTES);
  }

  /**
   * Moves up to `rowsMax` rows from the index into the table. With 0, takes all available rows, only to count them.
   * @param sourceRow number of the first row taken
   */
  take(index: StructuralIndex, rowsMax: number, sourceRow: number): void {
    const limit = rowsMax === 0 ? this.#rowsMax : Math.min(rowsMax, this.#rowsMax);
    this.ragged = NO_RAGGED_ROWS;
    if (this.#isUniform(index)) this.#takeUniform(index, rowsMax === 0 ? 0 : limit);
    else this.#takeRagged(index, limit, sourceRow);
  }

  /**
   * Fills the table with missing cells, for blank lines in a file of one column.
   * @param address any address except 0
   */
  fillMissing(rowsMax: number, address: number): void {
    this.rows = Math.min(rowsMax, this.#rowsMax);
    this.plain = false;
    this.#heap.u32.fill(address, this.at >>> 2, (this.at >>> 2) + this.rows * (this.#rules.columns + 1));
  }

  #isUniform(index: StructuralIndex): boolean {
    const { columns, emptyIsNull } = this.#rules;
    const rows = (index.completeEnd - index.cursor) / 4 / columns;
    if (index.uniform === null) {
      const whole = !index.literal && Number.isInteger(rows) && rows === index.rowEnds;
      const settled = whole && (columns !== 1 || emptyIsNull);
      index.uniform = settled && this.#kernel.rowsAreUniform(index.cursor, rows, columns) === 1;
    }
    return index.uniform;
  }

  #takeUniform(index: StructuralIndex, limit: number): void {
    const { columns } = this.#rules;
    const ready = (index.completeEnd - index.cursor) / 4 / columns;
    // Divides rows into batches of equal size. A large batch followed by a small one would fill caches and arena for
    // nothing.
    const rows = limit === 0 ? ready : Math.ceil(ready / Math.max(1, Math.ceil(ready / limit)));
    const after = index.cursor + rows * columns * 4;
    if (limit > 0) this.#kernel.indexRows(index.cursor, index.rowStart - 1, rows, columns, this.at);
    index.rowStart = this.#heap.u32[(after >>> 2) - 1]! + 1;
    index.cursor = after;
    this.rows = rows;
    this.plain = true;
  }

  #takeRagged(index: StructuralIndex, limit: number, sourceRow: number): void {
    const { columns, quote } = this.#rules;
    const state = this.#state;
    const words = this.#heap.u32;
    words.fill(0, state >>> 2, (state + STATE_BYTES) >>> 2);
    words[(state + STRUCTURALS) >>> 2] = index.cursor;
    words[(state + BEFORE) >>> 2] = index.rowStart - 1;
    words[(state + PLAIN) >>> 2] = index.literal ? 0 : 1;
    const { at } = this;
    const rules = this.#rulesFor(index);
    this.#kernel.indexRaggedRows(
      this.#state,
      index.completeEnd,
      limit,
      columns,
      COLUMNS_MAX,
      at,
      this.#events,
      rules,
      quote,
    );
    const { u32 } = this.#heap;
    index.cursor = u32[(state + STRUCTURALS) >>> 2]!;
    index.rowStart = u32[(state + BEFORE) >>> 2]! + 1;
    this.rows = u32[(state + ROWS) >>> 2]!;
    this.plain = u32[(state + PLAIN) >>> 2] === 1;
    const kind = STOPS[u32[(state + STOP) >>> 2]!];
    if (kind !== undefined) this.#stopBefore(index, kind, u32[(state + STOP_AT) >>> 2]!);
    this.#count(index, u32[(state + EVENTS) >>> 2]!, sourceRow);
  }

  #rulesFor(index: StructuralIndex): number {
    const { raggedFails, strayFails, emptyIsNull } = this.#rules;
    return (
      (raggedFails ? RAGGED_FAILS : 0) |
      (strayFails ? STRAY_FAILS : 0) |
      (index.literal ? MAY_BE_STRAY : 0) |
      (emptyIsNull ? EMPTY_IS_NULL : 0)
    );
  }

  /** @param cell address of the cell that makes the row unreadable, if a cell does */
  #stopBefore(index: StructuralIndex, kind: CsvDefect, cell: number): void {
    const { escapeMarks, columns } = this.#rules;
    const address = STOPS_AT_CELL.has(kind) ? cell : index.rowStart;
    const { end, fields } = this.#extentOfRow(index);
    const row = this.#heap.u8.subarray(index.rowStart, end);
    const faults = { isLong: fields > columns, isShort: fields < columns, hasStrays: STOPS_AT_CELL.has(kind) };
    if (escapeMarks !== null && isLikelyEscaped(row, escapeMarks, faults))
      this.stop = { kind: 'escape', address: index.rowStart };
    else this.stop = { kind, address };
  }

  /** Returns the end (the address of its line break) and the number of fields of the row at the cursor of the index. */
  #extentOfRow({ cursor, completeEnd }: StructuralIndex): { readonly end: number; readonly fields: number } {
    const { u8, u32 } = this.#heap;
    for (let entry = cursor; entry < completeEnd; entry += 4) {
      const end = u32[entry >>> 2]!;
      if (u8[end] === LF || u8[end] === CR) return { end, fields: (entry - cursor) / 4 + 1 };
    }
    throw new Error('a row that is not complete');
  }

  /** Counts the events that the kernel has recorded for rows, up to a row that must fail. */
  #count(index: StructuralIndex, events: number, sourceRow: number): void {
    const { u32 } = this.#heap;
    const ragged: RaggedRow[] = [];
    this.ragged = ragged;
    for (let event = 0; event < events; event++) {
      const at = this.#events + event * EVENT_BYTES;
      const tableRow = u32[(at + EVENT_ROW) >>> 2]!;
      const row = sourceRow + tableRow;
      const length = u32[(at + EVENT_LENGTH) >>> 2]!;
      if (this.#failsByEscape(index, tableRow, length, u32[(at + EVENT_STRAYS) >>> 2]! > 0)) return;
      if (length !== LENGTH_FITS) {
        const code = length === LENGTH_LONG ? 'RAGGED_ROW' : 'SHORT_ROW';
        countCode(this.#counts, code, row);
        const extra = length === LENGTH_LONG && this.#rules.keepsExtra ? this.#extraOf(index, tableRow) : null;
        ragged.push({ row: tableRow, code, extra });
      }
      for (let stray = u32[(at + EVENT_STRAYS) >>> 2]!; stray > 0; stray--) countCode(this.#counts, 'STRAY_QUOTE', row);
    }
  }

  /** Address of the line break before the next row. Blank lines in between are included. */
  #endOf(index: StructuralIndex, tableRow: number): number {
    const next = (this.at >>> 2) + (tableRow + 1) * (this.#rules.columns + 1);
    return tableRow + 1 < this.rows ? this.#heap.u32[next]! : index.rowStart - 1;
  }

  /** Text of a long row after its last column. */
  #extraOf(index: StructuralIndex, tableRow: number): string {
    const { u8, u32 } = this.#heap;
    const { columns } = this.#rules;
    const start = u32[(this.at >>> 2) + tableRow * (columns + 1) + columns]! + 1;
    let end = this.#endOf(index, tableRow);
    while (end > start && (u8[end - 1] === LF || u8[end - 1] === CR)) end--;
    return Buffer.from(u8.subarray(start, end)).toString();
  }

  /** Ends the table before a row that is only correct with escapes. */
  #failsByEscape(index: StructuralIndex, tableRow: number, length: number, hasStrays: boolean): boolean {
    const { escapeMarks, columns } = this.#rules;
    if (escapeMarks === null) return false;
    const { u8, u32 } = this.#heap;
    const start = u32[(this.at >>> 2) + tableRow * (columns + 1)]! + 1;
    const end = this.#endOf(index, tableRow);
    const faults = { isLong: length === LENGTH_LONG, isShort: length === LENGTH_SHORT, hasStrays };
    if (!isLikelyEscaped(u8.subarray(start, end), escapeMarks, faults)) return false;
    this.rows = tableRow;
    this.stop = { kind: 'escape', address: start };
    return true;
  }
}
