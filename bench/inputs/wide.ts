// A hundred columns of short numbers: what a sensor or a report writes, and where the cost of a cell shows.
import { type Random, two, writeSeededFile } from './seeded-file.ts';

const SEED = 43;
const COLUMNS = 100;

/** Writes about `bytes` bytes unless the file is there with that size. */
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
