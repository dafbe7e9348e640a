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

export interface PlainCsvPieces {
  /** The same bytes in pieces, of which none takes long to make. */
  readonly pieces: Iterable<Uint8Array>;
  readonly guarded: boolean;
}

/** Bytes of a cell that are quoted at once: a millisecond where all are quotes. */
const PIECE_BYTES = 65_536;

const APOSTROPHE = Buffer.from("'");
const QUOTE = Buffer.from('"');

/** A cell's content as it stands in the file. */
export function csvCell(content: Uint8Array, rules: PlainCsvRules): PlainCsvCell {
  const { pieces, guarded } = csvCellPieces(content, rules);
  return { bytes: Buffer.concat([...pieces]), guarded };
}

export function csvCellPieces(content: Uint8Array, rules: PlainCsvRules): PlainCsvPieces {
  const guarded = isFormula(content, rules.guard);
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const plain = guarded ? Buffer.concat([APOSTROPHE, text]) : text;
  const empty = plain.length === 0 && rules.quoteEmpty;
  return { pieces: rules.quote || empty || needsQuotes(plain, rules.delimiter) ? quoted(plain) : [plain], guarded };
}

/** The content of a raw field [as it stands between delimiters]: unquoted when it is quoted. `quote` 0 = no quotes. */
export function rawContent(field: Uint8Array, quote: number): Uint8Array {
  if (quote === 0 || field.length < 2 || field[0] !== quote) return field;
  const inside = Buffer.from(field.buffer, field.byteOffset + 1, field.byteLength - 2);
  if (!inside.includes(quote)) return inside;
  // A loop: texts of quotes alone cost the runtime's own replacement a hundred times as much.
  const content = Buffer.allocUnsafe(inside.length);
  let length = 0;
  for (let at = 0; at < inside.length; at++) {
    const byte = inside[at]!;
    content[length++] = byte;
    if (byte === quote && inside[at + 1] === quote) at++;
  }
  return content.subarray(0, length);
}

function needsQuotes(text: Buffer, delimiter: Uint8Array): boolean {
  return text.indexOf(delimiter) >= 0 || text.includes('"') || text.includes('\n') || text.includes('\r');
}

function* quoted(text: Buffer): Iterable<Buffer> {
  yield QUOTE;
  for (let from = 0; from < text.length; from += PIECE_BYTES) {
    const to = Math.min(text.length, from + PIECE_BYTES);
    const piece = Buffer.allocUnsafe((to - from) * 2);
    let length = 0;
    for (let at = from; at < to; at++) {
      const byte = text[at]!;
      piece[length++] = byte;
      if (byte === QUOTE[0]) piece[length++] = byte;
    }
    yield piece.subarray(0, length);
  }
  yield QUOTE;
}
