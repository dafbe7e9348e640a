// The format xlsx: workbooks of spreadsheets. What writes them is loaded when the first one is written.
import { defineOutputFormat } from '../format.ts';
import { CELL_UNITS_MAX, SHEET_ROWS_MAX } from './sheet-limits.ts';
import { checkSheetColumns, xlsxForm } from './xlsx-form.ts';
import { xlsxSection } from './xlsx-section.ts';

const MIME_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** @param sheetRowsMax rows of a sheet with the header, as spreadsheets have them unless a test wants fewer */
export function xlsxFormat(sheetRowsMax: number = SHEET_ROWS_MAX) {
  return defineOutputFormat({
    name: 'xlsx',
    section: xlsxSection,
    keepsBytes: false,
    needsTypes: true,
    file: ({ header, overflow }) => ({
      mimeType: MIME_TYPE,
      extension: 'xlsx',
      splittable: false,
      limits: {
        rowsMax: overflow === 'next_sheet' ? null : sheetRowsMax - (header ? 1 : 0),
        cellUnitsMax: CELL_UNITS_MAX,
      },
    }),
    async prepare(form) {
      checkSheetColumns(form.schema, form.settings.header);
      const [{ workbookFrame }, { XlsxWriter }] = await Promise.all([
        import('./workbook-frame.ts'),
        import('./xlsx-writer.ts'),
      ]);
      const shared = xlsxForm(form, workbookFrame);
      return (tools) => new XlsxWriter(shared, sheetRowsMax, tools);
    },
  });
}

export const xlsx = xlsxFormat();
