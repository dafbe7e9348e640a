// Compares the texts of a sheet with Excel's export of it, like the collection's scorer (F1 over the texts of all
// cells, regardless of their positions), except for cells that are numbers, dates or booleans in the file, because
// number formats determine how those are displayed. Also explains why some workbooks are intentionally read
// differently.
import { readFileSync } from 'node:fs';
import { KIND_TEXT } from '../workers/kernel/layout/cells.ts';
import type { ReadCell, ReadSheet } from './workbook-cells.ts';

export const EXPLAINED_MISSES: Readonly<Record<string, string>> = {
  'LONumbers.xlsx': 'formulas without a result, which Excel computed as it exported: here null, and counted',
  'numfmt_1_russian.xlsm': 'results of TEXT(), which Excel computed anew under another locale as it exported',
  'poi_56502.xlsx': 'a function that the exporting Excel did not know: here the result that the file has',
  'poi_CustomXMLMappings-complex-type.xlsx':
    'the export begins at the first cell, so that kinds are looked up beside it',
  float2: 'it writes numbers as their formats show them: here their values',
  percentage: 'it writes numbers as their formats show them: here their values',
  timeformat: 'it writes dates by their formats, with their quotes; here in ISO 8601',
  sheets: 'it writes all sheets with a line between them: here input.sheet says which are read',
  variousdelim: 'it writes all sheets with a line between them: here input.sheet says which are read',
};

type Grid = readonly (readonly string[])[];

/** Reads the export of a file, as written by Excel for Mac. */
export function expectedGrid(path: string): Grid {
  const text = new TextDecoder('macintosh').decode(readFileSync(path));
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|\r|\n|$)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== ',') rows.push([]);
  }
  return rows;
}

/** Returns null if neither has a text. */
export function textScore(expected: Grid, read: ReadSheet): number | null {
  const wanted: string[] = [];
  const got: string[] = [];
  for (const [index, cells] of expected.entries()) {
    const row = read.get(index + 1) ?? [];
    for (const [column, text] of cells.entries()) if (isText(row[column])) wanted.push(text);
  }
  for (const row of read.values())
    for (const cell of row) if (cell !== undefined && isText(cell)) got.push(cell.text ?? cell.shown!);
  return overlap(wanted.map(asExcelWrites).filter(isWord), got.map(asExcelWrites).filter(isWord));
}

/** A text that is not in the file may also be a text cell, which is then missed. */
function isText(cell: ReadCell | undefined): boolean {
  return cell === undefined || cell.text === null || cell.kind === KIND_TEXT;
}

/** Excel writes `_` for characters that its encoding lacks. */
function asExcelWrites(text: string): string {
  const spaced = text.replace(/[^\S\u00a0]+/g, ' ').replace(/^ +| +$/g, '');
  return spaced.replace(/[^\x20-\x7e]/gu, (character) => '_'.repeat(character.length));
}

/** The scorer ignores texts that look like a number or a date. */
function isWord(text: string): boolean {
  return text !== '' && !/^(?:[\s$€£¥%(),.\d:/+\-eE*#?]*|TRUE|FALSE)$/.test(text);
}

function overlap(wanted: readonly string[], got: readonly string[]): number | null {
  if (wanted.length === 0 && got.length === 0) return null;
  const left = new Map<string, number>();
  for (const text of wanted) left.set(text, (left.get(text) ?? 0) + 1);
  let both = 0;
  for (const text of got) {
    const count = left.get(text) ?? 0;
    if (count > 0) both++;
    left.set(text, count - 1);
  }
  return (2 * both) / (wanted.length + got.length);
}
