// Columns of text for a terminal.
import type { CommandIo } from './command.ts';

/** Two spaces between columns, each as wide as its widest cell. */
export function printTable(io: CommandIo, headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    io.stdout.write(`${cells.join('  ').trimEnd()}\n`);
  }
}
