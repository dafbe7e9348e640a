// Finds the header row of a sheet, by the rules of CSV, and how many columns the sheet has.
import { Failed } from '../../protocol/failure.ts';
import type { Sliced } from '../../run/time-slices.ts';
import { META_RECORDS_MAX } from '../../template/section-schemas.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import { joinHeaderLines } from '../detect/header-lines.ts';
import { detectHeaderRow, headerStart } from '../detect/header-row.ts';
import { listed } from '../detect/records.ts';
import { SAMPLE_RECORDS_MAX } from '../detect/sample.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import type { MetaSearch } from '../meta-values.ts';
import type { MetaValues } from '../reader.ts';
import type { ChosenSheet } from './chosen-sheets.ts';
import { LeadingRows } from './leading-rows.ts';
import type { GiveWay } from './shared-strings.ts';

export interface SheetHeader {
  /** Row of the sheet from 0, null when it has no header. */
  readonly row: number | null;
  /** Lines of the header, of which `row` is the last: their texts are joined. */
  readonly lines: number;
  /** One for each column; '' where there is none. */
  readonly texts: readonly string[];
  /** The sheet's number of the first row that may be data. */
  readonly firstDataRow: number;
  /** Values that stand above the header; none where nobody looks for any. */
  readonly meta?: MetaValues;
}

/** Tells the first rows of the sheet, until the sink is full. */
export type ReadFirst = (sink: LeadingRows, isMerged: boolean) => Coroutine<void>;

export interface HeaderSettings {
  /** Row of the sheet from 0, 'none' = it has no header, null = detect. */
  readonly headerRow: number | 'none' | null;
  /** Lines of the header, of which `headerRow` is the last; null = one where that is given, else detect. */
  readonly headerRows: number | null;
  readonly expected: ExpectedHeaders | null;
  readonly giveWay: GiveWay;
  /** Is shown the rows above the header, at their places in the sheet. */
  readonly preamble: MetaSearch | null;
  /** Values of merged cells are in all cells that they cover. */
  readonly fillsMerged: boolean;
}

/** Among the rows that were found: the last line of the header, and the first that is joined to it. */
interface FoundLines {
  readonly row: number;
  readonly first: number;
}

/** Null when the sheet has no cells. Throws Failed. */
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
  yield* read(leading, false);
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
  const columns = chosen.range === null ? widthOf(leading.rows.slice(found?.first ?? 0)) : widthOfRange(chosen);
  const blank = new Array<string>(columns).fill('');
  if (found === null) return { row: null, lines: 1, texts: blank, firstDataRow: leading.firstRow };
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
  return { row: row - 1, lines, texts: named, firstDataRow: row + 1, ...metaOf(settings.preamble) };
}

/** As many lines as the Template says, the last of them where it was found. */
function ofLines(found: FoundLines | null, headerRows: number | null): FoundLines | null {
  if (headerRows === null) return found;
  const row = Math.max(found?.row ?? 0, headerRows - 1);
  return { row, first: row - headerRows + 1 };
}

function metaOf(preamble: MetaSearch | null): Pick<SheetHeader, 'meta'> {
  return preamble === null ? {} : { meta: preamble.values };
}

/** Between the cells of a row, for patterns: what a sheet's cells are copied with. */
const CELL_SEPARATOR = '\t';

function* showAbove(preamble: MetaSearch, firstHeaderRow: number, read: ReadFirst): Coroutine<void> {
  const above = new LeadingRows(1, META_RECORDS_MAX);
  yield* read(above, false);
  for (const [index, texts] of above.rows.entries()) {
    const row = above.firstRow + index;
    if (row < firstHeaderRow && preamble.wants(row - 1)) preamble.take(row - 1, texts, CELL_SEPARATOR);
  }
}

/** A table says itself where its header is. */
function headerRowOf({ range, hasHeader }: ChosenSheet, { headerRow }: HeaderSettings): number | 'none' | null {
  if (range === null) return headerRow;
  return hasHeader ? range.firstRow - 1 : 'none';
}

function emptySheet(isBehindRows: boolean): null {
  if (isBehindRows) throw new Failed('MALFORMED_FILE', 'The header row lies behind the last row of the sheet.');
  return null;
}

/** The last line of the header and the first that is joined to it, among the rows that were found. */
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

/** Cells of the first rows beyond the header are columns too, as they are where a spreadsheet program writes CSV. */
function widthOf(rows: readonly (readonly string[])[]): number {
  return Math.max(1, ...rows.map((row) => row.findLastIndex((text) => text !== '') + 1));
}

function widthOfRange({ range }: ChosenSheet): number {
  return range === null ? 1 : range.lastColumn - range.firstColumn + 1;
}
