// Which cells of a workbook a Template reads: one sheet, several, or a table.
import { Failed } from '../../protocol/failure.ts';
import type { TemplateInput } from '../../template/template.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import { foldCase } from '../../values/text-edits.ts';
import type { CellRange } from './cell-range.ts';
import type { OpenWorkbook } from './open-workbook.ts';
import type { SheetTable } from './tables.ts';
import type { WorkbookSheet } from './workbook.ts';

export interface ChosenSheet {
  readonly sheet: WorkbookSheet;
  /** From 1, as the workbook lists it: how failures call it. */
  readonly number: number;
  /** The table's cells; null = all of the sheet. */
  readonly range: CellRange | null;
  /** False for a table without a header row. */
  readonly hasHeader: boolean;
}

/** What the Template asks for, in its order. */
export interface SheetChoice {
  readonly sheets: readonly ChosenSheet[];
  /** The first with cells is meant, or all of those: a sheet without is passed over. */
  readonly form: 'first' | 'all' | 'named';
}

/** Throws Failed. */
export function* chooseSheets(
  workbook: OpenWorkbook,
  { sheet, table }: Pick<TemplateInput, 'sheet' | 'table'>,
): Coroutine<SheetChoice> {
  const all = workbook.sheets.map((one, index) => ({ sheet: one, number: index + 1, range: null, hasHeader: true }));
  const named = namedSheets(sheet);
  const sheets = named === null ? all : named.map((name) => sheetOf(all, name));
  if (table !== null) return { sheets: [yield* tableOf(workbook, sheets, table)], form: 'named' };
  if (named !== null) return { sheets, form: 'named' };
  const visible = sheets.filter((one) => one.sheet.visibility === 'visible' && one.sheet.part !== null);
  return { sheets: visible, form: sheet === null ? 'first' : 'all' };
}

/** Null: no sheet is named. */
function namedSheets(sheet: TemplateInput['sheet']): readonly (string | number)[] | null {
  if (sheet === null || sheet === '*') return null;
  return Array.isArray(sheet) ? sheet : [sheet as string | number];
}

/** By its number from 1, or by its name: as it is written, else in any case, as spreadsheet programs tell sheets apart. */
function sheetOf(all: readonly ChosenSheet[], wanted: string | number): ChosenSheet {
  const found =
    typeof wanted === 'number'
      ? all[wanted - 1]
      : (all.find(({ sheet }) => sheet.name === wanted) ?? all.find(({ sheet }) => isSameName(sheet.name, wanted)));
  if (found !== undefined && found.sheet.part !== null) return found;
  const name = typeof wanted === 'number' ? `number ${wanted}` : JSON.stringify(wanted);
  throw new Failed('TEMPLATE_COLUMNS_MISSING', `The workbook lacks the sheet ${name}, which the Template reads.`, []);
}

function* tableOf(workbook: OpenWorkbook, sheets: readonly ChosenSheet[], name: string): Coroutine<ChosenSheet> {
  for (const chosen of sheets) {
    if (chosen.sheet.part === null) continue;
    const tables: readonly SheetTable[] = yield* workbook.tables(chosen.sheet);
    const table = tables.find((one) => isSameName(one.name, name));
    if (table === undefined) continue;
    const lastRow = table.range.lastRow - table.totalsRows;
    return { ...chosen, range: { ...table.range, lastRow }, hasHeader: table.headerRows > 0 };
  }
  const message = `The workbook lacks the table ${JSON.stringify(name)}, which the Template reads.`;
  throw new Failed('TEMPLATE_COLUMNS_MISSING', message, []);
}

function isSameName(name: string, wanted: string): boolean {
  return foldCase(name) === foldCase(wanted);
}
