// A Template's text as a tree of values with their positions, and JSON pointers to them.

// JSON pointers (RFC 6901), which give the positions of problems in a Template.

/** One segment of a pointer, escaped. */
export function pointerSegment(name: string | number): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The segments of a pointer, unescaped. */
export function pointerSegments(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

// A Template's text as a tree of values with their positions, the same for JSON and YAML, and the limits of such a
// text.

/**
 * Maximum length of a Template's text, in characters: far more than a person writes, and few enough to read in a
 * tenth of a second.
 */
export const TEMPLATE_CHARACTERS_MAX = 1_048_576;

/** Maximum nesting of values. The language itself needs about ten levels. */
export const TEMPLATE_DEPTH_MAX = 64;

/** Maximum number of values of a Template, including those that YAML aliases repeat. */
export const TEMPLATE_NODES_MAX = 200_000;

/** Maximum number of YAML aliases of a Template: the language has fragments for repetition. */
export const TEMPLATE_ALIASES_MAX = 100;

/** Maximum number of problems reported at once. */
export const PROBLEMS_MAX = 50;

/** A value with its position. Objects have no prototype, so that `__proto__` is an ordinary key. */
export interface SourceNode {
  /** Offset in the text; for a value with a key, the offset of the key. */
  readonly at: number;
  readonly value: unknown;
  readonly children: ReadonlyMap<string, SourceNode> | readonly SourceNode[] | null;
}

export interface SourceProblem {
  readonly at: number;
  readonly code: string;
  readonly message: string;
}

export type SourceResult = { readonly root: SourceNode } | { readonly problems: readonly SourceProblem[] };

/** Thrown by the readers when they cannot continue. */
export class SourceRefused extends Error {
  readonly problem: SourceProblem;

  constructor(at: number, code: string, message: string) {
    super(message);
    this.problem = { at, code, message };
  }
}

/** Checks that a number is finite and exact. Larger whole numbers would lose digits. */
export function checkedNumber(value: number, at: number): number {
  if (!Number.isFinite(value)) throw new SourceRefused(at, 'BAD_NUMBER', 'Not a number that a Template can hold.');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new SourceRefused(at, 'BAD_NUMBER', 'The number has too many digits to be kept exactly. Write it in quotes.');
  }
  return value;
}

/** Offset of the deepest value that a pointer reaches: the value itself, or its nearest existing parent. */
export function placeOf(root: SourceNode, pointer: string): number {
  let node = root;
  for (const segment of pointerSegments(pointer)) {
    const { children } = node;
    const child =
      children instanceof Map ? children.get(segment) : (children as SourceNode[] | null)?.[Number(segment)];
    if (child === undefined) break;
    node = child;
  }
  return node.at;
}

/** Converts offsets to lines and columns, both starting at 1. */
export class LineTable {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (const match of text.matchAll(/\r\n|\n|\r/g)) this.#starts.push(match.index + match[0].length);
  }

  position(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#starts[low]! + 1 };
  }
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
