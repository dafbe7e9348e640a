// Orders with every field quoted, as in many exports: searching for commas alone finds no fields.
import { COUNTRIES, FIRST_NAMES, LAST_NAMES, noteText, STATES } from './orders.ts';
import { pick, type Random, two, writeSeededFile } from './seeded-file.ts';

const SEED = 44;
const ADDRESSES = 500_000;
const COLUMNS = ['id', 'name', 'email', 'country', 'status', 'amount', 'qty', 'notes'];

/** Writes about `bytes` bytes unless a file of that size exists. */
export function makeQuoted(path: string, bytes: number): void {
  writeSeededFile({ path, bytes, seed: SEED, header: quoted(COLUMNS), line: quotedLine });
}

function quotedLine(id: number, random: Random): string {
  const cells = [
    String(id),
    `${pick(FIRST_NAMES, random)} ${pick(LAST_NAMES, random)}`,
    `user${random(ADDRESSES)}@example.com`,
    pick(COUNTRIES, random),
    pick(STATES, random),
    `${random(1000)}.${two(random(100))}`,
    String(1 + random(20)),
    noteText(random),
  ];
  return `${quoted(cells)}\n`;
}

function quoted(cells: readonly string[]): string {
  return cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');
}
