// Reads a workbook with exceljs, cell by cell, for tests of the writer.
import { inflateRawSync } from 'node:zlib';
import ExcelJS from 'exceljs';

/** A cell's value with the code of its number format. */
export interface ReadCell {
  readonly value: unknown;
  readonly format: string | undefined;
}

export interface ReadSheet {
  readonly name: string;
  /** Cells by row and column, from 0; null for a missing cell. */
  readonly rows: (ReadCell | null)[][];
  readonly sheet: ExcelJS.Worksheet;
}

export async function readWorkbook(bytes: Buffer): Promise<ReadSheet[]> {
  const workbook = new ExcelJS.Workbook();
  // The declarations of exceljs refer to the Buffer of an older runtime.
  await workbook.xlsx.load(Uint8Array.from(bytes).buffer as Parameters<typeof workbook.xlsx.load>[0]);
  return workbook.worksheets.map((sheet) => {
    const rows = Array.from({ length: sheet.rowCount }, (_, row) =>
      Array.from({ length: sheet.columnCount }, (_, column): ReadCell | null => {
        const cell = sheet.getCell(row + 1, column + 1);
        if (cell.type === ExcelJS.ValueType.Null) return null;
        return { value: typeof cell.value === 'string' ? decoded(cell.value) : cell.value, format: cell.numFmt };
      }),
    );
    return { name: sheet.name, rows, sheet };
  });
}

/** The values of the first sheet; null for missing cells. */
export async function valuesOf(bytes: Buffer | null): Promise<unknown[][]> {
  if (bytes === null) throw new Error('there is no output');
  const [sheet] = await readWorkbook(bytes);
  return sheet!.rows.map((row) => row.map((cell) => cell?.value ?? null));
}

/** The text of one part of the archive, found through the directory. */
export function partOf(bytes: Buffer, name: string): string {
  const end = bytes.lastIndexOf('PK\u0005\u0006');
  let at = bytes.readUInt32LE(end + 16);
  for (let entry = bytes.readUInt16LE(end + 10); entry > 0; entry--) {
    const length = bytes.readUInt16LE(at + 28);
    const offset = bytes.readUInt32LE(at + 42);
    const content = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
    const deflated = bytes.subarray(content, content + bytes.readUInt32LE(at + 20));
    if (bytes.toString('latin1', at + 46, at + 46 + length) === name) return inflateRawSync(deflated).toString();
    at += 46 + length + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  throw new Error(`the workbook has no ${name}`);
}

/** Decodes the escapes of characters that XML lacks (_x0001_), which exceljs leaves unchanged. */
function decoded(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
