// Prints sections as tables on the terminal.
import type { Section } from './section.ts';

export function printSection({ title, columns, rows, notes }: Section): void {
  const widths = columns.map((column, index) => Math.max(column.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[index]!))).join('  ');
  console.log(`\n${title}`);
  console.log(line(columns));
  for (const row of rows) console.log(line(row));
  for (const note of notes) console.log(`  ${note}`);
}
