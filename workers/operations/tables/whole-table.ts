// Loads all of a reference table into the Run's memory, for operations that need any of its rows at any time. They cannot
// part it into files as a join does.
import { Failed } from '../../failure.ts';
import type { TableRows } from '../../tables/table-rows.ts';
import type { TableIndex } from './table-index.ts';

/** A table this small is loaded whatever the budget says: a Run has few of them, and each is read for its own use. */
const TABLE_BYTES_FORCED = 1024 * 1024;

/** @throws Failed RUN_RESOURCE_LIMIT when the budget refuses the table */
export function loadWhole(index: TableIndex, table: TableRows, name: string): void {
  if (index.load(table, table.sizeBytes <= TABLE_BYTES_FORCED)) return;
  const message =
    `The memory budget has no room for the reference table ${JSON.stringify(name)}: lookup and map_values need all of ` +
    'it at once. Use join, which works in any memory, or a larger budget.';
  throw new Failed('RUN_RESOURCE_LIMIT', message);
}
