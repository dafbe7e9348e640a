// The lines above the header of a CSV (output.csv.preamble), with values of the file in them.
import type { MetaValues } from '../../input/reader.ts';
import { csvCell } from '../../kernel/plain/emit-csv.ts';
import type { CsvRules } from './csv-rules.ts';
import type { CsvSettings } from './csv-section.ts';
import { formulaRefusal } from './formula-refusal.ts';
import { filledIn, type PreambleCell } from './preamble-cells.ts';

/** The lines, and how many of their cells the formula guard changed. Throws Failed where it refuses one. */
export function preambleBytes(
  { preamble, quoting }: CsvSettings,
  { delimiter, lineEnding, guard }: CsvRules,
  meta: MetaValues,
): { readonly bytes: Uint8Array; readonly guarded: number } {
  let guardedCells = 0;
  const quote = (cell: PreambleCell): boolean => quoting === 'all' || (quoting === 'text' && typeof cell === 'string');
  const lines = preamble.map((cells) => {
    const made = cells.map((cell, column) => {
      if (cell === null) return '';
      const text = filledIn(String(cell), meta);
      const rules = {
        delimiter,
        quote: quote(cell),
        quoteEmpty: false,
        guard: typeof cell === 'string' ? guard : 'off',
      };
      const { bytes, guarded } = csvCell(Buffer.from(text), rules);
      if (guarded && guard === 'fail') throw formulaRefusal(column, null);
      if (guarded) guardedCells++;
      return Buffer.from(bytes).toString();
    });
    return made.join(Buffer.from(delimiter).toString()) + Buffer.from(lineEnding).toString();
  });
  return { bytes: Buffer.from(lines.join('')), guarded: guardedCells };
}
