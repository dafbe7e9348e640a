// The failures that a CSV's own text can cause. Lines are counted from 1, as an editor does; nothing of the text is named.
import { Failed } from '../../protocol/failure.ts';
import { CELL_BYTES_MAX, COLUMNS_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import { notValid } from '../encoding/undecodable.ts';

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
  | 'blankHeader'
  | 'headerDelimiter';

/** What to do where detection is wrong; a reference table has no such settings. */
export const DIALECT_ADVICE =
  'Declare them in the Template (input.csv.delimiter, input.csv.header_row) or send delimiter and header_row with the file.';

const MESSAGES: Record<Exclude<CsvTrouble, 'utf8'>, (line: number) => string> = {
  nul: (line) => `Line ${line} holds a NUL byte: this is not text.`,
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
  headerDelimiter: () =>
    'The header row and the data rows do not hold the same delimiter: the delimiter or the header row cannot be detected. ' +
    DIALECT_ADVICE,
};

/**
 * Most data rows have more filled fields than the header has columns, at a delimiter that nobody has declared: to drop
 * their cells would be a guess.
 */
export function tooWide(wideRows: number, rows: number, columns: number): Failed {
  const message =
    `${wideRows} of ${rows} data rows have filled fields beyond the ${columns === 1 ? 'one column' : `${columns} columns`} ` +
    `of the header row: the detected delimiter or header row is wrong. ${DIALECT_ADVICE}`;
  return new Failed('MALFORMED_FILE', message);
}

/** So many wide rows fail a file: of a handful nobody can say which is the exception. They are counted. */
export const WIDE_ROWS_MIN = 4;

export function malformed(trouble: CsvTrouble, line: number): Failed {
  return trouble === 'utf8' ? notValid('utf-8', line) : new Failed('MALFORMED_FILE', MESSAGES[trouble](line));
}
