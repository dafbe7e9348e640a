// Files at the ceilings of what an upload may be: the longest cells, the widest rows, the busiest JSON. Made when asked for,
// since together they would not fit a test's memory.

/** Ceilings of an upload (docs/reference/limits.md, "Limits of files"), a little below. */
const CELL_BYTES = 4 * 1024 * 1024 - 16;
const COLUMNS = 16_384;

/** Rows of a wide file: as many as its batches hold. */
const WIDE_ROWS = 12;

/** Rows that each have a longest cell: several times what state may take in the tests' budget. */
const LONG_ROWS = 12;

const fill = (piece: string, bytes = CELL_BYTES): string => piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));
/** Its quotes are doubled in the file, where a cell may have so many bytes. */
const list = (item: string): string => {
  const items = Math.floor((CELL_BYTES - 8) / (item.replaceAll('"', '""').length + 1));
  return `[${Array.from({ length: items }, () => item).join(',')}]`;
};
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const oneCell = (text: string): string => `a,b,g\n${quoted(text)},y,1\n`;

/** By what is in them. Those with long cells have the columns a, b and g. */
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
