// A workbook ready to be read: its sheets, and readers of their cells that share its strings and styles.
import type { Coroutine } from '../../thread/coroutine.ts';
import type { ZipArchive } from '../zip/zip-archive.ts';
import type { CellRange } from './cell-range.ts';
import { malformedWorkbook } from './malformed-workbook.ts';
import { readMergedRanges } from './merged-cells.ts';
import { type GiveWay, readSharedStrings, type StringTools } from './shared-strings.ts';
import { SheetKernel } from './sheet-kernel.ts';
import { SheetReader } from './sheet-reader.ts';
import type { StringStore } from './string-store.ts';
import { readStyles } from './styles.ts';
import { readTables, type SheetTable } from './tables.ts';
import { readWorkbook, type Workbook, type WorkbookSheet } from './workbook.ts';

export class OpenWorkbook {
  readonly #archive: ZipArchive;
  readonly #workbook: Workbook;
  readonly #strings: StringStore | null;
  readonly #styles: Uint8Array;
  readonly #tools: StringTools;
  #kernel: SheetKernel | null = null;

  constructor(
    archive: ZipArchive,
    workbook: Workbook,
    strings: StringStore | null,
    styles: Uint8Array,
    tools: StringTools,
  ) {
    this.#archive = archive;
    this.#workbook = workbook;
    this.#strings = strings;
    this.#styles = styles;
    this.#tools = tools;
  }

  get sheets(): readonly WorkbookSheet[] {
    return this.#workbook.sheets;
  }

  /** Null where the workbook shares none. */
  get strings(): StringStore | null {
    return this.#strings;
  }

  tables(sheet: WorkbookSheet): Coroutine<SheetTable[]> {
    return readTables(this.#archive, sheet.part ?? '');
  }

  /** The sheet must have cells. Throws Failed. */
  read(
    sheet: WorkbookSheet,
    settings: { readonly skipHidden: boolean; readonly range: CellRange | null },
  ): SheetReader {
    const source = sheet.part === null ? null : this.#archive.open(sheet.part);
    if (source === null) throw malformedWorkbook('a sheet that it lists is missing');
    const { is1904 } = this.#workbook;
    const countShared = (bytes: number): void => this.#archive.countRepeated(bytes);
    const cells = { strings: this.#strings, styles: this.#styles, is1904 };
    const { room, stretch } = this.#tools;
    if (stretch !== null) this.#kernel ??= new SheetKernel(stretch, cells);
    return new SheetReader(source, { ...settings, ...cells, room, countShared, kernel: this.#kernel });
  }

  /** Merged cells, by their first row. Throws Failed. */
  *mergedRanges(sheet: WorkbookSheet, giveWay: GiveWay): Coroutine<readonly CellRange[]> {
    const source = sheet.part === null ? null : this.#archive.open(sheet.part);
    return source === null ? [] : yield* readMergedRanges(source, this.#tools.room, giveWay);
  }

  /** See ZipArchive. Throws Failed. */
  countRepeated(bytes: number): void {
    this.#archive.countRepeated(bytes);
  }

  close(): void {
    this.#strings?.close();
  }
}

/** Reads everything but the sheets. Throws Failed. */
export function* openWorkbook(archive: ZipArchive, tools: StringTools): Coroutine<OpenWorkbook> {
  const workbook = yield* readWorkbook(archive);
  const { stylesPart, sharedStringsPart } = workbook;
  const styles = yield* readStyles(stylesPart === null ? null : archive.open(stylesPart), archive.giveWay);
  const source = sharedStringsPart === null ? null : archive.open(sharedStringsPart);
  if (source === null) return new OpenWorkbook(archive, workbook, null, styles, tools);
  try {
    const strings = yield* readSharedStrings(source, tools);
    return new OpenWorkbook(archive, workbook, strings, styles, tools);
  } finally {
    source.close();
  }
}
