// Files at the limits of an upload: the longest cells, the widest rows, the busiest JSON. Each is made only when it is requested,
// because together they would not fit into the test's memory.

/** Slightly below the limits of an upload (docs/reference/limits.md, "Limits of files"). */
const CELL_BYTES = 4 * 1024 * 1024 - 16;
const COLUMNS = 16_384;

/** Rows of a wide file: as many as one batch holds. */
const WIDE_ROWS = 12;

/** Rows that each have a cell of maximum length: four such files exceed the state that the tests' budget allows. */
const LONG_ROWS = 6;

const fill = (piece: string, bytes = CELL_BYTES): string => piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));
/** A list of maximum length for a cell of the CSV file, in which its quotes are doubled. */
const list = (item: string): string => {
  const items = Math.floor((CELL_BYTES - 8) / (item.replaceAll('"', '""').length + 1));
  return `[${Array.from({ length: items }, () => item).join(',')}]`;
};
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const oneCell = (text: string): string => `a,b,g\n${quoted(text)},y,1\n`;

/** Files by the kind of their contents. Files with long cells have the columns a, b and g. */
export const WORST_FILES: Readonly<Record<string, () => string>> = {
  ascii: () => oneCell(fill('Ab c<d>&amp;1 ')),
  letters: () => oneCell(fill('x')),
  wideLetters: () => oneCell(fill('ß字é')),
  separators: () => oneCell(fill(',')),
  digits: () => oneCell(fill('7')),
  two: () => `a,b,g\n${fill('x')},${fill('y')},1\n`,
  longRows: () =>
    `a,b,g\n${Array.from({ length: LONG_ROWS }, (_, row) => `${fill(String(row % 10))},b${row},${row % 2}\n`).join('')}`,
  shortRows: () => `a,b,g\n${Array.from({ length: 400_000 }, (_, row) => `${row},${row % 7},${row % 400}\n`).join('')}`,
  wide: () => `${columns('c')}\n${`${columns('v')}\n`.repeat(WIDE_ROWS)}`,
  wideNumbers: () => `${columns('c')}\n${`${columns('')}\n`.repeat(WIDE_ROWS)}`,
  wideLong: () => `a,${columns('c', COLUMNS - 1)}\n${fill('x')},${columns('v', COLUMNS - 1)}\n`,
  jsonNumbers: () => oneCell(list('1')),
  jsonLists: () => oneCell(list('[]')),
  jsonObjects: () => oneCell(list('{"k":1}')),
  jsonKeys: () => oneCell(`{${Array.from({ length: 300_000 }, (_, key) => `"${key}":1`).join(',')}}`),
  jsonText: () => oneCell(`"${fill('\\\\', CELL_BYTES - 2)}"`),
};

function columns(prefix: string, count = COLUMNS): string {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`).join(',');
}
