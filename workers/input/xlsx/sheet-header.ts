// Finds the header row of a sheet by the rules for CSV, and the number of columns of the sheet.
import { Failed } from '../../protocol/failure.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import type { Sliced } from '../../scheduling/time-slices.ts';
import { META_RECORDS_MAX } from '../../template/section-schemas.ts';
import { joinHeaderLines } from '../detect/header-lines.ts';
import { detectHeaderRow, headerStart } from '../detect/header-row.ts';
import { listed } from '../detect/records.ts';
import { SAMPLE_RECORDS_MAX } from '../detect/sample.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import type { MetaSearch } from '../meta-values.ts';
import type { MetaValues } from '../reader.ts';
import { LeadingRows } from './leading-rows.ts';
import type { ChosenSheet } from './open-workbook.ts';
import type { GiveWay } from './shared-strings.ts';

export interface SheetHeader {
  /** 0-based row in the sheet, or null without a header. */
  readonly row: number | null;
  /** Number of header lines, of which `row` is the last. Their texts are joined. */
  readonly lines: number;
  /** One text per column, '' for a column without a header. */
  readonly texts: readonly string[];
  /** Number of columns that belong to the table. A note beside its header does not. */
  readonly tableColumns: number;
  /** Row number in the sheet of the first row that may be data. */
  readonly firstDataRow: number;
  /** Values above the header, if the Template looks for any. */
  readonly meta?: MetaValues;
}

/**
 * Passes the first rows of the sheet to the sink until it is full. Returns the number of columns of the sheet or table
 * that are read.
 */
export type ReadFirst = (sink: LeadingRows, isMerged: boolean) => Coroutine<number>;

export interface HeaderSettings {
  /** 0-based row in the sheet, 'none' for no header, or null to detect it. */
  readonly headerRow: number | 'none' | null;
  /** Number of columns if there is no header; null = detect. */
  readonly columns: number | null;
  /**
   * Number of header lines, of which `headerRow` is the last. null for one line if `headerRow` is given, otherwise
   * detected.
   */
  readonly headerRows: number | null;
  readonly expected: ExpectedHeaders | null;
  readonly giveWay: GiveWay;
  /** Receives the rows above the header, with their positions in the sheet. */
  readonly preamble: MetaSearch | null;
  /** True if all cells of a merged range get its value. */
  readonly fillsMerged: boolean;
}

/** Indexes among the collected rows: last header line, and first line joined to it. */
interface FoundLines {
  readonly row: number;
  readonly first: number;
}

/** Returns null if the sheet has no cells. Throws Failed. */
export function* findSheetHeader(
  chosen: ChosenSheet,
  read: ReadFirst,
  settings: HeaderSettings,
): Coroutine<SheetHeader | null> {
  const headerRow = headerRowOf(chosen, settings);
  const headerRows = chosen.range === null ? settings.headerRows : null;
  const declared = Math.min(headerRows ?? 1, typeof headerRow === 'number' ? headerRow + 1 : 1);
  const from = typeof headerRow === 'number' ? headerRow + 2 - declared : 1;
  const leading = new LeadingRows(from);
  const columnsRead = yield* read(leading, false);
  if (leading.firstRow === 0) return emptySheet(from > 1);
  const found =
    typeof headerRow === 'number'
      ? { row: headerRow + 1 - leading.firstRow, first: 0 }
      : headerRow === 'none'
        ? null
        : ofLines(yield* detect(leading, settings), headerRows);
  if (typeof headerRow === 'number' && (found!.row < 0 || (leading.rows[found!.row] ?? []).length === 0)) {
    throw new Failed('MALFORMED_FILE', `The header row of sheet ${chosen.number} is a blank row.`);
  }
  const isFitted = chosen.range === null || chosen.isWide === true;
  const width = isFitted ? widthOf(leading.rows.slice(found?.first ?? 0)) : Math.max(1, columnsRead);
  const columns = found === null && chosen.range === null ? (settings.columns ?? width) : width;
  const blank = new Array<string>(columns).fill('');
  if (found === null)
    return { row: null, lines: 1, texts: blank, tableColumns: columns, firstDataRow: leading.firstRow };
  for (let line = found.first; line <= found.row; line++) {
    if (!leading.rowsWithTwoCells.has(line)) continue;
    throw new Failed('MALFORMED_FILE', `The header row of sheet ${chosen.number} has the same cell twice.`);
  }
  const row = leading.firstRow + found.row;
  if (settings.preamble !== null && chosen.range === null)
    yield* showAbove(settings.preamble, row - (found.row - found.first), read);
  const lines = found.row - found.first + 1;
  let header = leading.rows.slice(found.first, found.row + 1);
  if (settings.fillsMerged) {
    const filled = new LeadingRows(row - lines + 1, lines);
    yield* read(filled, true);
    if (filled.rows.length === lines) header = filled.rows;
  }
  const texts = joinHeaderLines(header);
  const named = blank.map((_, column) => texts[column] ?? '');
  const tableColumns = withoutNotes(named, leading.rows.slice(found.row + 1));
  return { row: row - 1, lines, texts: named, tableColumns, firstDataRow: row + 1, ...metaOf(settings.preamble) };
}

/** Applies the number of header lines of the Template. The last line stays where it was found. */
function ofLines(found: FoundLines | null, headerRows: number | null): FoundLines | null {
  if (headerRows === null) return found;
  const row = Math.max(found?.row ?? 0, headerRows - 1);
  return { row, first: row - headerRows + 1 };
}

function metaOf(preamble: MetaSearch | null): Pick<SheetHeader, 'meta'> {
  return preamble === null ? {} : { meta: preamble.values };
}

/** Joins the cells of a row for patterns. Spreadsheet programs use the same character when cells are copied. */
const CELL_SEPARATOR = '\t';

function* showAbove(preamble: MetaSearch, firstHeaderRow: number, read: ReadFirst): Coroutine<void> {
  const above = new LeadingRows(1, META_RECORDS_MAX);
  yield* read(above, false);
  for (const [index, texts] of above.rows.entries()) {
    const row = above.firstRow + index;
    if (row < firstHeaderRow && preamble.wants(row - 1)) preamble.take(row - 1, texts, CELL_SEPARATOR);
  }
}

/** A table declares its header row itself. */
function headerRowOf({ range, hasHeader }: ChosenSheet, { headerRow }: HeaderSettings): number | 'none' | null {
  if (range === null) return headerRow;
  return hasHeader ? range.firstRow - 1 : 'none';
}

function emptySheet(isBehindRows: boolean): null {
  if (isBehindRows) throw new Failed('MALFORMED_FILE', 'The header row is after the last row of the sheet.');
  return null;
}

/** Detects the last header line and the first line joined to it, among the collected rows. */
function* detect({ rows }: LeadingRows, { expected, giveWay }: HeaderSettings): Coroutine<FoundLines | null> {
  const isExpected = expected === null ? null : (cell: string): boolean => expected.has(cell);
  const records = listed(rows.slice(0, SAMPLE_RECORDS_MAX));
  const row = yield* inSlices(detectHeaderRow(records, isExpected), giveWay);
  return row === null ? null : { row, first: yield* inSlices(headerStart(records, row, isExpected), giveWay) };
}

function* inSlices<T>(work: Sliced<T>, giveWay: GiveWay): Coroutine<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    const rest = giveWay();
    if (rest !== null) yield rest;
  }
}

/** Number of columns. Cells beyond the header also count, as when a spreadsheet program writes CSV. */
function widthOf(rows: readonly (readonly string[])[]): number {
  return Math.max(1, ...rows.map((row) => row.findLastIndex((text) => text !== '') + 1));
}

/**
 * Number of columns before the notes. Notes are texts in the header row with no cell below them, separated by an empty
 * column.
 */
function withoutNotes(texts: readonly string[], below: readonly (readonly string[])[]): number {
  const isEmptyBelow = (column: number): boolean => below.every((row) => (row[column] ?? '') === '');
  let end = texts.length;
  for (let column = texts.length - 1; column > 0 && isEmptyBelow(column); column--)
    if (texts[column] === '') end = column;
  return end;
}
