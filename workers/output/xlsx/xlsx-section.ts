// What a Template sets of workbooks: the section `output.xlsx`.
import { Type } from '../../bundled/type-box.ts';
import { pointerSegment } from '../../template/pointer.ts';
import { defineOutputSection } from '../format.ts';
import { numberFormatProblem } from './number-format.ts';
import { SHEET_COLUMNS_MAX, sheetNameProblem, tooManyColumns } from './sheet-limits.ts';

export interface XlsxSettings {
  readonly sheet: string;
  readonly header: boolean;
  readonly freezeHeader: boolean;
  readonly autofilter: boolean;
  /** By names of columns, in characters. */
  readonly widths: ReadonlyMap<string, number>;
  /** Format codes by names of columns. */
  readonly numberFormat: ReadonlyMap<string, string>;
  readonly overflow: 'truncate' | 'next_sheet';
}

/** What a spreadsheet takes as a column's width, in characters. */
const WIDTH_MAX = 255;

const written = Type.Object({
  sheet: Type.String({ default: 'Data', minLength: 1, description: 'Name of the sheet.' }),
  header: Type.Boolean({ default: true, description: 'The row of column names.' }),
  freeze_header: Type.Boolean({ default: false, description: 'The header stays in sight.' }),
  autofilter: Type.Boolean({ default: false, description: 'Buttons in the header by which rows are filtered.' }),
  widths: Type.Record(Type.String(), Type.Number({ exclusiveMinimum: 0, maximum: WIDTH_MAX }), {
    default: {},
    description: 'Widths of columns in characters, `{column: 12}`; of others by name and type.',
  }),
  number_format: Type.Record(Type.String(), Type.String({ minLength: 1 }), {
    default: {},
    description: 'Format codes of columns, such as `{amount: "#,##0.00", booked_on: dd.mm.yyyy}`.',
  }),
  overflow: Type.Enum(['truncate', 'next_sheet'], {
    default: 'truncate',
    description: 'Rows beyond the 1,048,576 of a sheet: left out (the Run is `truncated`), or on further sheets.',
  }),
});

export const xlsxSection = defineOutputSection({
  name: 'xlsx',
  schema: written,
  settings: (xlsx): XlsxSettings => ({
    sheet: xlsx.sheet,
    header: xlsx.header,
    freezeHeader: xlsx.freeze_header,
    autofilter: xlsx.autofilter,
    widths: new Map(Object.entries(xlsx.widths)),
    numberFormat: new Map(Object.entries(xlsx.number_format)),
    overflow: xlsx.overflow,
  }),
  check({ sheet, header, freezeHeader, autofilter, numberFormat }, _format, report) {
    const problem = sheetNameProblem(sheet);
    if (problem !== null) report('/sheet', 'BAD_VALUE', problem);
    const noHeader = 'Without a header (header: false) there is none. Leave this out.';
    if (!header && freezeHeader) report('/freeze_header', 'BAD_VALUE', noHeader);
    if (!header && autofilter) report('/autofilter', 'BAD_VALUE', noHeader);
    for (const [column, code] of numberFormat) {
      const wrong = numberFormatProblem(code);
      if (wrong !== null) report(`/number_format/${pointerSegment(column)}`, 'BAD_VALUE', wrong);
    }
  },
  checkColumns(_settings, columns, report) {
    if (columns.length > SHEET_COLUMNS_MAX) report('', 'BAD_VALUE', tooManyColumns(columns.length));
  },
});
