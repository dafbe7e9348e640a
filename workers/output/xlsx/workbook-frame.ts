// All parts of a workbook except its rows, created by exceljs: styles and number formats, widths, frozen header,
// filter, properties, and the parts that link them. Loaded with the first workbook; imports only the XML parts of
// exceljs, which take a fifth of the memory and time of the whole library.
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
import { columnLetters } from './xlsx-section.ts';

/** Appearance of a column. */
export interface ColumnLook {
  /** In characters of the default font. */
  readonly width: number;
  /** Format codes of the cells by their form; null: the general format. */
  readonly formats: Readonly<Record<SheetForm, string | null>>;
  /** Form whose format is used for empty cells. */
  readonly empty: SheetForm;
}

export interface WorkbookLook {
  readonly columns: readonly ColumnLook[];
  readonly freezeHeader: boolean;
  readonly autofilter: boolean;
}

/** A file in the workbook's archive. */
export interface WorkbookPart {
  readonly name: string;
  readonly xml: string;
}

export interface WorkbookFrame {
  /** Numbers of styles, by column. */
  readonly styles: readonly Readonly<Record<SheetForm, number>>[];
  readonly headerStyle: number;
  /** Parts that are written before the sheets. */
  readonly first: readonly WorkbookPart[];
  /** Text of a sheet before its rows, and after them. */
  readonly beforeRows: string;
  afterRows(lastRow: number): string;
  /** Parts that are written after the sheets. */
  last(sheetNames: readonly string[]): readonly WorkbookPart[];
}

/** The earliest time that a ZIP can represent, so that a workbook does not depend on the day. */
const MADE_AT = new Date('1980-01-01T00:00:00Z');
const PROGRAM = 'template-run';

/** The default font of exceljs, in bold. */
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
  // Columns with the same formats share their styles, because there may be thousands of columns.
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
    const [before, after] = part.toXml(model).split(NO_ROWS);
    if (before === undefined || after === undefined) throw new Error('the sheet has no element for rows');
    return [`${before}<sheetData>`, `</sheetData>${after}`];
  };
  const [beforeRows] = sheet(ranges, 1);
  // Read after the columns' styles were added; these are among the styles of their cells.
  const { xml } = styles;
  return {
    styles: columnStyles,
    headerStyle,
    first: firstParts(xml),
    beforeRows,
    afterRows: (lastRow) => sheet([], lastRow)[1],
    last: lastParts,
  };
}

interface ColumnRange {
  /** First and last column, starting at 1. */
  readonly min: number;
  readonly max: number;
  readonly width: number;
  readonly style: object;
}

/** Adjacent columns with the same appearance form one range. exceljs identifies a style by its object. */
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

/** @param targets kind and path of each part */
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

/** Properties that exceljs requires for every sheet. */
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
