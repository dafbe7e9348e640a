// Owns turning the program of a pattern into one that takes bytes of UTF-8, and the classes of bytes that it tells apart.
import { BEGIN_LINE, END_LINE, NO_WORD_BOUNDARY, type PatternProgram, WORD_BOUNDARY } from './pattern-program.ts';
import { type ByteRanges, utf8Ranges } from './utf8-ranges.ts';

/** A node takes a byte from a range, or is one of the steps that take none. */
export type ByteNode =
  | { readonly kind: 'either'; readonly next: number; readonly other: number }
  | { readonly kind: 'assert'; readonly assertions: number; readonly next: number }
  | { readonly kind: 'capture'; readonly slot: number; readonly next: number }
  | { readonly kind: 'byte'; readonly from: number; readonly to: number; readonly next: number }
  | { readonly kind: 'match' }
  | { readonly kind: 'fail' };

export interface ByteProgram {
  readonly nodes: readonly ByteNode[];
  readonly start: number;
  /** Nodes below this number are the steps of the pattern, those behind it bytes of their characters. */
  readonly steps: number;
  /** The nodes that are matches. */
  readonly matches: readonly number[];
  /** The assertions that occur. */
  readonly assertions: number;
  /** The class of each byte: no pattern tells bytes of one class apart. */
  readonly classes: Uint8Array;
  /** A byte of each class. */
  readonly members: readonly number[];
}

/** Nodes of one program at most: large classes of Unicode have some thousand. What is larger is left to re2js. */
const NODES_MAX = 10_000;

const NEWLINE = 10;

/** The program on bytes; null where it has too many nodes. */
export function byteProgram(program: PatternProgram): ByteProgram | null {
  const builder = new NodeBuilder(program);
  return builder.isTooLarge ? null : builder;
}

export function isWordByte(byte: number): boolean {
  const letter = byte | 0x20;
  return (byte >= 48 && byte <= 57) || (letter >= 97 && letter <= 122 && byte < 0x80) || byte === 95;
}

/** The steps keep their numbers, their bytes come behind. */
class NodeBuilder implements ByteProgram {
  readonly nodes: ByteNode[];
  readonly start: number;
  readonly steps: number;
  readonly matches: readonly number[];
  readonly assertions: number;
  readonly classes = new Uint8Array(256);
  readonly members: number[] = [];
  readonly #known = new Map<string, number>();

  constructor({ steps, start }: PatternProgram) {
    this.start = start;
    this.steps = steps.length;
    this.matches = [...steps.keys()].filter((index) => steps[index]!.kind === 'match');
    this.nodes = steps.map((): ByteNode => ({ kind: 'fail' }));
    let assertions = 0;
    for (const [index, step] of steps.entries()) {
      if (this.isTooLarge) break;
      if (step.kind === 'characters') this.nodes[index] = this.#eitherOf(step.set, step.next);
      else if (step.kind === 'pass') this.nodes[index] = { kind: 'either', next: step.next, other: step.next };
      else this.nodes[index] = step;
      if (step.kind === 'assert') assertions |= step.assertions;
    }
    this.assertions = assertions;
    this.#classify();
  }

  get isTooLarge(): boolean {
    return this.nodes.length > NODES_MAX;
  }

  /** A node from which any of the characters leads to `next`. */
  #eitherOf(set: readonly number[], next: number): ByteNode {
    let node: ByteNode = { kind: 'fail' };
    for (let at = 0; at < set.length && !this.isTooLarge; at += 2) {
      for (const ranges of utf8Ranges(set[at]!, set[at + 1]!)) {
        const [from, to] = ranges[0]!;
        const one: ByteNode = { kind: 'byte', from, to, next: this.#chain(ranges, 1, next) };
        node = node.kind === 'fail' ? one : { kind: 'either', next: this.#add(one), other: this.#add(node) };
      }
    }
    return node;
  }

  /** The node behind the first bytes of a character, shared by those that end alike. */
  #chain(ranges: ByteRanges, from: number, next: number): number {
    let node = next;
    for (let index = ranges.length - 1; index >= from; index--) {
      const [low, high] = ranges[index]!;
      const key = `${low},${high},${node}`;
      const known = this.#known.get(key) ?? this.#add({ kind: 'byte', from: low, to: high, next: node });
      this.#known.set(key, known);
      node = known;
    }
    return node;
  }

  #add(node: ByteNode): number {
    return this.nodes.push(node) - 1;
  }

  #classify(): void {
    const begins = new Uint8Array(257);
    const cut = (from: number, to: number): void => {
      begins[from] = 1;
      begins[to + 1] = 1;
    };
    for (const node of this.nodes) if (node.kind === 'byte') cut(node.from, node.to);
    // A match begins and ends between characters, and nothing holds inside of one.
    cut(0x80, 0xbf);
    if ((this.assertions & (BEGIN_LINE | END_LINE)) !== 0) cut(NEWLINE, NEWLINE);
    if ((this.assertions & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0) {
      for (let byte = 0; byte < 0x80; byte++) if (isWordByte(byte) !== isWordByte(byte + 1)) begins[byte + 1] = 1;
    }
    for (let byte = 0; byte < 256; byte++) {
      if (byte === 0 || begins[byte] === 1) this.members.push(byte);
      this.classes[byte] = this.members.length - 1;
    }
  }
}
