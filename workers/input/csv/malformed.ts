// The failures that a CSV's own text can cause. Lines are counted from 1, as an editor does; nothing of the text is named.
import { Failed } from '../../failure.ts';
import { CELL_BYTES_MAX, COLUMNS_MAX, ROW_BYTES_MAX } from '../ceilings.ts';

const MIB = 1024 * 1024;

/** What is wrong with a row, at an address or a line that the reader knows. */
export type CsvTrouble =
  | 'nul'
  | 'utf8'
  | 'cell'
  | 'row'
  | 'columns'
  | 'quote'
  | 'ragged'
  | 'stray'
  | 'empty'
  | 'header'
  | 'blankHeader';

/** What to do about a file that is not UTF-8; a reference table has no such setting. */
export const ENCODING_ADVICE = 'If it is another encoding, the Template must name it: input.csv.encoding.';

const MESSAGES: Record<CsvTrouble, (line: number) => string> = {
  nul: (line) => `Line ${line} holds a NUL byte: this is not text.`,
  utf8: (line) => `Line ${line} is not valid UTF-8. ${ENCODING_ADVICE}`,
  cell: (line) => `Line ${line} begins a cell of more than ${CELL_BYTES_MAX / MIB} MiB.`,
  row: (line) =>
    `Line ${line} begins a row of more than ${ROW_BYTES_MAX / MIB} MiB; perhaps a quoted field is not closed.`,
  columns: (line) => `Line ${line} has more than ${COLUMNS_MAX} columns.`,
  quote: (line) => `Line ${line} begins a quoted field that is not closed before the end of the file.`,
  ragged: (line) => `Line ${line} has another number of fields than the header.`,
  stray: (line) => `Line ${line} has a quoted field with text behind its closing quote.`,
  empty: () => 'The file is empty or holds only blank lines.',
  header: () => 'The header row lies behind the end of the file.',
  blankHeader: () => 'The header row is a blank line.',
};

export function malformed(trouble: CsvTrouble, line: number): Failed {
  return new Failed('MALFORMED_FILE', MESSAGES[trouble](line));
}
