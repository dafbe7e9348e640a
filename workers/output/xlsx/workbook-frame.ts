// All of a workbook but its rows, by exceljs: styles and number formats, widths, frozen header, filter, properties, and the
// parts that tie them together. It is loaded with the first workbook that is written: of exceljs only what makes XML, which
// takes a fifth of the memory and the time of the whole.
import RelationTypes from 'exceljs/lib/xlsx/rel-type.js';
import BookPart from 'exceljs/lib/xlsx/xform/book/workbook-xform.js';
import AppPart from 'exceljs/lib/xlsx/xform/core/app-xform.js';
import ContentTypesPart from 'exceljs/lib/xlsx/xform/core/content-types-xform.js';
import CorePart from 'exceljs/lib/xlsx/xform/core/core-xform.js';
import RelationshipsPart from 'exceljs/lib/xlsx/xform/core/relationships-xform.js';
import SheetPart from 'exceljs/lib/xlsx/xform/sheet/worksheet-xform.js';
import StylesPart from 'exceljs/lib/xlsx/xform/style/styles-xform.js';
import theme from 'exceljs/lib/xlsx/xml/theme1.js';
import type { SheetForm } from '../../kernel/plain/emit-sheet.ts';
import { columnLetters } from './column-letters.ts';

/** How a column looks. */
export interface ColumnLook {
  /** In characters of the default font. */
  readonly width: number;
  /** Format codes of its cells, by what they are; null: the general one. */
  readonly formats: Readonly<Record<SheetForm, string | null>>;
  /** What cells that hold nothing are formatted as. */
  readonly empty: SheetForm;
}

export interface WorkbookLook {
  readonly columns: readonly ColumnLook[];
  readonly freezeHeader: boolean;
  readonly autofilter: boolean;
}

/** A file of the workbook. */
export interface WorkbookPart {
  readonly name: string;
  readonly xml: string;
}

export interface WorkbookFrame {
  /** Numbers of styles, by column. */
  readonly styles: readonly Readonly<Record<SheetForm, number>>[];
  readonly headerStyle: number;
  /** What is written before the sheets. */
  readonly first: readonly WorkbookPart[];
  /** What of a sheet stands before its rows, and behind them. */
  readonly beforeRows: string;
  behindRows(lastRow: number): string;
  /** What is written behind the sheets. */
  last(sheetNames: readonly string[]): readonly WorkbookPart[];
}

/** The first moment that a ZIP can name: a workbook tells nothing of its day. */
const MADE_AT = new Date('1980-01-01T00:00:00Z');
const PROGRAM = 'template-run';

/** exceljs's own font of all cells, bold. */
const HEADER_FONT = { bold: true, size: 11, color: { theme: 1 }, name: 'Calibri', family: 2, scheme: 'minor' };

const NO_ROWS = '<sheetData/>';

export function workbookFrame({ columns, freezeHeader, autofilter }: WorkbookLook): WorkbookFrame {
  const styles = new StylesPart(true);
  const numbers = new Map<string | null, number>();
  const styleOf = (format: string | null): number => {
    const known = numbers.get(format) ?? styles.addStyleModel(format === null ? {} : { numFmt: format });
    numbers.set(format, known);
    return known;
  };
  // Columns that look alike share what is made of them: there may be thousands.
  const made = new Map<ColumnLook['formats'], Readonly<Record<SheetForm, number>>>();
  const columnStyles = columns.map(({ formats }) => {
    const known = made.get(formats) ?? {
      text: styleOf(formats.text),
      number: styleOf(formats.number),
      boolean: styleOf(formats.boolean),
      date: styleOf(formats.date),
      datetime: styleOf(formats.datetime),
      time: styleOf(formats.time),
    };
    made.set(formats, known);
    return known;
  });
  const headerStyle = styles.addStyleModel({ font: HEADER_FONT });
  const ranges = columnRanges(columns);
  const sheet = (cols: readonly object[], lastRow: number): [string, string] => {
    const model = {
      ...emptySheet(),
      cols,
      views: [freezeHeader ? { state: 'frozen', ySplit: 1 } : { state: 'normal' }],
      autoFilter: autofilter ? `A1:${columnLetters(columns.length - 1)}${lastRow}` : undefined,
    };
    const part = new SheetPart();
    part.prepare(model, { styles, sharedStrings: null, date1904: false, drawings: [], commentRefs: [], media: [] });
    const [before, behind] = part.toXml(model).split(NO_ROWS);
    if (before === undefined || behind === undefined) throw new Error('the sheet of the frame has no place for rows');
    return [`${before}<sheetData>`, `</sheetData>${behind}`];
  };
  const [beforeRows] = sheet(ranges, 1);
  // Behind the columns' styles, which are among those of their cells.
  const { xml } = styles;
  return {
    styles: columnStyles,
    headerStyle,
    first: firstParts(xml),
    beforeRows,
    behindRows: (lastRow) => sheet([], lastRow)[1],
    last: lastParts,
  };
}

interface ColumnRange {
  /** First and last column, from 1. */
  readonly min: number;
  readonly max: number;
  readonly width: number;
  readonly style: object;
}

/** Neighbours that look alike are one range. exceljs knows a style by its object. */
function columnRanges(columns: readonly ColumnLook[]): ColumnRange[] {
  const styles = new Map<string | null, object>([[null, {}]]);
  const ranges: ColumnRange[] = [];
  for (const [index, { width, formats, empty }] of columns.entries()) {
    const format = formats[empty];
    const style = styles.get(format) ?? { numFmt: format };
    styles.set(format, style);
    const last = ranges.at(-1);
    const isSame = last !== undefined && last.width === width && last.style === style;
    const range = { min: isSame ? last.min : index + 1, max: index + 1, width, style };
    ranges.splice(isSame ? -1 : ranges.length, 1, range);
  }
  return ranges;
}

function firstParts(styles: string): WorkbookPart[] {
  const core = { creator: PROGRAM, lastModifiedBy: PROGRAM, created: MADE_AT, modified: MADE_AT };
  return [
    {
      name: '_rels/.rels',
      xml: relations([
        ['OfficeDocument', 'xl/workbook.xml'],
        ['CoreProperties', 'docProps/core.xml'],
        ['ExtenderProperties', 'docProps/app.xml'],
      ]),
    },
    { name: 'docProps/core.xml', xml: new CorePart().toXml(core) },
    { name: 'xl/theme/theme1.xml', xml: theme },
    { name: 'xl/styles.xml', xml: styles },
  ];
}

function lastParts(sheetNames: readonly string[]): WorkbookPart[] {
  const before: [string, string][] = [
    ['Styles', 'styles.xml'],
    ['Theme', 'theme/theme1.xml'],
  ];
  const worksheets = sheetNames.map((name, sheet) => ({
    ...emptySheet(),
    id: sheet + 1,
    name,
    rId: `rId${before.length + sheet + 1}`,
  }));
  const sheets = worksheets.map(({ id }): [string, string] => ['Worksheet', `worksheets/sheet${id}.xml`]);
  const book = { worksheets, properties: {}, views: [], definedNames: [], calcProperties: {}, media: [] };
  const workbook = new BookPart();
  workbook.prepare(book, {});
  return [
    { name: 'docProps/app.xml', xml: new AppPart().toXml({ worksheets, company: '', manager: '' }) },
    { name: 'xl/_rels/workbook.xml.rels', xml: relations([...before, ...sheets]) },
    { name: 'xl/workbook.xml', xml: workbook.toXml(book) },
    { name: '[Content_Types].xml', xml: new ContentTypesPart().toXml(contents(worksheets)) },
  ];
}

/** @param targets kind of each and its place */
function relations(targets: readonly (readonly [string, string])[]): string {
  const list = targets.map(([kind, target], index) => ({
    Id: `rId${index + 1}`,
    Type: RelationTypes[kind],
    Target: target,
  }));
  return new RelationshipsPart().toXml(list);
}

function contents(worksheets: readonly object[]): object {
  return { worksheets, media: [], drawings: [], commentRefs: [], tables: [], sharedStrings: { count: 0 } };
}

/** What exceljs asks of any sheet. */
function emptySheet() {
  return {
    state: 'visible',
    rows: [],
    media: [],
    tables: [],
    conditionalFormattings: [],
    properties: { defaultRowHeight: 15, dyDescent: 0.25, outlineLevelCol: 0, outlineLevelRow: 0 },
    pageSetup: { margins: { left: 0.7, right: 0.7, top: 0.75, bottom: 0.75, header: 0.3, footer: 0.3 } },
  };
}
