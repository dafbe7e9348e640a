// The format xlsx: workbooks of spreadsheets. The writer is loaded with the first workbook.
import { defineOutputFormat } from '../format.ts';
import { checkSheetColumns, xlsxForm } from './xlsx-form.ts';
import { CELL_UNITS_MAX, SHEET_ROWS_MAX, xlsxSection } from './xlsx-section.ts';

const MIME_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** @param sheetRowsMax maximum number of rows of a sheet, including the header; tests use fewer */
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
