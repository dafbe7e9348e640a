// Ceilings of a catalog's files. They keep a mistake (a dump copied into the folder, a link to a device) from filling
// the memory of a node that reads the whole folder again at each change.

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const GIBIBYTE = 1024 * MEBIBYTE;

/** Plans are some hundred bytes each. */
export const PLANS_FILE_BYTES_MAX = MEBIBYTE;

/** A key is some 250 bytes: room for thousands. */
export const ACCOUNT_FILE_BYTES_MAX = 2 * MEBIBYTE;

/** Templates are written by hand; one with large inline maps stays below this. Larger maps belong in a table. */
export const TEMPLATE_FILE_BYTES_MAX = MEBIBYTE;

/** Tables are read by the engine, not kept here: only their digests are taken. */
export const TABLE_FILE_BYTES_MAX = 4 * GIBIBYTE;

/** Tests are small; what a file of one holds is in memory while they run. */
export const TEST_FILE_BYTES_MAX = 16 * MEBIBYTE;

/** A key for HMAC-SHA-256: 32 bytes are enough. */
export const SECRET_FILE_BYTES_MAX = 4 * KIBIBYTE;

/** Files of one folder. */
export const FOLDER_FILES_MAX = 50_000;

/** Problems that are reported at once: whoever has more mends these first. */
export const CATALOG_PROBLEMS_MAX = 200;
