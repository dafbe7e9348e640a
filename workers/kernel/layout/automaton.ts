// An automaton of bytes (assembly/match-pattern.ts): its head, u32 words as byte offsets, and what stands in its table.

/** Address of a table of 256 bytes: the class of each byte. */
export const CLASSES: usize = 0;
/** Class that stands for the end of a text. */
export const END_CLASS: usize = 4;
/** Address of the row of the first state, or one of the outcomes below. */
export const START: usize = 8;
/** Where the kernel stopped, for want of a transition: address of the state's row, and the class. */
export const MISSING_STATE: usize = 12;
export const MISSING_CLASS: usize = 16;
export const HEAD_BYTES: usize = 20;

/** A row has a u32 for each class: the address of the next state's row, or one of these. */
export const UNBUILT: u32 = 0;
/** Nothing that follows can make it match. */
export const DEAD: u32 = 1;
export const MATCHED: u32 = 2;
/** There are more states than fit. */
export const TOO_MANY: u32 = 3;
