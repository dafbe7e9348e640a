// Scalar reference implementation of the kernels of short keys.
import { SHORT_KEY_BYTES_MAX } from '../../../../workers/kernel/layout/keys.ts';

/** The keys that the table holds, with their numbers. */
export type KeyCacheTable = Map<string, number>;

type Key = readonly (string | null)[];

/** Null if the key is too long for the table. */
function shortKey(cells: Key): string | null {
  const bytes = cells.reduce((sum, cell) => sum + 1 + Buffer.byteLength(cell ?? ''), 0);
  return bytes > SHORT_KEY_BYTES_MAX ? null : JSON.stringify(cells);
}

/** The number of each key; null if the table does not hold the key. */
export function findCachedKeys(table: KeyCacheTable, keys: readonly Key[]): (number | null)[] {
  return keys.map((cells) => {
    const key = shortKey(cells);
    return key === null ? null : (table.get(key) ?? null);
  });
}

/** Adds new keys while the table holds fewer than `most`. */
export function addCachedKeys(
  table: KeyCacheTable,
  keys: readonly Key[],
  numbers: readonly number[],
  most: number,
): void {
  for (const [at, cells] of keys.entries()) {
    const key = shortKey(cells);
    if (key !== null && !table.has(key) && table.size < most) table.set(key, numbers[at]!);
  }
}
