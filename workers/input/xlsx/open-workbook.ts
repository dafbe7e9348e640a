// An open workbook, and the choice of the cells that a Template reads.
import { columnsShown } from '../../batch/schema.ts';
import {
  MEANING_DATE as DATE,
  MEANING_DATE_TIME as DATE_TIME,
  MEANING_PLAIN as PLAIN,
  ROW_NUMBER_MAX,
  MEANING_TIME as TIME,
} from '../../kernel/layout/sheet.ts';
import { Failed } from '../../protocol/failure.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import type { TemplateInput } from '../../template/template.ts';
import { foldCase } from '../../values/text-edits.ts';
import type { PieceSource } from '../zip/entry-reader.ts';
import type { ZipArchive } from '../zip/zip-archive.ts';
import { type CellRange, parseRange } from './cell-range.ts';
import {
  ATTRIBUTE_BYTES_MAX,
  ATTRIBUTES_MAX,
  inPart,
  malformedWorkbook,
  PART_BYTES_MAX,
  RELATIONSHIPS_MAX,
  SHEETS_MAX,
  SMALL_WINDOW_BYTES,
  STYLES_MAX,
} from './limits.ts';
import { readMergedRanges } from './merged-cells.ts';
import { type GiveWay, readSharedStrings, type StringTools } from './shared-strings.ts';
import { SheetKernel } from './sheet-kernel.ts';
import { SheetReader, type SheetSettings } from './sheet-reader.ts';
import type { StringStore } from './string-store.ts';
import { decodeEntities } from './text-decoder.ts';
import { CLOSE, EMPTY, END, MORE, OPEN, TEXT, XmlTokens } from './xml-tokens.ts';
import { XmlWindow } from './xml-window.ts';

// The parts of a workbook that are read as a whole: relationships, sheets, tables and styles.

// Visits the elements of a part that is read as a whole: relationships, workbook, styles, a table.

/** Attributes of one element by name, without prefix. */
export type Attributes = ReadonlyMap<string, string>;

/** @param parent name of the enclosing element, '' for the root */
export type ElementVisitor = (name: string, attributes: Attributes, parent: string) => void;

/** A piece of a text: a long text may arrive in several pieces. */
type TextVisitor = (piece: string, parent: string) => void;

/**
 * Calls `visit` at the start of each element. Throws Failed.
 * @param part name of the part for failures, as in "In its styles"
 */
function visitElements(
  part: string,
  source: PieceSource,
  giveWay: GiveWay,
  visit: ElementVisitor,
  visitText?: TextVisitor,
): Coroutine<void> {
  return inPart(() => part, visitAll(source, giveWay, visit, visitText));
}

function* visitAll(
  source: PieceSource,
  giveWay: GiveWay,
  visit: ElementVisitor,
  visitText?: TextVisitor,
): Coroutine<void> {
  const tokens = new XmlTokens(new XmlWindow(source, null, SMALL_WINDOW_BYTES));
  const parents: string[] = [''];
  let bytes = 0;
  try {
    for (;;) {
      const token = tokens.next();
      if (token === END) return;
      if (token === MORE) {
        bytes += tokens.at;
        if (bytes > PART_BYTES_MAX) throw malformedWorkbook('a part that describes it is too long');
        for (let from = tokens.at; !tokens.refill(from); from = 0) yield tokens.window.wait();
      } else if (token === CLOSE) parents.pop();
      else if (token === TEXT) visitText?.(tokens.bytes.toString('utf8', tokens.start, tokens.end), parents.at(-1)!);
      else if (token === OPEN || token === EMPTY) {
        const name = tokens.bytes.toString('latin1', tokens.start, tokens.end);
        visit(name, attributesOf(tokens), parents.at(-1)!);
        if (token === OPEN) parents.push(name);
        const rest = giveWay();
        if (rest !== null) yield rest;
      }
    }
  } finally {
    source.close();
  }
}

function attributesOf(tokens: XmlTokens): Attributes {
  const attributes = new Map<string, string>();
  const { bytes } = tokens;
  for (let count = 1; tokens.nextAttribute(); count++) {
    if (count > ATTRIBUTES_MAX) throw malformedWorkbook(`an element has more than ${ATTRIBUTES_MAX} attributes`);
    if (tokens.valueEnd - tokens.nameStart > ATTRIBUTE_BYTES_MAX)
      throw malformedWorkbook(`an attribute has more than ${ATTRIBUTE_BYTES_MAX} bytes`);
    // An element may have both `id` and `r:id`, and only `r:id` is needed. Programs write it last, so it replaces `id`.
    const value = bytes.toString('utf8', tokens.valueStart, tokens.valueEnd);
    attributes.set(bytes.toString('latin1', tokens.nameStart, tokens.nameEnd), decodeEntities(value));
  }
  return attributes;
}

// Relationships between the parts of a package (ECMA-376 part 2), by id. Targets are entry names.

interface Relationship {
  readonly id: string;
  /** Last word of its type, which is the same in transitional and strict workbooks, such as `worksheet` or `styles`. */
  readonly kind: string;
  /** Entry name in the archive. */
  readonly target: string;
}

/**
 * Returns the relationships of a part, or of the package for ''. Empty if it has no relationships. Leaves out targets
 * outside the file. Throws Failed.
 */
function* readRelationships(archive: ZipArchive, part: string): Coroutine<Relationship[]> {
  const slash = part.lastIndexOf('/') + 1;
  const source = archive.open(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`);
  const found: Relationship[] = [];
  if (source === null) return found;
  yield* visitElements('the list of its parts', source, archive.giveWay, (name, attributes) => {
    const target = attributes.get('Target');
    if (name !== 'Relationship' || target === undefined || attributes.get('TargetMode') === 'External') return;
    if (found.length >= RELATIONSHIPS_MAX) throw malformedWorkbook('a part has too many links');
    const kind = (attributes.get('Type') ?? '').split('/').at(-1)!;
    found.push({ id: attributes.get('Id') ?? '', kind, target: resolve(part.slice(0, slash), target) });
  });
  return found;
}

function resolve(folder: string, target: string): string {
  const path = target.replaceAll('\\', '/');
  const steps: string[] = [];
  for (const step of (path.startsWith('/') ? path : folder + path).split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}

// Finds out which numbers are dates, by the letters of the number format of their style (ECMA-376 part 1, 18.8.30 and
// 18.8.31).

/** Formats that every workbook has, including those of East Asian programs. 46 is a duration. */
const BUILT_IN: readonly (readonly [from: number, to: number, meaning: number])[] = [
  [14, 17, DATE],
  [18, 21, TIME],
  [22, 22, DATE_TIME],
  [27, 31, DATE],
  [32, 33, TIME],
  [34, 36, DATE],
  [45, 45, TIME],
  [47, 47, TIME],
  [50, 58, DATE],
];

/** MEANING of a format that the workbook does not define itself. */
function builtInMeaning(id: number): number {
  return BUILT_IN.find(([from, to]) => id >= from && id <= to)?.[2] ?? PLAIN;
}

/** MEANING of a format code, by its first section, which applies to positive numbers. */
function meaningOfFormat(format: string): number {
  let hasDate = false;
  let hasTime = false;
  let previous = '';
  let undecided = false;
  for (const [part] of format.matchAll(/"[^"]*"?|\\.?|[_*].?|\[[^\]]*\]?|General|AM\/PM|A\/P|E[+-]|([a-z])\1*|;/gi)) {
    if (part === ';') break;
    if (/^\[(?:h+|m+|s+)\]$/i.test(part)) return PLAIN;
    if (/^(?:am\/pm|a\/p)$/i.test(part)) hasTime = true;
    if (!/^([a-z])\1*$/i.test(part)) continue;
    const letter = part[0]!.toLowerCase();
    if (letter === 'h' || letter === 's') {
      hasTime = true;
      // `m` means minutes before seconds or after hours, and months elsewhere.
      if (letter === 's') undecided = false;
    } else if (letter === 'm') {
      if (undecided) hasDate = true;
      undecided = previous !== 'h' && previous !== 's';
    } else if ('dyegb'.includes(letter)) hasDate = true;
    else continue;
    if (letter !== 'm' && letter !== 's' && undecided) {
      hasDate = true;
      undecided = false;
    }
    previous = letter;
  }
  if (undecided) hasDate = true;
  if (hasDate) return hasTime ? DATE_TIME : DATE;
  return hasTime ? TIME : PLAIN;
}

// The meaning of numbers for each cell style: an entry in the table of cell formats refers to a number format.

/** Returns the MEANING, indexed by the number of a cell's style. Throws Failed. */
function* readStyles(source: PieceSource | null, giveWay: GiveWay): Coroutine<Uint8Array> {
  if (source === null) return new Uint8Array(0);
  const own = new Map<number, number>();
  const formats: number[] = [];
  yield* visitElements('its styles', source, giveWay, (name, attributes, parent) => {
    if (name === 'numFmt' && parent === 'numFmts') {
      own.set(Number(attributes.get('numFmtId')), meaningOfFormat(attributes.get('formatCode') ?? ''));
      if (own.size > STYLES_MAX) throw malformedWorkbook(`it has more than ${STYLES_MAX} number formats`);
    } else if (name === 'xf' && parent === 'cellXfs') {
      formats.push(Number(attributes.get('numFmtId') ?? 0));
      if (formats.length > STYLES_MAX) throw malformedWorkbook(`it has more than ${STYLES_MAX} cell formats`);
    }
  });
  return Uint8Array.from(formats, (id) => own.get(id) ?? builtInMeaning(id));
}

// The tables of a sheet: named ranges of cells with a header row.

interface SheetTable {
  /** Name of the table in formulas. */
  readonly name: string;
  readonly range: CellRange;
  readonly headerRows: number;
  readonly totalsRows: number;
}

/** Throws Failed. */
function* readTables(archive: ZipArchive, sheetPart: string): Coroutine<SheetTable[]> {
  const tables: SheetTable[] = [];
  for (const { kind, target } of yield* readRelationships(archive, sheetPart)) {
    const source = kind === 'table' ? archive.open(target) : null;
    if (source === null) continue;
    yield* visitElements('a table', source, archive.giveWay, (name, attributes, parent) => {
      const range = parseRange(attributes.get('ref') ?? '');
      if (name !== 'table' || parent !== '' || range === null) return;
      tables.push({
        name: attributes.get('displayName') ?? attributes.get('name') ?? '',
        range,
        headerRows: Number(attributes.get('headerRowCount') ?? 1),
        totalsRows: Number(attributes.get('totalsRowCount') ?? 0),
      });
    });
  }
  return tables;
}

// The description of a workbook in its parts: sheets in order, the calendar, and the parts with strings and styles.

interface WorkbookSheet {
  readonly name: string;
  readonly visibility: 'visible' | 'hidden' | 'veryHidden';
  /** Entry name of its cells, or null for a sheet without cells (a chart, a dialog). */
  readonly part: string | null;
}

interface Workbook {
  readonly sheets: readonly WorkbookSheet[];
  readonly names: readonly DefinedName[];
  readonly is1904: boolean;
  readonly sharedStringsPart: string | null;
  readonly stylesPart: string | null;
}

/** A name for a formula, which is often a range of cells: `Orders!$B$5:$H$200`. */
interface DefinedName {
  readonly name: string;
  /** Number of the sheet that the name belongs to, from 1; null for a name of the whole workbook. */
  readonly sheetNumber: number | null;
  formula: string;
}

/** Maximum number of defined names that are searched, and maximum length of a formula that can be a range. */
const NAMES_MAX = 10_000;
const FORMULA_LENGTH_MAX = 500;

/** Usual location of the workbook part, for files that do not declare it. */
const USUAL_PART = 'xl/workbook.xml';

/** Throws Failed: UNSUPPORTED_FILE_TYPE for archives that are not workbooks, and for binary workbooks. */
function* readWorkbook(archive: ZipArchive): Coroutine<Workbook> {
  const packageLinks = yield* readRelationships(archive, '');
  const part = packageLinks.find(({ kind }) => kind === 'officeDocument')?.target ?? USUAL_PART;
  if (/\.bin$/i.test(part)) {
    throw new Failed('UNSUPPORTED_FILE_TYPE', 'The file is a binary workbook (.xlsb); send .xlsx or CSV.');
  }
  const source = archive.open(part);
  if (source === null) {
    if (packageLinks.length > 0) throw malformedWorkbook('its list of sheets is missing');
    throw new Failed('UNSUPPORTED_FILE_TYPE', 'The file is a ZIP archive, but not an XLSX workbook.');
  }
  let root = '';
  let is1904 = false;
  const listed: { name: string; state: string; id: string }[] = [];
  const names: DefinedName[] = [];
  const visitText: TextVisitor = (piece, parent) => {
    const last = names.at(-1);
    if (parent === 'definedName' && last !== undefined && last.formula.length <= FORMULA_LENGTH_MAX)
      last.formula += piece;
  };
  const visit: ElementVisitor = (name, attributes, parent) => {
    if (parent === '') root = name;
    if (name === 'definedName' && names.length < NAMES_MAX) {
      const index = attributes.get('localSheetId');
      const sheetNumber = index === undefined ? null : Number(index) + 1;
      names.push({ name: attributes.get('name') ?? '', sheetNumber, formula: '' });
    }
    if (name === 'workbookPr') is1904 = /^(?:1|true|on)$/.test(attributes.get('date1904') ?? '');
    if (name !== 'sheet' || parent !== 'sheets') return;
    if (listed.length >= SHEETS_MAX) throw malformedWorkbook(`it has more than ${SHEETS_MAX} sheets`);
    const state = attributes.get('state') ?? 'visible';
    listed.push({ name: attributes.get('name') ?? '', state, id: attributes.get('id') ?? '' });
  };
  yield* visitElements('the list of its sheets', source, archive.giveWay, visit, visitText);
  if (root !== 'workbook') {
    throw new Failed('UNSUPPORTED_FILE_TYPE', 'The file is an office document, but not a workbook; send .xlsx or CSV.');
  }
  const links = yield* readRelationships(archive, part);
  const linksById = new Map<string, Relationship>();
  for (const link of links) if (!linksById.has(link.id)) linksById.set(link.id, link);
  const partOf = (kind: string): string | null => links.find((link) => link.kind === kind)?.target ?? null;
  return {
    sheets: listed.map(({ name, state, id }) => {
      const link = linksById.get(id);
      const visibility = state === 'hidden' || state === 'veryHidden' ? state : 'visible';
      return { name, visibility, part: link?.kind === 'worksheet' ? link.target : null };
    }),
    names,
    is1904,
    sharedStringsPart: partOf('sharedStrings'),
    stylesPart: partOf('styles'),
  };
}

// An open workbook: its sheets, and readers of their cells, which share strings and styles.

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

  get names(): readonly DefinedName[] {
    return this.#workbook.names;
  }

  /** null if the workbook has no shared strings. */
  get strings(): StringStore | null {
    return this.#strings;
  }

  tables(sheet: WorkbookSheet): Coroutine<SheetTable[]> {
    return readTables(this.#archive, sheet.part ?? '');
  }

  /** The sheet must have cells. Throws Failed. */
  read(sheet: WorkbookSheet, settings: Pick<SheetSettings, 'skipHidden' | 'range' | 'order'>): SheetReader {
    const source = sheet.part === null ? null : this.#archive.open(sheet.part);
    if (source === null) throw malformedWorkbook('a sheet that it lists is missing');
    const { is1904 } = this.#workbook;
    const countShared = (bytes: number): void => this.#archive.countRepeated(bytes);
    const cells = { strings: this.#strings, styles: this.#styles, is1904 };
    const { windowMemory, stretch } = this.#tools;
    if (stretch !== null) this.#kernel ??= new SheetKernel(stretch, cells);
    return new SheetReader(source, { ...settings, ...cells, windowMemory, countShared, kernel: this.#kernel });
  }

  /** Returns the merged ranges, ordered by first row. Throws Failed. */
  *mergedRanges(sheet: WorkbookSheet, giveWay: GiveWay): Coroutine<readonly CellRange[]> {
    const source = sheet.part === null ? null : this.#archive.open(sheet.part);
    return source === null ? [] : yield* readMergedRanges(source, this.#tools.windowMemory, giveWay);
  }

  /** See ZipArchive. Throws Failed. */
  countRepeated(bytes: number): void {
    this.#archive.countRepeated(bytes);
  }

  close(): void {
    this.#strings?.close();
  }
}

/** Reads all parts except the sheets. Throws Failed. */
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

// Chooses the cells that a Template reads: one sheet, several sheets, or a table.

export interface ChosenSheet {
  readonly sheet: WorkbookSheet;
  /** Position in the workbook, from 1. Failures use it to name the sheet. */
  readonly number: number;
  /** Cells of the table, or null for the whole sheet. */
  readonly range: CellRange | null;
  /** False for a table without a header row. */
  readonly hasHeader: boolean;
  /** True if the range has no last column, so that it is as wide as its first rows. */
  readonly isWide?: true;
}

/** The sheets that the Template asks for, in its order. */
export interface SheetChoice {
  readonly sheets: readonly ChosenSheet[];
  /** 'first': the first sheet with cells. 'all': all sheets with cells. 'named': exactly the given sheets. */
  readonly form: 'first' | 'all' | 'named';
}

/** Throws Failed. */
export function* chooseSheets(
  workbook: OpenWorkbook,
  { sheet, table }: Pick<TemplateInput, 'sheet' | 'table'>,
): Coroutine<SheetChoice> {
  const all = workbook.sheets.map((one, index) => ({ sheet: one, number: index + 1, range: null, hasHeader: true }));
  const named = namedSheets(sheet);
  const sheets = named === null ? all : sheetsOf(all, named);
  if (table !== null) return { sheets: [yield* tableOf(workbook, sheets, table, named !== null)], form: 'named' };
  if (named !== null) return { sheets, form: 'named' };
  const visible = sheets.filter((one) => one.sheet.visibility === 'visible' && one.sheet.part !== null);
  return { sheets: visible, form: sheet === null ? 'first' : 'all' };
}

/** Returns null if no sheet is named. */
function namedSheets(sheet: TemplateInput['sheet']): readonly (string | number)[] | null {
  if (sheet === null || sheet === '*') return null;
  return Array.isArray(sheet) ? sheet : [sheet as string | number];
}

/**
 * Finds sheets by number, from 1, or by name. An exact match comes first, otherwise case is ignored, as in spreadsheet
 * programs.
 */
function sheetsOf(all: readonly ChosenSheet[], wanted: readonly (string | number)[]): ChosenSheet[] {
  const byName = firstByName(all, (name) => name);
  const byFoldedName = firstByName(all, foldCase);
  return wanted.map((one) => {
    const found = typeof one === 'number' ? all[one - 1] : (byName.get(one) ?? byFoldedName.get(foldCase(one)));
    if (found === undefined || found.sheet.part === null) throw missingSheet(one, all);
    return found;
  });
}

function firstByName(all: readonly ChosenSheet[], keyOf: (name: string) => string): ReadonlyMap<string, ChosenSheet> {
  const found = new Map<string, ChosenSheet>();
  for (const chosen of all) {
    const key = keyOf(chosen.sheet.name);
    if (!found.has(key)) found.set(key, chosen);
  }
  return found;
}

function missingSheet(wanted: string | number, sheets: readonly ChosenSheet[]): Failed {
  const name = typeof wanted === 'number' ? `number ${wanted}` : JSON.stringify(wanted);
  return missingTable(`The workbook lacks the sheet ${name}, which the Template reads.`, sheets);
}

/** Only the local message lists the sheets, because their names are content of the file. */
function missingTable(message: string, sheets: readonly ChosenSheet[]): Failed {
  const names = sheets.filter(({ sheet }) => sheet.part !== null).map(({ sheet }) => sheet);
  const localMessage = `${message} ${columnsShown(names, 'Its sheets')}`;
  return new Failed('TEMPLATE_COLUMNS_MISSING', message, { columns: [], localMessage });
}

/** @param isSheetNamed true if the Template names these sheets, false if they are all sheets */
function* tableOf(
  workbook: OpenWorkbook,
  sheets: readonly ChosenSheet[],
  name: string,
  isSheetNamed: boolean,
): Coroutine<ChosenSheet> {
  for (const chosen of sheets) {
    if (chosen.sheet.part === null) continue;
    const tables: readonly SheetTable[] = yield* workbook.tables(chosen.sheet);
    const table = tables.find((one) => isSameName(one.name, name));
    if (table === undefined) continue;
    const lastRow = table.range.lastRow - table.totalsRows;
    return { ...chosen, range: { ...table.range, lastRow }, hasHeader: table.headerRows > 0 };
  }
  const definitions = definitionsOf(workbook, isSheetNamed ? sheets : [], name);
  const range = namedRange(definitions, sheets) ?? rangeOfCells(sheets, name);
  if (range !== null) return range;
  const sheetName = sheetOfCells(name);
  if (sheetName !== null && !sheets.some(({ sheet }) => isSameName(sheet.name, sheetName)))
    throw missingSheet(sheetName, sheets);
  throw missingTable(whyNoRange(definitions, JSON.stringify(name)), sheets);
}

/** The sheet of a range such as `Orders!B5:H200`; null for other texts. */
function sheetOfCells(text: string): string | null {
  const [, quoted, plain] = CELLS.exec(text) ?? [];
  return quoted?.replaceAll("''", "'") ?? plain ?? null;
}

function whyNoRange(definitions: readonly DefinedName[], name: string): string {
  if (definitions.length === 0 || definitions.some(({ formula }) => sheetRange(formula) !== null))
    return `The workbook lacks the table or name ${name}, which the Template reads.`;
  return `The name ${name} of the workbook is not one range of cells, such as Sheet1!$A$1:$C$9.`;
}

/** A sheet in quotes or without, and a range, as in `'My orders'!$B$5:$H$200`. */
const SHEET_RANGE = /^(?:'((?:[^']|'')+)'|([^'!]+))!(\$?[A-Z]{1,3}\$?[0-9]{1,7}(?::\$?[A-Z]{1,3}\$?[0-9]{1,7})?)$/;
/** A range, a first cell (`B5`), or a first cell and a last column (`B5:H`), with or without a sheet before it. */
const CELLS = /^(?:(?:'((?:[^']|'')+)'|([^'!]+))!)?(\$?[A-Z]{1,3}\$?[0-9]{1,7})(?::(\$?[A-Z]{1,3})(\$?[0-9]{1,7})?)?$/i;

/**
 * Resolves a name as a formula on a sheet does. Returns its definitions on the sheets that the Template names, else its
 * definitions for the whole workbook, else its definition on the only sheet that defines it. Throws Failed if several
 * sheets define it.
 */
function definitionsOf(workbook: OpenWorkbook, named: readonly ChosenSheet[], wanted: string): readonly DefinedName[] {
  const all = workbook.names.filter(({ name }) => isSameName(name, wanted));
  const ofSheets = named.flatMap(({ number }) => all.filter(({ sheetNumber }) => sheetNumber === number));
  if (ofSheets.length > 0) return ofSheets;
  const ofWorkbook = all.filter(({ sheetNumber }) => sheetNumber === null);
  if (ofWorkbook.length > 0) return ofWorkbook;
  if (all.length <= 1) return all;
  const message = `Several sheets define the name ${JSON.stringify(wanted)}. Choose one of them with input.sheet.`;
  throw new Failed('TEMPLATE_COLUMNS_MISSING', message, { columns: [] });
}

/** Returns the cells of the first definition that is one range of a chosen sheet, or null. */
function namedRange(definitions: readonly DefinedName[], sheets: readonly ChosenSheet[]): ChosenSheet | null {
  for (const { formula } of definitions) {
    const found = sheetRange(formula);
    const chosen = found === null ? undefined : sheets.find(({ sheet }) => isSameName(sheet.name, found.sheetName));
    if (found !== null && chosen !== undefined && chosen.sheet.part !== null) return { ...chosen, range: found.range };
  }
  return null;
}

/** Returns null for a formula that is not one range of cells. */
function sheetRange(formula: string): { readonly sheetName: string; readonly range: CellRange } | null {
  const [, quoted, plain, cells = ''] = SHEET_RANGE.exec(decodeEntities(formula).trim()) ?? [];
  const sheetName = quoted?.replaceAll("''", "'") ?? plain;
  const range = parseRange(cells);
  return sheetName === undefined || range === null ? null : { sheetName, range };
}

/**
 * Returns the cells of a range such as `B5:H200` of the first of these sheets, or of the sheet before a `!`. Null for
 * another text.
 */
function rangeOfCells(sheets: readonly ChosenSheet[], text: string): ChosenSheet | null {
  const [, quoted, plain, first = '', column, row] = CELLS.exec(text) ?? [];
  const sheetName = quoted?.replaceAll("''", "'") ?? plain;
  const withCells = sheets.filter(({ sheet }) => sheet.part !== null);
  const chosen =
    sheetName === undefined
      ? (withCells.find(({ sheet }) => sheet.visibility === 'visible') ?? withCells[0])
      : withCells.find(({ sheet }) => isSameName(sheet.name, sheetName));
  const range = parseRange(`${first}:${column ?? LAST_COLUMN}${row ?? /\d+$/.exec(first)?.[0]}`);
  if (chosen === undefined || range === null) return null;
  const { lastRow } = range;
  return {
    ...chosen,
    range: { ...range, lastRow: row === undefined ? ROW_NUMBER_MAX : lastRow },
    ...(column === undefined && { isWide: true as const }),
  };
}

/** Letters of column COLUMNS_MAX. */
const LAST_COLUMN = 'XFD';

function isSameName(name: string, wanted: string): boolean {
  return foldCase(name) === foldCase(wanted);
}
