// Data that all workbooks of one Template and schema share: the frame, the texts around cells, and the header row.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import type { Column, ColumnType, Schema } from '../../batch/schema.ts';
import { META_NULL } from '../../kernel/layout/cells.ts';
import { type SheetColumnText, type SheetForm, sheetCell } from '../../kernel/plain/emit-sheet.ts';
import { Failed } from '../../protocol/failure.ts';
import { type TimeZone, timeZone } from '../../values/time-zone.ts';
import type { OutputForm } from '../format.ts';
import type { ColumnLook, WorkbookFrame, WorkbookLook } from './workbook-frame.ts';
import {
  CELL_UNITS_MAX,
  columnLetters,
  formsOf,
  SHEET_COLUMNS_MAX,
  tooManyColumns,
  type XlsxSettings,
} from './xlsx-section.ts';

// Local times of columns with a clock (Column.clock). A workbook cell contains a time without a time zone, so the
// zone's offset is added to each instant before a row is written.

const MICROSECONDS_PER_SECOND = 1_000_000n;
/** Bytes of a typed cell. */
const WORD_BYTES = 8;

/** Zones by column. Null if no column has a clock other than UTC. */
type Clocks = readonly (TimeZone | null)[] | null;

function clocksOf(schema: Schema): Clocks {
  const clocks = schema.map(({ type, clock }) => (type === 'datetime' && clock !== undefined ? timeZone(clock) : null));
  return clocks.every((zone) => zone === null) ? null : clocks;
}

/** Returns the same rows with local times. Does not change `batch`. */
export function withLocalTimes(batch: Batch, clocks: Clocks): Batch {
  if (clocks === null) return batch;
  const columns = batch.columns.map((column, index): ColumnData => {
    const zone = clocks[index] ?? null;
    return zone === null || column.kind !== 'typed' ? column : { ...column, at: localTimes(batch, column, zone) };
  });
  return batch.withColumns(columns);
}

function localTimes(batch: Batch, { at, meta }: TypedColumn, zone: TimeZone): number {
  const { arena, heap, live } = batch;
  const local = arena.take(batch.rows * WORD_BYTES);
  const { i64, u8 } = heap;
  for (let position = 0; position < live; position++) {
    const row = batch.physicalRow(position);
    if (u8[meta + row] === META_NULL) continue;
    const micros = i64[(at >>> 3) + row]!;
    const offset = zone.offsetAt(Math.floor(Number(micros) / Number(MICROSECONDS_PER_SECOND)));
    i64[(local >>> 3) + row] = micros + BigInt(offset) * MICROSECONDS_PER_SECOND;
  }
  return local;
}

export interface XlsxForm {
  readonly settings: XlsxSettings;
  readonly frame: WorkbookFrame;
  readonly columns: readonly SheetColumnText[];
  readonly types: readonly ColumnType[];
  readonly clocks: Clocks;
  /** The row of column names; empty if the output has no header. */
  readonly header: string;
}

/** Default number formats. `@` keeps a text a text when a user edits the cell. */
const FORMATS: Readonly<Record<SheetForm, string | null>> = {
  text: '@',
  number: null,
  boolean: null,
  date: 'yyyy-mm-dd',
  datetime: 'yyyy-mm-dd hh:mm:ss',
  time: 'hh:mm:ss',
};

/** XML of a cell between its style and its content. */
const OPENINGS: Readonly<Record<SheetForm, string>> = {
  text: ' t="inlineStr"><is><t',
  number: '><v>',
  boolean: ' t="b"><v>',
  date: '><v>',
  datetime: '><v>',
  time: '><v>',
};

/** Widths in characters. Dates and times that do not fit would be shown as hash marks. */
const DATE_WIDTH = 12;
const DATETIME_WIDTH = 20;
const NAME_WIDTH_MIN = 10;
const NAME_WIDTH_MAX = 40;
/** Additional width for the filter button and bold letters. */
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
  const types = schema.map(({ type }) => type);
  return { settings, frame, columns: texts, types, clocks: clocksOf(schema), header };
}

type FrameOf = (look: WorkbookLook) => WorkbookFrame;

/** @throws Failed TEMPLATE_CHECK_FAILED for columns that do not fit into a sheet */
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

/** Form of empty cells. If the input has native cell kinds, cells of a text column may have any form. */
function emptyForm(type: ColumnType, hasKinds: boolean): SheetForm {
  if (type === 'boolean' || type === 'date' || type === 'datetime') return type;
  if (type === 'text' || type === 'json') return hasKinds ? 'number' : 'text';
  return 'number';
}
