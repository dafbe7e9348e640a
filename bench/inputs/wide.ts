// A hundred columns of short numbers: typical of sensors and reports, and sensitive to the cost of a cell.
import { type Random, two, writeSeededFile } from './seeded-file.ts';

const SEED = 43;
const COLUMNS = 100;

/** Writes about `bytes` bytes unless a file of that size exists. */
export function makeWide(path: string, bytes: number): void {
  const header = Array.from({ length: COLUMNS }, (_, index) => `c${index}`).join(',');
  writeSeededFile({ path, bytes, seed: SEED, header, line: wideLine });
}

function wideLine(_id: number, random: Random): string {
  const cells: string[] = [];
  for (let column = 0; column < COLUMNS; column++) {
    cells.push(random(2) === 0 ? String(random(1000)) : `${random(100)}.${two(random(100))}`);
  }
  return `${cells.join(',')}\n`;
}
