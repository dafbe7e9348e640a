// Owns the limits of expressions, each with its reason. They bound what a template can cost, not what a row may hold.

/** Most bytes (UTF-8) of one expression: docs/reference/template.md, "Limits". */
export const SOURCE_BYTES_MAX = 4096;

/** Most nodes of one expression's tree: docs/reference/template.md, "Limits". */
export const NODES_MAX = 1000;

/** Most brackets, calls, branches and signs inside each other: docs/reference/template.md, "Limits"; keeps every recursion shallow. */
export const DEPTH_MAX = 64;

/**
 * Steps (turns of a comprehension, elements copied, searched or compared, ranges of text read) of one evaluation: some
 * milliseconds as a rule, and about a second at most: upper() takes 40 to 80 ns a character of a long text. A cell of
 * 4 MiB may be read six times.
 */
export const STEPS_MAX = 100_000;

/** Length of text (UTF-16 units, bytes) that counts as one step when a function or comparison reads it. */
export const STEP_LENGTH = 256;

/**
 * Characters times instructions of a pattern that count as one step where re2js walks its program: 70 ns each, up to the
 * two microseconds of a step.
 */
export const STEP_PATTERN_WORK = 128;

/** Characters that count as one step where re2js only says whether a pattern is found (its DFA: 15 ns each). */
export const STEP_PATTERN_LENGTH = 128;

/** Longest text that an expression may make, in UTF-16 units: no more bytes than a cell may have. */
export const TEXT_LENGTH_MAX = 4 * 1024 * 1024;

/** Most problems that are reported at once: docs/reference/template.md. */
export const PROBLEMS_MAX = 50;
