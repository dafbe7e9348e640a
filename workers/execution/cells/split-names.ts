// How `unpivot` takes the names of columns apart: which columns stand in one row, and under which names their cells go.
import type { Column } from '../../batch/schema.ts';
import type { ColumnSet, Scope } from '../../template/scope.ts';

/** Stands among the names for the part of a name that is the column of its value. */
export const VALUE_NAME = '.value';

/** What the column of values is called unless the Template says so. */
export const VALUES_NAME = 'value';

/** Values of one row that the columns of a file become, times such rows: each has an address and a reader. */
const PLACED_CELLS_MAX = 262_144;

/** A new column of values. */
interface PlacedValues<C> {
  /** Null: the one that `values_to` names. */
  readonly name: string | null;
  /** By place: the column that its cell comes from; null where there is none. */
  readonly columns: readonly (C | null)[];
}

/** What one row becomes: a row for each place. */
export interface SplitNames<C> {
  /** By place, the parts of the names without the one for the value. */
  readonly names: readonly (readonly (string | null)[])[];
  readonly values: readonly PlacedValues<C>[];
}

/** Of the operation's parameters those that say what becomes of names. */
interface NameParameters {
  readonly pattern?: string;
  readonly values_to?: string;
}

/** Whether the parameters go together; else a problem has been told. */
export function checkNames({ pattern, values_to }: NameParameters, namesTo: readonly string[], scope: Scope): boolean {
  const problem = (pointer: string, message: string): false => {
    scope.problem(pointer, 'BAD_VALUE', message);
    return false;
  };
  const hasValue = namesTo.includes(VALUE_NAME);
  if (pattern === undefined && (namesTo.length > 1 || hasValue))
    return problem('/names_to', 'Only a "pattern" takes names apart. Write one, with a group for each name here.');
  if (new Set(namesTo).size < namesTo.length) return problem('/names_to', 'A name is listed twice.');
  if (hasValue && values_to !== undefined && values_to !== VALUES_NAME)
    return problem('/values_to', 'The group of ".value" names the columns of the values. Leave "values_to" out.');
  return true;
}

/** The columns that become rows; null after a problem. */
export function splitColumns(
  { pattern }: NameParameters,
  set: ColumnSet,
  namesTo: readonly string[],
  scope: Scope,
): SplitNames<Column> | null {
  if (pattern === undefined) return wholeNames(scope.resolve(set, '/columns'));
  const plain = scope.compilePattern(pattern);
  const compiled = scope.compilePattern(`^(?:${pattern})$`);
  if ('problem' in plain || 'problem' in compiled) {
    scope.problem('/pattern', 'BAD_PATTERN', 'problem' in plain ? plain.problem : 'The pattern is too long.');
    return null;
  }
  if (compiled.groupCount !== namesTo.length) {
    const message = `The pattern has ${compiled.groupCount} groups and "names_to" ${namesTo.length} names: each group has one.`;
    scope.problem('/pattern', 'BAD_VALUE', message);
    return null;
  }
  const valuePart = namesTo.indexOf(VALUE_NAME);
  const isListed = typeof set === 'string' ? set !== '*' : Array.isArray(set);
  const columns: Column[] = [];
  const parts: (readonly (string | null)[])[] = [];
  for (const column of scope.resolve(set, '/columns')) {
    const found = compiled.groups(column.name);
    // A value without a name would be a column without one.
    if (found !== null && (valuePart < 0 || found[valuePart])) {
      columns.push(column);
      parts.push(found);
    } else if (isListed)
      scope.problem('/columns', 'BAD_VALUE', `The pattern does not fit the name ${JSON.stringify(column.name)}.`);
  }
  if (columns.length === 0 && scope.closed) {
    scope.problem('/pattern', 'NO_COLUMNS', 'The pattern fits the name of no column at this step.');
    return null;
  }
  const split = splitNames(columns, parts, namesTo);
  if (split === null)
    scope.problem('/pattern', 'TOO_MANY_COLUMNS', `More than ${PLACED_CELLS_MAX} cells would be made of a row.`);
  return split;
}

/** Every column gives a row with its name. */
function wholeNames<C extends { readonly name: string }>(columns: readonly C[]): SplitNames<C> {
  return { names: columns.map(({ name }) => [name]), values: [{ name: null, columns }] };
}

/**
 * Columns whose other parts are equal stand in one row, side by side; where two would be in one cell the second begins a
 * row of its own. Places and values in the order of their first column.
 * @param split the parts of each column's name, as many as `into`
 * @returns null where there would be too many cells
 */
export function splitNames<C>(
  columns: readonly C[],
  split: readonly (readonly (string | null)[])[],
  into: readonly string[],
): SplitNames<C> | null {
  const valuePart = into.indexOf(VALUE_NAME);
  const places = new Map<string, { readonly names: readonly (string | null)[]; readonly place: number }>();
  const values = new Map<string | null, Map<number, C>>();
  /** Cells of each value and names: they have the rows before the next one's. */
  const copies = new Map<string, number>();
  for (const [index, column] of columns.entries()) {
    const parts = split[index]!;
    const value = valuePart < 0 ? null : parts[valuePart]!;
    const cells = values.get(value) ?? new Map<number, C>();
    values.set(value, cells);
    const names = parts.filter((_, part) => part !== valuePart);
    const alike = JSON.stringify([value, ...names]);
    const copy = copies.get(alike) ?? 0;
    copies.set(alike, copy + 1);
    const key = JSON.stringify([copy, ...names]);
    const found = places.get(key) ?? { names, place: places.size };
    places.set(key, found);
    cells.set(found.place, column);
  }
  if (places.size * values.size > PLACED_CELLS_MAX) return null;
  const all = [...places.values()];
  return {
    names: all.map(({ names }) => names),
    values: [...values].map(([name, cells]) => ({ name, columns: all.map(({ place }) => cells.get(place) ?? null) })),
  };
}
