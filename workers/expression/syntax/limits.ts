// Limits of expressions, with reasons. They bound the cost of a Template, not the content of rows.

/** Maximum size of an expression in UTF-8 bytes: docs/reference/template.md, "Limits". */
export const SOURCE_BYTES_MAX = 4096;

/** Maximum number of nodes in an expression's tree: docs/reference/template.md, "Limits". */
export const NODES_MAX = 1000;

/**
 * Maximum nesting of brackets, calls, branches and signs: docs/reference/template.md, "Limits". Keeps recursion
 * shallow.
 */
export const DEPTH_MAX = 64;

/**
 * Maximum number of steps of one evaluation (iterations of a comprehension; elements copied, searched or compared;
 * ranges of text read). Usually takes a few milliseconds, and at most about a second: upper() takes 40 to 80 ns per
 * character of a long text. A cell of 4 MiB may be read six times.
 */
export const STEPS_MAX = 100_000;

/** Length of text (in UTF-16 units or bytes) that counts as one step if a function or comparison reads it. */
export const STEP_LENGTH = 256;

/**
 * Product of characters and pattern instructions that counts as one step if re2js runs its program: 70 ns each, for
 * up to two microseconds per step.
 */
export const STEP_PATTERN_WORK = 128;

/** Number of characters that count as one step if re2js only tests for a match (with its DFA: 15 ns each). */
export const STEP_PATTERN_LENGTH = 128;

/** Maximum length of a text that an expression may create, in UTF-16 units: the maximum size of a cell in bytes. */
export const TEXT_LENGTH_MAX = 4 * 1024 * 1024;

/** Maximum number of problems reported at once: docs/reference/template.md. */
export const PROBLEMS_MAX = 50;
