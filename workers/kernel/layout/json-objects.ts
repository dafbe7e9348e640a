// The columns that become members of a JSON object, as the kernel that writes such objects gets them.

/** Words of a column: one of the MEMBER kinds, where its cells lie, their meta or native kinds, and its key. */
export const MEMBER_KIND: usize = 0;
export const MEMBER_AT: usize = 4;
export const MEMBER_META: usize = 8;
/** `"key":` with a comma before it; as many bytes as a key has. */
export const MEMBER_KEY: usize = 12;
export const MEMBER_KEY_BYTES: usize = 16;
export const MEMBER_BYTES: usize = 20;

/** Texts, JSON as it is written, views with native kinds (in META), and typed columns. */
export const MEMBER_TEXT: u32 = 0;
export const MEMBER_JSON: u32 = 1;
export const MEMBER_NATIVE: u32 = 2;
export const MEMBER_BOOLEAN: u32 = 3;
export const MEMBER_INTEGER: u32 = 4;
export const MEMBER_DECIMAL: u32 = 5;
export const MEMBER_DATE: u32 = 6;
export const MEMBER_DATETIME: u32 = 7;

/** Cells of more bytes are someone else's: escaped they could take six times the room. */
export const MEMBER_CELL_BYTES_MAX: u32 = 65_536;
