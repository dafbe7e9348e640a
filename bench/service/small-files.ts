// Files of about 1 KB for the benchmark of small Runs: a plain one, and the same rows as other programs write them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeOrders } from '../inputs/orders.ts';

const FILE_BYTES = 1_000;

/** A plain file of orders. */
export function smallFile(folder: string): Buffer {
  const path = join(folder, 'small.csv');
  makeOrders(path, FILE_BYTES);
  return readFileSync(path);
}

export interface OtherForm {
  readonly name: string;
  readonly file: Buffer;
}

/** The same file in other forms. Each leaves some doubt about its form, or has more significant bytes. */
export function otherForms(plain: Buffer): readonly OtherForm[] {
  const lines = plain.toString().trimEnd().split('\n');
  const cells = lines.map((line) => line.split(','));
  const last = cells.at(-1)!;
  const forms = [
    ['short last row', [...lines, last.slice(0, 5).join(',')]],
    ['short row in the middle', [...lines.slice(0, 2), last.slice(0, 9).join(','), ...lines.slice(2)]],
    ['semicolons', cells.map((row) => row.join(';'))],
    ['every field in quotes', cells.map((row) => row.map((cell) => `"${cell}"`).join(','))],
    ['a preamble of three lines', ['Report: orders', 'Date: 2024-05-01', '', ...lines]],
  ] as const;
  return forms.map(([name, rows]) => ({ name, file: Buffer.from(`${rows.join('\n')}\n`) }));
}
