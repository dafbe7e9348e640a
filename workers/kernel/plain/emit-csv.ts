// Cells as CSV in plain TypeScript: twin of the kernel (assembly/emit-csv.ts), used for headers and for rows that are too
// large for the kernel's buffer.
import { type FormulaGuard, isFormula } from './formula.ts';

export interface PlainCsvRules {
  readonly delimiter: Uint8Array;
  readonly guard: FormulaGuard;
  /** Quote whatever the cell holds. */
  readonly quote: boolean;
  /** Write an empty text as two quotes. */
  readonly quoteEmpty: boolean;
}

export interface PlainCsvCell {
  readonly bytes: Uint8Array;
  readonly guarded: boolean;
}

const APOSTROPHE = Buffer.from("'");

/** A cell's content as it stands in the file. */
export function csvCell(content: Uint8Array, rules: PlainCsvRules): PlainCsvCell {
  const guarded = isFormula(content, rules.guard);
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const plain = guarded ? Buffer.concat([APOSTROPHE, text]) : text;
  const empty = plain.length === 0 && rules.quoteEmpty;
  return { bytes: rules.quote || empty || needsQuotes(plain, rules.delimiter) ? quoted(plain) : plain, guarded };
}

/** The content of a raw field [as it stands between delimiters]: unquoted when it is quoted. `quote` 0 = no quotes. */
export function rawContent(field: Uint8Array, quote: number): Uint8Array {
  if (quote === 0 || field.length < 2 || field[0] !== quote) return field;
  const mark = String.fromCharCode(quote);
  const inside = Buffer.from(field.buffer, field.byteOffset + 1, field.byteLength - 2);
  if (!inside.includes(mark)) return inside;
  return Buffer.from(inside.toString('latin1').replaceAll(mark + mark, mark), 'latin1');
}

function needsQuotes(text: Buffer, delimiter: Uint8Array): boolean {
  return text.indexOf(delimiter) >= 0 || text.includes('"') || text.includes('\n') || text.includes('\r');
}

function quoted(text: Buffer): Buffer {
  // Latin-1 keeps each byte as one character, so bytes that are no ASCII pass unchanged.
  return Buffer.from(`"${text.toString('latin1').replaceAll('"', '""')}"`, 'latin1');
}
