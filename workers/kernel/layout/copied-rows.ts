// What the kernels that make several rows of one share with their callers: where they stand among the rows, and the lists of
// copies that they fill.

/** u32 words as byte offsets. In and out: the position at which is gone on, and how far its cell is done. */
export const POSITION: usize = 0;
/** Bytes of the cell that are done, and values; 0: nothing of it is. */
export const DONE_BYTES: usize = 4;
export const DONE_ITEMS: usize = 8;
/** In and out: copies in the lists; in: how many they hold. */
export const COPIES: usize = 12;
export const COPIES_MAX: usize = 16;
/** Lists by copy: u32 physical row, view of the value. */
export const LIST_ROWS: usize = 20;
export const LIST_VIEWS: usize = 24;
/** A byte of native kind for each; 0: there are none. And the kinds of the cells, by physical row. */
export const LIST_KINDS: usize = 28;
export const CELL_KINDS: usize = 32;
/** i64 number of the value in its cell from 1, and a byte of meta; 0: nobody wants them. */
export const LIST_NUMBERS: usize = 36;
export const LIST_META: usize = 40;
/** Values of one cell at most. */
export const ITEMS_MAX: usize = 44;
/** In and out, of a kernel that writes texts: the first free byte, and the end of what is free. */
export const NEXT_FREE: usize = 48;
export const FREE_END: usize = 52;
export const STATE_BYTES: usize = 64;

/** Why a kernel stopped: behind the last row, no room for copies, no room for texts, a cell for someone else at POSITION. */
export const STOPPED_AT_END: u32 = 0;
export const STOPPED_FULL: u32 = 1;
export const STOPPED_NO_ROOM: u32 = 2;
export const STOPPED_AT_CELL: u32 = 3;
