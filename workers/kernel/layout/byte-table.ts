// Tables of 256 bytes that say what becomes of each byte of a cell: it is dropped, it is kept, or the cell is handed back.

export const DROP: u32 = 0;
export const KEEP: u32 = 1;
export const BACK: u32 = 2;
