// A Template's text as a tree of values that know their place in it, the same for JSON and YAML, and the limits of it.
import { pointerSegments } from './pointer.ts';

/** Characters of a Template's text at most: far more than a person writes, little enough to read in a tenth of a second. */
export const TEMPLATE_CHARACTERS_MAX = 1_048_576;

/** Values inside values at most; the language itself needs about ten levels. */
export const TEMPLATE_DEPTH_MAX = 64;

/** Values of a Template at most, those that YAML aliases repeat included. */
export const TEMPLATE_NODES_MAX = 200_000;

/** YAML aliases of a Template at most: fragments are the language's own way to repeat. */
export const TEMPLATE_ALIASES_MAX = 100;

/** Problems reported at once. */
export const PROBLEMS_MAX = 50;

/** Objects have no prototype: a key such as `__proto__` is a key like others. */
export interface SourceNode {
  /** Offset in the text, of the key where the node is a value with a key. */
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

/** Thrown inside the readers where they cannot go on. */
export class SourceRefused extends Error {
  readonly problem: SourceProblem;

  constructor(at: number, code: string, message: string) {
    super(message);
    this.problem = { at, code, message };
  }
}

/** A number as a Template may hold it; larger ones would lose digits. */
export function checkedNumber(value: number, at: number): number {
  if (!Number.isFinite(value)) throw new SourceRefused(at, 'BAD_NUMBER', 'Not a number that a Template can hold.');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new SourceRefused(at, 'BAD_NUMBER', 'The number has too many digits to be kept exactly. Write it in quotes.');
  }
  return value;
}

/** Offset of the deepest value that a pointer reaches: the value itself, or what lacks it. */
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

/** Turns offsets into lines and columns, both from 1. */
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
