// What the scan leaves behind it (kernel/assembly/structural.ts): its state, and the structurals, of which some end rows.

/** u32 slots of the state. */
export const AT = 0;
export const MODE = 1;
export const OUT = 2;
export const LINES = 3;
export const ROW_ENDS = 4;
export const FLAGS = 5;
export const STATE_SLOTS = 6;

export const MODE_START = 0;
export const MODE_QUOTED = 2;

export const FLAG_NUL = 1;
export const FLAG_LITERAL_QUOTE = 2;

const LF = 10;
const CR = 13;

/** Address behind the last structural before `behind` that ends a row; `entries` when none does. */
export function lastRowEnd(u8: Uint8Array, u32: Uint32Array, entries: number, behind: number): number {
  let entry = behind;
  for (; entry > entries; entry -= 4) {
    const byte = u8[u32[(entry >>> 2) - 1]!];
    if (byte === LF || byte === CR) break;
  }
  return entry;
}
