// Settings of workbooks in a Template: number formats, and limits of a sheet and its name.

import { Type } from '../../bundled/type-box.ts';
import type { SheetForm } from '../../kernel/plain/emit-sheet.ts';
import { anyKey } from '../../template/section-schemas.ts';
import { pointerSegment } from '../../template/source-node.ts';
import { defineOutputSection } from '../format.ts';

// Number formats of spreadsheets (ECMA-376 part 1, 18.8.31): validates a code, and determines the cells to which it
// applies. Formatting numbers is left to the spreadsheet program.

/** Maximum length that spreadsheet programs accept, in UTF-16 units. */
const CODE_LENGTH_MAX = 255;
/** Sections for positive, negative, zero, and text. */
const SECTIONS_MAX = 4;

/** Literals: a quoted text, an escaped character, the width or repetition of a character; and bracketed parts. */
const LITERAL = /"[^"]*"|[\\_*][\s\S]|\[[^\]]*\]/g;
/** A duration: hours, minutes or seconds without an upper limit. */
const DURATION = /\[(?:h+|m+|s+)\]/i;
const WORDS = /General|AM\/PM|A\/P|E[+-]/gi;
const TIME_LETTERS = /[ymdhs]/i;
/**
 * Placeholders of digits and texts, letters of dates (including the eras of Japan and Thailand), and characters that
 * need no quotes.
 */
const KNOWN = /^[0-9#?.,%@ymdhsegb$€£¥+\-/():!^&'~{}<>= ]*$/i;

/** What is wrong with a code, or null. */
function numberFormatProblem(code: string): string | null {
  if (code.length > CODE_LENGTH_MAX) {
    return `A number format has at most ${CODE_LENGTH_MAX} characters, this one has ${code.length}.`;
  }
  const rest = withoutLiterals(code);
  if (rest.includes('"')) return 'A quote in the number format is not closed.';
  if (/[[\]]/.test(rest)) return 'A bracket in the number format is not closed.';
  if (/[\\_*]/.test(rest)) return 'The number format ends where a character has to follow.';
  const sections = rest.split(';');
  if (sections.length > SECTIONS_MAX) return `A number format has at most ${SECTIONS_MAX} sections.`;
  if (!sections.every((section) => KNOWN.test(section.replace(WORDS, '')))) {
    return 'The number format contains a character that is not allowed there. Put text in quotes, such as 0.00" EUR".';
  }
  return null;
}

/**
 * The cells to which a code applies: dates and times if it contains their parts, texts for the text code, otherwise
 * numbers.
 */
export function formsOf(code: string): readonly SheetForm[] {
  // A total of hours and minutes is a number of days.
  if (DURATION.test(code)) return ['number', 'date', 'datetime', 'time'];
  if (TIME_LETTERS.test(withoutLiterals(code).replace(/General/gi, ''))) {
    return ['date', 'datetime', 'time'];
  }
  return code === '@' ? ['text', 'number', 'date', 'datetime', 'time', 'boolean'] : ['number'];
}

function withoutLiterals(code: string): string {
  return code.replace(LITERAL, '');
}

// Limits of a sheet, and rules for its name (Excel specifications and limits; ECMA-376 part 1, 18.2.19 and 18.3.1).

/** Number of rows, including the header. */
export const SHEET_ROWS_MAX = 1_048_576;
export const SHEET_COLUMNS_MAX = 16_384;
/** Length of a cell's text, in UTF-16 units. */
export const CELL_UNITS_MAX = 32_767;
/** In UTF-16 units. */
const SHEET_NAME_LENGTH_MAX = 31;

const REFUSED_CHARACTERS = /[:\\/?*[\]]/;
const CONTROL = /[\u0000-\u001f\u007f\ufffe\uffff]/;
/** Reserved by Excel, in upper or lower case. */
const RESERVED = /^history$/i;

/** What is wrong with the name of a sheet, or null. */
function sheetNameProblem(name: string): string | null {
  if (name.length > SHEET_NAME_LENGTH_MAX) {
    return `The name of a sheet has at most ${SHEET_NAME_LENGTH_MAX} characters, this one has ${name.length}.`;
  }
  if (REFUSED_CHARACTERS.test(name)) return 'The name of a sheet must not contain any of : \\ / ? * [ ].';
  if (CONTROL.test(name)) return 'The name of a sheet is one line of text.';
  if (name.startsWith("'") || name.endsWith("'"))
    return 'The name of a sheet does not begin or end with an apostrophe.';
  if (RESERVED.test(name)) return 'Excel reserves the name History. Write another one.';
  return null;
}

/** The name of a further sheet: "Data (2)". */
export function sheetName(name: string, sheet: number): string {
  if (sheet === 0) return name;
  const suffix = ` (${sheet + 1})`;
  const kept = name.slice(0, SHEET_NAME_LENGTH_MAX - suffix.length);
  // Do not cut a surrogate pair.
  return (/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept) + suffix;
}

export function tooManyColumns(columns: number): string {
  return `A sheet has at most ${SHEET_COLUMNS_MAX} columns, the output has ${columns}. Leave some out (output.columns).`;
}

// Settings of workbooks in a Template: the section `output.xlsx`.

export interface XlsxSettings {
  readonly sheet: string;
  readonly header: boolean;
  readonly freezeHeader: boolean;
  readonly autofilter: boolean;
  /** By column name, in characters. */
  readonly widths: ReadonlyMap<string, number>;
  /** Format codes by column name. */
  readonly numberFormat: ReadonlyMap<string, string>;
  readonly overflow: 'truncate' | 'next_sheet';
}

/** Maximum column width that spreadsheet programs accept, in characters. */
const WIDTH_MAX = 255;

const written = Type.Object({
  sheet: Type.String({ default: 'Data', minLength: 1, description: 'Name of the sheet.' }),
  header: Type.Boolean({ default: true, description: 'The row of column names.' }),
  freeze_header: Type.Boolean({ default: false, description: 'Keeps the header visible.' }),
  autofilter: Type.Boolean({ default: false, description: 'Adds filter buttons to the header.' }),
  widths: Type.Record(anyKey, Type.Number({ exclusiveMinimum: 0, maximum: WIDTH_MAX }), {
    default: {},
    description: 'Widths of columns in characters, `{column: 12}`; the other widths depend on name and type.',
  }),
  number_format: Type.Record(anyKey, Type.String({ minLength: 1 }), {
    default: {},
    description: 'Format codes of columns, such as `{amount: "#,##0.00", booked_on: dd.mm.yyyy}`.',
  }),
  overflow: Type.Enum(['truncate', 'next_sheet'], {
    default: 'truncate',
    description:
      'Rows beyond the 1,048,576 of a sheet: dropped (the Run is `truncated`), or written to further sheets.',
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
    const noHeader = 'This needs a header row, but header is false. Leave this setting out.';
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

// Names of a sheet's columns: A to Z, AA to XFD.

const LETTERS = 26;
const CODE_OF_A = 65;

/** @param column index, starting at 0 */
export function columnLetters(column: number): string {
  let letters = '';
  for (let rest = column; rest >= 0; rest = Math.floor(rest / LETTERS) - 1) {
    letters = String.fromCharCode(CODE_OF_A + (rest % LETTERS)) + letters;
  }
  return letters;
}
