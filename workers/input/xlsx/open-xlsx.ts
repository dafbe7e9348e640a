// Opens a reader for the rows of a workbook, or the only file inside an archive that wraps it.

import { NATIVE_KINDS } from '../../kernel/layout/cells.ts';
import { Failed } from '../../protocol/failure.ts';
import { type Coroutine, inSlices } from '../../scheduling/coroutine.ts';
import { explainHeader } from '../detect/explain-form.ts';
import { listed } from '../detect/records.ts';
import { type Choice, certain, type FileExplanation, rounded, type SheetSize } from '../explanation.ts';
import type { PackedFile, StackedEntry, WholeFileSettings } from '../format.ts';
import { MetaSearch } from '../meta-values.ts';
import type { FileHead, RowReader } from '../reader.ts';
import type { WholeSource } from '../source/source.ts';
import { areSame, type FirstTable, firstTable, placesInFirst } from '../stacked-columns.ts';
import { packedFile } from '../zip/packed-file.ts';
import { ZipArchive } from '../zip/zip-archive.ts';
import type { CellRange } from './cell-range.ts';
import type { CellSink } from './cell-sink.ts';
import { LeadingRows } from './leading-rows.ts';
import { inPart, MERGED_RANGES_MAX, malformedWorkbook } from './limits.ts';
import { type ChosenSheet, chooseSheets, type OpenWorkbook, openWorkbook, type SheetChoice } from './open-workbook.ts';
import { RowBatch } from './row-batch.ts';
import type { GiveWay } from './shared-strings.ts';
import { findSheetHeader, type SheetHeader } from './sheet-header.ts';
import { type ReadSheet, readUntilFull, SheetPass, WorkbookReader } from './workbook-reader.ts';
import { XmlStretch } from './xml-stretch.ts';
import { WindowMemory } from './xml-window.ts';

/** See WholeFileFormat.within. */
export function* packedIn(
  source: WholeSource,
  settings: WholeFileSettings,
): Coroutine<PackedFile | readonly StackedEntry[] | null> {
  const { inflatedBytesMax, input } = settings;
  const archive = yield* inSlices(
    ZipArchive.read(source, inflatedBytesMax, () => null),
    settings,
  );
  const wanted = { file: input.archiveFile, files: input.archiveFiles };
  return yield* inSlices(packedFile(archive, source, wanted), settings);
}

/**
 * Throws Failed.
 * @param format name of the format, and its type in the report
 */
export function* openXlsx(format: string, source: WholeSource, settings: WholeFileSettings): Coroutine<RowReader> {
  const { heap } = settings.arena;
  const giveWay: GiveWay = () => (settings.clock?.isDue() === true ? (settings.giveWay?.() ?? null) : null);
  const archive = yield* inSlices(ZipArchive.read(source, settings.inflatedBytesMax, giveWay), settings);
  const windowMemory = new WindowMemory(heap, settings.largeRow);
  const stretch = new XmlStretch(settings.kernel.exports, heap);
  const workbook = yield* openWorkbook(archive, { heap, spill: settings.spill, windowMemory, giveWay, stretch });
  try {
    return yield* openRows({ format, workbook, close: () => source.close() }, settings, giveWay);
  } catch (error) {
    workbook.close();
    throw error;
  }
}

interface OpenFile {
  readonly format: string;
  readonly workbook: OpenWorkbook;
  readonly close: () => void;
}

function* openRows(
  { format, workbook, close }: OpenFile,
  settings: WholeFileSettings,
  giveWay: GiveWay,
): Coroutine<RowReader> {
  const { input, arena } = settings;
  const choice = yield* chooseSheets(workbook, input);
  const sheets = yield* sheetsOf(workbook, choice, settings, giveWay);
  if (settings.onSheets !== undefined) yield* describe(workbook, choice, sheets, { settings, giveWay });
  const { header } = sheets[0]!;
  const hasSheetName = input.sheetInto !== null;
  const columns = header.texts.length;
  const rules = {
    columns,
    hasSheetName,
    nullValues: input.nullValues,
    ragged: input.csv.ragged,
  };
  const head: FileHead = {
    format,
    type: format,
    encoding: 'utf-8',
    delimiter: null,
    quote: null,
    headerRow: header.row,
    ...(header.lines > 1 && { headerLines: header.lines }),
    headers: hasSheetName ? [...header.texts, input.sheetInto!] : header.texts,
    ...(hasSheetName && { hasSheetName }),
    hasKinds: header.texts.map(() => true),
    ...(header.meta !== undefined && { meta: header.meta }),
  };
  const rows = new RowBatch(arena, rules);
  const isDue = (): boolean => settings.clock?.isDue() === true;
  return new WorkbookReader({ workbook, sheets, head, rows, skipHidden: input.hidden === 'skip', isDue, close });
}

/**
 * Reads the headers of all chosen sheets first, so that a sheet with a different header is refused before the first
 * row.
 */
function* sheetsOf(
  workbook: OpenWorkbook,
  { sheets, form }: SheetChoice,
  settings: WholeFileSettings,
  giveWay: GiveWay,
): Coroutine<ReadSheet[]> {
  const read: ReadSheet[] = [];
  let first: FirstSheet | null = null;
  let mergedRanges = 0;
  for (const chosen of sheets) {
    const rest = giveWay();
    if (rest !== null) yield rest;
    const found = yield* openSheet(workbook, chosen, settings, giveWay);
    if (found === null) continue;
    first ??= yield* firstSheet(found.header, settings, form);
    const order = yield* orderOf(first, found, settings);
    mergedRanges += found.merged.length;
    if (mergedRanges > MERGED_RANGES_MAX)
      throw malformedWorkbook(`the sheets that are read have more than ${MERGED_RANGES_MAX} merged cells`);
    // All sheets share the text objects of one header.
    read.push({ ...found, order, header: { ...found.header, texts: first.allTexts } });
    if (form === 'first') return read;
  }
  if (read.length > 0) return read;
  const what =
    form === 'named'
      ? 'The sheet that the Template reads has no cells.'
      : 'No visible sheet of the workbook has cells.';
  throw new Failed('MALFORMED_FILE', what);
}

/** Describes the file for `inspect`. Reads no rows for a Run. */
function* describe(
  workbook: OpenWorkbook,
  choice: SheetChoice,
  read: readonly ReadSheet[],
  { settings, giveWay }: { readonly settings: WholeFileSettings; readonly giveWay: GiveWay },
): Coroutine<void> {
  const sizes = yield* measureSheets(workbook, read, giveWay);
  settings.onSheets?.(sizes);
  settings.onExplained?.(yield* explainWorkbook(workbook, choice, read[0]!, { sizes, giveWay }));
}

/** Returns null for a sheet without cells. */
function* openSheet(
  workbook: OpenWorkbook,
  chosen: ChosenSheet,
  { input, overrides, expected }: WholeFileSettings,
  giveWay: GiveWay,
): Coroutine<Omit<ReadSheet, 'order'> | null> {
  const skipHidden = input.hidden === 'skip';
  const fillsMerged = input.merged === 'fill';
  const merged: readonly CellRange[] = fillsMerged ? yield* mergedOf(workbook, chosen, giveWay) : [];
  const preamble = input.preamble.length === 0 ? null : new MetaSearch(input.preamble, input.nullValues);
  const header = yield* findSheetHeader(
    chosen,
    function* (sink, isMerged) {
      const pass = new SheetPass(workbook, chosen, { skipHidden, merged: isMerged ? merged : [], sink });
      yield* readUntilFull(pass, sink, giveWay);
      return pass.columns;
    },
    {
      headerRow: overrides.headerRow ?? input.csv.headerRow,
      headerRows: input.csv.headerRows,
      columns: input.csv.columns,
      expected,
      giveWay,
      fillsMerged,
      preamble,
    },
  );
  return header === null ? null : { chosen, header, merged };
}

function mergedOf(workbook: OpenWorkbook, { sheet, number }: ChosenSheet, giveWay: GiveWay) {
  return inPart(() => `the merged cells of sheet ${number}`, workbook.mergedRanges(sheet, giveWay));
}

interface FirstSheet extends FirstTable {
  /** Its header with the notes beside it and the added columns. */
  readonly allTexts: readonly string[];
}

function* firstSheet(
  header: SheetHeader,
  settings: WholeFileSettings,
  form: SheetChoice['form'],
): Coroutine<FirstSheet> {
  const texts = ownTexts(header);
  const expected = form === 'first' ? null : settings.expected;
  const beside = { width: header.texts.length, sheetInto: settings.input.sheetInto };
  const table = yield* inSlices(firstTable(texts, expected, beside), settings);
  return { ...table, allTexts: [...header.texts, ...table.added] };
}

/**
 * Finds the columns of a sheet in the first one. Throws Failed if the headers differ.
 * @returns see SheetSettings; null if all places are the same
 */
function* orderOf(
  first: FirstSheet,
  { header, chosen, merged }: Omit<ReadSheet, 'order'>,
  settings: WholeFileSettings,
): Coroutine<readonly number[] | null> {
  const texts = ownTexts(header);
  const isSame = areSame(first.texts, texts);
  if (isSame && first.added.length === 0) return null;
  const places = yield* inSlices(placesInFirst(first, texts, settings.expected), settings);
  if (places !== null && (isSame || merged.length === 0)) return wholeOrder(places, first.allTexts.length);
  throw new Failed('TEMPLATE_COLUMNS_MISSING', otherHeader(chosen.number, places !== null), { columns: [] });
}

/**
 * Cells after the header of a sheet belong to no column, even if the first sheet has more columns.
 * @param columns number of columns of the first sheet
 */
function wholeOrder(places: readonly number[], columns: number): readonly number[] {
  const beyond = Math.max(0, columns - places.length);
  return [...places, ...new Array<number>(beyond).fill(columns)];
}

/** The header without the notes beside it. */
function ownTexts({ texts, tableColumns }: SheetHeader): readonly string[] {
  return texts.slice(0, tableColumns);
}

function otherHeader(number: number, fits: boolean): string {
  if (fits)
    return (
      `Sheet ${number} has merged cells, and its columns are in a different order than on the first sheet that the Template reads. ` +
      'Remove "merged: fill" from the input of the Template, or give the sheet the same columns in the same order.'
    );
  return (
    `Sheet ${number} has a different header than the first sheet that the Template reads: sheets that are read one after ` +
    'the other must have the same columns, in any order. Name the sheets that belong together in input.sheet, or the ' +
    'columns that the Template needs (input.columns with other_columns: drop).'
  );
}

// Describes a workbook for people before they write a Template: all sheets with their sizes, and why one of them is
// read. Reads every sheet to its end, so no Run uses it.

/** @param read the sheets that a Run would read */
export function* measureSheets(
  workbook: OpenWorkbook,
  read: readonly ReadSheet[],
  giveWay: GiveWay,
): Coroutine<SheetSize[]> {
  const isRead = new Set(read.map(({ chosen }) => chosen.number));
  const sizes: SheetSize[] = [];
  for (const [index, sheet] of workbook.sheets.entries()) {
    const { name, visibility, part } = sheet;
    const number = index + 1;
    const size = new SizeSink();
    let problem: Failed | null = null;
    try {
      if (part !== null) yield* readAll(workbook, { sheet, number, range: null, hasHeader: true }, size, giveWay);
    } catch (error) {
      // A sheet that is not read may be broken. The other sheets are still reported.
      if (!(error instanceof Failed)) throw error;
      problem = error;
    }
    const { rows, kinds } = size;
    sizes.push({ number, name, visibility, isRead: isRead.has(number), rows, columns: kinds.length, kinds, problem });
  }
  return sizes;
}

/** Explains the choice of the sheet and of the header row. */
export function* explainWorkbook(
  workbook: OpenWorkbook,
  { form }: SheetChoice,
  { chosen, header }: ReadSheet,
  { sizes, giveWay }: { readonly sizes: readonly SheetSize[]; readonly giveWay: GiveWay },
): Coroutine<FileExplanation> {
  const sheet = form === 'first' ? choiceOf(sizes) : certain('what to read of the workbook is declared');
  if (chosen.range !== null) return { sheet, headerRow: certain('the table says whether its first row is a header') };
  const leading = new LeadingRows();
  yield* readAll(workbook, chosen, leading, giveWay);
  const headerRow = header.row === null ? null : header.row + 1 - leading.firstRow;
  const choice = explainHeader(listed(leading.rows), { headerRow, headerLines: header.lines });
  const runnerUp = choice.runnerUp === null ? null : choice.runnerUp + leading.firstRow - 1;
  return { sheet, headerRow: { ...choice, runnerUp } };
}

function readAll(workbook: OpenWorkbook, chosen: ChosenSheet, sink: CellSink, giveWay: GiveWay): Coroutine<void> {
  return readUntilFull(new SheetPass(workbook, chosen, { skipHidden: false, merged: [], sink }), sink, giveWay);
}

/** A small sheet before a large one may be a cover sheet. */
function choiceOf(sizes: readonly SheetSize[]): Choice<number> {
  const own = cellsOf(sizes.find(({ isRead }) => isRead)!);
  const others = sizes.filter((size) => !size.isRead && size.visibility === 'visible' && cellsOf(size) > 0);
  const next = others.toSorted((left, right) => cellsOf(right) - cellsOf(left))[0];
  const first = 'it is the first visible sheet with cells';
  if (next === undefined) return { confidence: 1, runnerUp: null, reason: `${first}, and the only one` };
  const reason = `${first}, ${own} of them; sheet ${next.number} has ${cellsOf(next)}`;
  return { confidence: rounded(own / (own + cellsOf(next))), runnerUp: next.number, reason };
}

function cellsOf({ kinds }: SheetSize): number {
  return kinds.reduce((sum, counts) => sum + counts.reduce((cells, count) => cells + count, 0), 0);
}

class SizeSink implements CellSink {
  /** Last row with a non-empty cell, as numbered in the sheet, from 1. */
  rows = 0;
  readonly kinds: Float64Array[] = [];
  #row = 0;

  beginRow(row: number): void {
    this.#row = row;
  }

  cell(column: number, kind: number, _bytes: Uint8Array, start: number, end: number): void {
    if (end === start) return;
    this.#reach(column);
    this.kinds[column]![kind]!++;
  }

  lost(column: number): void {
    this.#reach(column);
  }

  endRow(): void {}

  #reach(column: number): void {
    this.rows = this.#row;
    while (this.kinds.length <= column) this.kinds.push(new Float64Array(NATIVE_KINDS));
  }
}
