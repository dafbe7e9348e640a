// From an archive to a reader of the rows of its workbook, or to the one other file whose envelope it is.
import { Failed } from '../../protocol/failure.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import type { PackedFile, WholeFileSettings } from '../format.ts';
import { MetaSearch } from '../meta-values.ts';
import type { FileHead, RowReader } from '../reader.ts';
import type { WholeSource } from '../source/source.ts';
import { packedFile } from '../zip/packed-file.ts';
import { ZipArchive } from '../zip/zip-archive.ts';
import type { CellRange } from './cell-range.ts';
import { type ChosenSheet, chooseSheets, type SheetChoice } from './chosen-sheets.ts';
import { explainWorkbook, measureSheets } from './describe-sheets.ts';
import { inPart } from './malformed-workbook.ts';
import { type OpenWorkbook, openWorkbook } from './open-workbook.ts';
import { RowBatch } from './row-batch.ts';
import type { GiveWay } from './shared-strings.ts';
import { findSheetHeader, type SheetHeader } from './sheet-header.ts';
import { WindowRoom } from './window-room.ts';
import { type ReadSheet, readUntilFull, SheetPass, WorkbookReader } from './workbook-reader.ts';
import { XmlStretch } from './xml-stretch.ts';

/** See WholeFileFormat.within. */
export function packedIn(source: WholeSource, { inflatedBytesMax }: WholeFileSettings): PackedFile | null {
  return packedFile(new ZipArchive(source, inflatedBytesMax, () => null), source);
}

/** @param format name of the format, and type in the report. Throws Failed. */
export function* openXlsx(format: string, source: WholeSource, settings: WholeFileSettings): Coroutine<RowReader> {
  const { heap } = settings.arena;
  const giveWay: GiveWay = () => (settings.clock?.isDue() === true ? (settings.giveWay?.() ?? null) : null);
  const archive = new ZipArchive(source, settings.inflatedBytesMax, giveWay);
  const room = new WindowRoom(heap, settings.largeRow);
  const stretch = new XmlStretch(settings.kernel.exports, heap);
  const workbook = yield* openWorkbook(archive, { heap, spill: settings.spill, room, giveWay, stretch });
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
    raggedFails: input.csv.ragged === 'fail',
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
    hasKinds: header.texts.map(() => true),
    ...(header.meta !== undefined && { meta: header.meta }),
  };
  const rows = new RowBatch(arena, rules);
  return new WorkbookReader({ workbook, sheets, head, rows, skipHidden: input.hidden === 'skip', close });
}

/** Reads the headers of all sheets that are wanted: a sheet that differs is refused before the first row. */
function* sheetsOf(
  workbook: OpenWorkbook,
  { sheets, form }: SheetChoice,
  settings: WholeFileSettings,
  giveWay: GiveWay,
): Coroutine<ReadSheet[]> {
  const read: ReadSheet[] = [];
  for (const chosen of sheets) {
    const found = yield* openSheet(workbook, chosen, settings, giveWay);
    if (found === null) continue;
    read.push(found);
    if (form === 'first') return read;
    refuseOther(read[0]!.header, found.header, chosen);
  }
  if (read.length > 0) return read;
  const what =
    form === 'named'
      ? 'The sheet that the Template reads has no cells.'
      : 'No visible sheet of the workbook has cells.';
  throw new Failed('MALFORMED_FILE', what);
}

/** For those who look at a file, and read nothing of it. */
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

/** Null for a sheet without cells. */
function* openSheet(
  workbook: OpenWorkbook,
  chosen: ChosenSheet,
  { input, overrides, expected }: WholeFileSettings,
  giveWay: GiveWay,
): Coroutine<ReadSheet | null> {
  const skipHidden = input.hidden === 'skip';
  const fillsMerged = input.merged === 'fill';
  const merged: readonly CellRange[] = fillsMerged ? yield* mergedOf(workbook, chosen, giveWay) : [];
  const preamble = input.preamble.length === 0 ? null : new MetaSearch(input.preamble, input.nullValues);
  const header = yield* findSheetHeader(
    chosen,
    (sink, isMerged) =>
      readUntilFull(
        new SheetPass(workbook, chosen, { skipHidden, merged: isMerged ? merged : [], sink }),
        sink,
        giveWay,
      ),
    {
      headerRow: overrides.headerRow ?? input.csv.headerRow,
      headerRows: input.csv.headerRows,
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

function refuseOther(first: SheetHeader, other: SheetHeader, { number }: ChosenSheet): void {
  const isSame = first.texts.length === other.texts.length && first.texts.every((text, at) => text === other.texts[at]);
  if (isSame) return;
  const message = `Sheet ${number} has another header than the first sheet that the Template reads: sheets that are read one after the other must have the same columns.`;
  throw new Failed('TEMPLATE_COLUMNS_MISSING', message, []);
}
