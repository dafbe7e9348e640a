// Writes small workbooks for tests, part by part, so that a test can make any part unusual.
import { type ArchiveForm, type WrittenEntry, zipOf } from './zip-writer.ts';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const STRICT_MAIN = 'http://purl.oclc.org/ooxml/spreadsheetml/main';
const LINKS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const STRICT_LINKS = 'http://purl.oclc.org/ooxml/officeDocument/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';

export interface WrittenWorkbook {
  /** XML inside `<sheetData>`. */
  readonly rows?: string;
  /** XML before and after `<sheetData>`. */
  readonly before?: string;
  readonly after?: string;
  /** The complete part of the sheet, in place of the fields above. */
  readonly sheet?: string | Uint8Array;
  /** Settings of the sheet's entry in the archive. */
  readonly sheetAs?: Partial<WrittenEntry>;
  readonly strings?: string;
  /** The workbook links to shared strings, whose part is in `others`. */
  readonly sharesStrings?: boolean;
  /** Format codes of the styles from 1 on; a number is a built-in one. */
  readonly formats?: readonly (string | number)[];
  /** The part of the styles, in place of the styles made from `formats`. */
  readonly styles?: string;
  readonly workbookProperties?: string;
  readonly isStrict?: boolean;
  readonly sheetTarget?: string;
  readonly sheetEntry?: string;
  /** Name of the sheet and of the sheets after it. */
  readonly name?: string;
  readonly state?: string;
  readonly moreSheets?: readonly MoreSheet[];
  readonly others?: readonly WrittenEntry[];
  readonly form?: ArchiveForm;
  readonly entry?: Partial<WrittenEntry>;
}

export interface MoreSheet {
  readonly name: string;
  readonly rows: string;
  readonly state?: string;
}

export function workbookOf(given: WrittenWorkbook): Buffer {
  const main = given.isStrict ? STRICT_MAIN : MAIN;
  const links = given.isStrict ? STRICT_LINKS : LINKS;
  const link = (id: string, kind: string, target: string): string =>
    `<Relationship Id="${id}" Type="${links}/${kind}" Target="${target}"/>`;
  const linksOf = (...all: string[]): string => `<Relationships xmlns="${PACKAGE}">${all.join('')}</Relationships>`;
  const sheet =
    given.sheet ??
    `<?xml version="1.0"?><worksheet xmlns="${main}">${given.before ?? ''}<sheetData>${given.rows ?? ''}</sheetData>${given.after ?? ''}</worksheet>`;
  const more = given.moreSheets ?? [];
  const stateOf = (state: string | undefined): string => (state === undefined ? '' : ` state="${state}"`);
  const sheets = [
    `<sheet name="${given.name ?? 'One'}" sheetId="1"${stateOf(given.state)} r:id="r1"/>`,
    ...more.map(({ name, state }, at) => `<sheet name="${name}" sheetId="${at + 2}"${stateOf(state)} r:id="m${at}"/>`),
  ];
  const entries: WrittenEntry[] = [
    { name: '_rels/.rels', content: linksOf(link('a', 'officeDocument', 'xl/workbook.xml')) },
    {
      name: 'xl/workbook.xml',
      content: `<workbook xmlns="${main}" xmlns:r="${links}">${given.workbookProperties ?? ''}<sheets>${sheets.join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: linksOf(
        link('r1', 'worksheet', given.sheetTarget ?? 'worksheets/sheet1.xml'),
        link('r2', 'styles', 'styles.xml'),
        ...more.map((_, index) => link(`m${index}`, 'worksheet', `worksheets/more${index}.xml`)),
        ...(given.strings === undefined && given.sharesStrings !== true
          ? []
          : [link('r3', 'sharedStrings', 'sharedStrings.xml')]),
      ),
    },
    { name: 'xl/styles.xml', content: given.styles ?? stylesOf(given.formats ?? []) },
    { name: given.sheetEntry ?? 'xl/worksheets/sheet1.xml', content: sheet, ...given.sheetAs },
    ...more.map(({ rows }, index) => ({
      name: `xl/worksheets/more${index}.xml`,
      content: `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    })),
    ...(given.others ?? []),
  ];
  if (given.strings !== undefined)
    entries.push({ name: 'xl/sharedStrings.xml', content: `<sst>${given.strings}</sst>` });
  return zipOf(
    entries.map((entry) => ({ ...entry, ...given.entry })),
    given.form,
  );
}

function stylesOf(formats: readonly (string | number)[]): string {
  const escaped = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  const own = formats.map((format, index) =>
    typeof format === 'number' ? '' : `<numFmt numFmtId="${200 + index}" formatCode="${escaped(format)}"/>`,
  );
  const cells = formats.map((format, index) => `<xf numFmtId="${typeof format === 'number' ? format : 200 + index}"/>`);
  return `<styleSheet><numFmts>${own.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${cells.join('')}</cellXfs></styleSheet>`;
}

/** A cell: nothing, a text, a number, a boolean, or the XML that follows `<c r="A1"`. */
export type WrittenCell = null | string | number | boolean | { readonly xml: string };

/** Rows of cells as XML, from row `first` of the sheet on. */
export function rowsOf(rows: readonly (readonly WrittenCell[])[], first = 1): string {
  return rows.map((cells, index) => rowOf(cells, first + index)).join('');
}

function rowOf(cells: readonly WrittenCell[], row: number): string {
  if (cells.length === 0) return '';
  const written = cells.map((cell, column) => {
    if (cell === null) return '';
    const place = `<c r="${String.fromCharCode(65 + column)}${row}"`;
    if (typeof cell === 'object') return place + cell.xml;
    if (typeof cell === 'number') return `${place}><v>${cell}</v></c>`;
    if (typeof cell === 'boolean') return `${place} t="b"><v>${cell ? 1 : 0}</v></c>`;
    const text = cell.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return `${place} t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
  });
  return `<row r="${row}">${written.join('')}</row>`;
}
