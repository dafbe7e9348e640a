// A header of several lines: which lines above the one with the names belong to it, and how they are joined. Titles of a
// report also stand above a header, but in its first columns alone or spread over all; those of groups leave gaps.
import { type Body, bodyBelow, isBlank, isFilledBelow, isYear } from './body-comparison.ts';
import { cellKind, isDataKind } from './cell-kind.ts';
import type { Cells, Records } from './records.ts';

/** Lines that a header of several lines has at most: titles, groups of columns, names, units. */
export const HEADER_LINES_MAX = 5;

/** So many copies of one text in a line are one title, spread over the columns of a merged cell. */
const SPREAD_CELLS_MIN = 3;

/** A single letter below a name is a cell as well as a unit. */
const UNITS_MIN = 2;

/** How a unit is written below a name: in brackets, or one of these. */
const BRACKETED = /^(?:\([^()]{0,20}\)|\[[^[\]]{0,20}\])$/;
const UNITS: ReadonlySet<string> = new Set(
  (
    '- % ‰ # ° °C °F K C F m mm cm km dm µm μm um nm in ft yd mi m2 m² m3 m³ km2 km² ha l L ml mL dl hl g kg mg µg μg ug t lb oz ' +
    's ms µs μs us ns min h hr hrs sec d day days yr year years Hz kHz MHz GHz V mV kV A mA µA W kW MW GW kWh MWh GWh Wh J kJ ' +
    'MJ GJ cal kcal N kN Nm Pa hPa kPa MPa GPa bar mbar psi atm mol mmol ppm ppb dB rad deg m/s km/h mph m/s2 m/s² m/ss g/l ' +
    'mg/l mg/L µg/l g/kg mg/kg kg/m3 kg/m³ W/m2 W/m² g/cm3 g/cm³ 1/s cm-1 lx lm cd T Ω ohm kOhm pH EUR USD GBP CHF JPY SEK NOK DKK PLN CZK ' +
    '€ $ £ ¥ TEUR kEUR k€ T€ Mio'
  ).split(' '),
);

/** One text again and again, and no other. */
export function isSpreadTitle(record: Cells): boolean {
  const filled = record.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return filled.length >= SPREAD_CELLS_MIN && new Set(filled).size === 1 && areTitles(record);
}

/** Units of measure alone, such as kg, [m] or %. */
export function isUnitsLine(record: Cells): boolean {
  const filled = record.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return (
    filled.length >= UNITS_MIN &&
    filled.some((cell) => cell !== '-') &&
    filled.every((cell) => UNITS.has(cell) || BRACKETED.test(cell))
  );
}

/** Numbers but for years, dates and addresses belong to what is told of a file, not to titles. */
export function areTitles(record: Cells): boolean {
  return record.every((cell) => isYear(cell.trim()) || !isDataKind(cellKind(cell)));
}

export function isSameLine(one: Cells, other: Cells): boolean {
  const width = Math.max(one.length, other.length);
  for (let column = 0; column < width; column++)
    if ((one[column] ?? '').trim() !== (other[column] ?? '').trim()) return false;
  return true;
}

/**
 * @param row the last line of the header
 * @returns the first one of the lines without a blank one between that are joined to it: `row` itself where none is
 */
export function firstHeaderLine(records: Records, row: number): number {
  let first = row;
  let below: Cells = records.has(row) ? records.at(row) : [];
  while (first > 0 && row - first + 1 < HEADER_LINES_MAX) {
    const above = records.at(first - 1);
    if (!isCompletedBy(above, below, bodyBelow(records, row)) && !isGroupLine(above, below)) break;
    below = joinHeaderLines([above, below]);
    first--;
  }
  return first;
}

/**
 * The names of columns whose header has several lines, joined with a space. A title stands for the columns to its right,
 * too, as long as their names stand elsewhere as well, and need it to be told apart.
 * @param lines from the first to the last one
 */
export function joinHeaderLines(lines: readonly Cells[]): readonly string[] {
  const [last = [], ...above] = [...lines].reverse();
  let names = last;
  for (const line of above) names = placeAbove(line, names);
  return names;
}

function placeAbove(line: Cells, names: Cells): readonly string[] {
  const texts = names.map((name) => name.trim());
  const isRepeated = (name: string): boolean => name !== '' && texts.indexOf(name) !== texts.lastIndexOf(name);
  const width = Math.max(line.length, names.length);
  const joined: string[] = [];
  let title = '';
  for (let column = 0; column < width; column++) {
    const own = (line[column] ?? '').trim();
    const name = texts[column] ?? '';
    if (own !== '' || !isRepeated(name)) title = own;
    if (title === '' || name === title) joined.push(names[column] ?? '');
    else joined.push(name === '' ? line[column]! : `${title} ${name}`);
  }
  return joined;
}

/** A line of titles, each for some of the columns below: gaps show how far one goes. */
function isGroupLine(above: Cells, below: Cells): boolean {
  const columns = filledColumns(above);
  if (columns.length === 0 || !areTitles(above)) return false;
  if (columns.length === 1 && columns[0] === 0) return false;
  const named = filledColumns(below);
  if (isSpreadTitle(above)) return named.some((column) => (above[column] ?? '').trim() === '');
  if (isSameLine(above, below)) return true;
  const last = columns.at(-1)!;
  const hasGap = named.some((column) => column < last && (above[column] ?? '').trim() === '');
  return hasGap || hasRepeatedNeighbours(above, below);
}

/** The line below says more of some names of the one above, and names nothing by itself: units, or "restated". */
function isCompletedBy(above: Cells, below: Cells, body: Body): boolean {
  const named = filledColumns(below);
  if (!areTitles(above)) return false;
  if (named.length === 0 || !named.every((column) => (above[column] ?? '').trim() !== '')) return false;
  return (
    isUnitsLine(below) || filledColumns(above).some((column) => !named.includes(column) && isFilledBelow(body, column))
  );
}

/** A merged cell is often exported once for each of its columns. */
function hasRepeatedNeighbours(above: Cells, below: Cells): boolean {
  return above.some((cell, column) => {
    const text = cell.trim();
    const next = (above[column + 1] ?? '').trim();
    return text !== '' && text === next && (below[column] ?? '').trim() !== (below[column + 1] ?? '').trim();
  });
}

function filledColumns(record: Cells): number[] {
  const columns: number[] = [];
  for (let column = 0; column < record.length; column++) if (!isBlank(record[column]!)) columns.push(column);
  return columns;
}
