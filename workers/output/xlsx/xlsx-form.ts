// What all workbooks of one Template and one schema have in common: the frame, the texts around cells, the header row.
import type { Column, ColumnType } from '../../batch/schema.ts';
import { type SheetColumnText, type SheetForm, sheetCell } from '../../kernel/plain/emit-sheet.ts';
import { Failed } from '../../protocol/failure.ts';
import type { OutputForm } from '../format.ts';
import { columnLetters } from './column-letters.ts';
import { formsOf } from './number-format.ts';
import { CELL_UNITS_MAX, SHEET_COLUMNS_MAX, tooManyColumns } from './sheet-limits.ts';
import type { ColumnLook, WorkbookFrame, WorkbookLook } from './workbook-frame.ts';
import type { XlsxSettings } from './xlsx-section.ts';

export interface XlsxForm {
  readonly settings: XlsxSettings;
  readonly frame: WorkbookFrame;
  readonly columns: readonly SheetColumnText[];
  readonly types: readonly ColumnType[];
  /** The row of column names; nothing where the output has none. */
  readonly header: string;
}

/** Default formats. A text stays one when it is edited. */
const FORMATS: Readonly<Record<SheetForm, string | null>> = {
  text: '@',
  number: null,
  boolean: null,
  date: 'yyyy-mm-dd',
  datetime: 'yyyy-mm-dd hh:mm:ss',
  time: 'hh:mm:ss',
};

/** What stands in a cell behind its style, up to the content. */
const OPENINGS: Readonly<Record<SheetForm, string>> = {
  text: ' t="inlineStr"><is><t',
  number: '><v>',
  boolean: ' t="b"><v>',
  date: '><v>',
  datetime: '><v>',
  time: '><v>',
};

/** Characters: dates and times that do not fit are shown as hash marks. */
const DATE_WIDTH = 12;
const DATETIME_WIDTH = 20;
const NAME_WIDTH_MIN = 10;
const NAME_WIDTH_MAX = 40;
/** Beside the name: the button of the filter, and bold letters. */
const NAME_EXTRA = 3;

export function xlsxForm({ settings, schema }: OutputForm<XlsxSettings>, frameOf: FrameOf): XlsxForm {
  const looks = schema.map((column) => lookOf(column, settings));
  const frame = frameOf({ columns: looks, freezeHeader: settings.freezeHeader, autofilter: settings.autofilter });
  const made = new Map<WorkbookFrame['styles'][number], SheetColumnText['forms']>();
  const texts = frame.styles.map((styles, index): SheetColumnText => {
    const forms = made.get(styles) ?? formsWith(styles);
    made.set(styles, forms);
    return { open: `<c r="${columnLetters(index)}`, forms };
  });
  const header = settings.header ? headerRow(schema, texts, frame.headerStyle) : '';
  return { settings, frame, columns: texts, types: schema.map(({ type }) => type), header };
}

type FrameOf = (look: WorkbookLook) => WorkbookFrame;

/** @throws Failed TEMPLATE_CHECK_FAILED for columns that no sheet can hold */
export function checkSheetColumns(schema: readonly Column[], hasHeader: boolean): void {
  if (schema.length > SHEET_COLUMNS_MAX) throw new Failed('TEMPLATE_CHECK_FAILED', tooManyColumns(schema.length));
  const long = hasHeader ? schema.findIndex(({ name }) => name.length > CELL_UNITS_MAX) : -1;
  if (long === -1) return;
  const message = `The name of column ${long + 1} of the output has more than the ${CELL_UNITS_MAX} characters of a cell.`;
  throw new Failed('TEMPLATE_CHECK_FAILED', message);
}

function headerRow(schema: readonly Column[], texts: readonly SheetColumnText[], style: number): string {
  const text = styleText(style) + OPENINGS.text;
  const cells = schema.map(({ name }, index) => {
    const { open, forms } = texts[index]!;
    return sheetCell({ open, forms: { ...forms, text } }, 1, { form: 'text', text: name });
  });
  return `<row r="1">${cells.join('')}</row>`;
}

function formsWith(styles: WorkbookFrame['styles'][number]): SheetColumnText['forms'] {
  const formOf = (form: SheetForm): string => `${styleText(styles[form])}${OPENINGS[form]}`;
  return {
    text: formOf('text'),
    number: formOf('number'),
    boolean: formOf('boolean'),
    date: formOf('date'),
    datetime: formOf('datetime'),
    time: formOf('time'),
  };
}

function styleText(style: number): string {
  return style === 0 ? '"' : `" s="${style}"`;
}

function lookOf({ name, type, hasKinds }: Column, { widths, numberFormat }: XlsxSettings): ColumnLook {
  const code = numberFormat.get(name);
  const chosen = code === undefined ? [] : formsOf(code).map((form): [SheetForm, string] => [form, code]);
  const formats = chosen.length === 0 ? FORMATS : { ...FORMATS, ...Object.fromEntries(chosen) };
  const isNative = hasKinds === true && type === 'text';
  return { width: widths.get(name) ?? widthOf(name, type, isNative), formats, empty: emptyForm(type, isNative) };
}

function widthOf(name: string, type: ColumnType, hasKinds: boolean): number {
  const width = Math.min(Math.max(name.length + NAME_EXTRA, NAME_WIDTH_MIN), NAME_WIDTH_MAX);
  if (type === 'datetime' || hasKinds) return Math.max(width, DATETIME_WIDTH);
  return type === 'date' ? Math.max(width, DATE_WIDTH) : width;
}

/** Cells of a column whose file knows types are of any. */
function emptyForm(type: ColumnType, hasKinds: boolean): SheetForm {
  if (type === 'boolean' || type === 'date' || type === 'datetime') return type;
  if (type === 'text' || type === 'json') return hasKinds ? 'number' : 'text';
  return 'number';
}
