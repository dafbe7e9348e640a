// Headers of several lines: finds the lines above the names that belong to the header, and joins them. A line above the
// names may also be the title of a report, which is in the first columns only, or repeated over all columns. Titles of
// column groups have empty cells between them instead.
import { type Body, bodyBelow, isBlank, isFilledBelow, isYear } from './body-comparison.ts';
import { cellKind, isDataKind } from './cell-kind.ts';
import type { Cells, Records } from './records.ts';

/** Maximum number of header lines: titles, groups of columns, names, units. */
export const HEADER_LINES_MAX = 5;

/** Minimum number of equal cells in a line that count as one title, which a merged cell repeats over its columns. */
const SPREAD_CELLS_MIN = 3;

/** Minimum number of units in a line of units. A single letter below a name may also be a cell. */
const UNITS_MIN = 2;

/** Forms of a unit below a name: in brackets, or one of the following. */
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

/** True if the line repeats one text and contains no other. */
export function isSpreadTitle(record: Cells): boolean {
  const filled = record.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return filled.length >= SPREAD_CELLS_MIN && new Set(filled).size === 1 && areTitles(record);
}

/** True if the line contains only units of measure, such as kg, [m] or %. */
export function isUnitsLine(record: Cells): boolean {
  const filled = record.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return (
    filled.length >= UNITS_MIN &&
    filled.some((cell) => cell !== '-') &&
    filled.every((cell) => UNITS.has(cell) || BRACKETED.test(cell))
  );
}

/** True if the record may be titles. Numbers (except years), dates and addresses are data instead. */
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
 * @param row last line of the header
 * @returns the first of the consecutive non-blank lines that are joined to `row`, or `row` itself
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
 * Joins the names of columns whose header has several lines with a space. A title also applies to the columns to its
 * right if their names occur more than once, so that they need the title to be distinguished.
 * @param lines from the first line to the last
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

/** True for a line of titles, each for some of the columns below. Gaps show where a group ends. */
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

/** True if the line below only completes names of the line above and contains no names itself: units, or "restated". */
function isCompletedBy(above: Cells, below: Cells, body: Body): boolean {
  const named = filledColumns(below);
  if (!areTitles(above)) return false;
  if (named.length === 0 || !named.every((column) => (above[column] ?? '').trim() !== '')) return false;
  return (
    isUnitsLine(below) || filledColumns(above).some((column) => !named.includes(column) && isFilledBelow(body, column))
  );
}

/** A merged cell is often exported as one copy per column. */
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
