// Searches the structurals that a scan has found for those that end a row.
import { CR, LF } from '../../kernel/layout/scan.ts';

/**
 * Returns the address after the last structural before `after` that ends a row, or `entries` if no structural does.
 */
export function lastRowEnd(u8: Uint8Array, u32: Uint32Array, entries: number, after: number): number {
  let entry = after;
  for (; entry > entries; entry -= 4) {
    const byte = u8[u32[(entry >>> 2) - 1]!];
    if (byte === LF || byte === CR) break;
  }
  return entry;
}
