// Patterns on bytes: converts the program of a pattern to UTF-8 bytes, and searches with a lazy DFA.
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  type PatternProgram,
  WORD_BOUNDARY,
} from './pattern-program.ts';

// Converts ranges of characters to ranges of their UTF-8 bytes.

/** For each byte of a character, its range [from, to]. */
type ByteRanges = readonly (readonly [from: number, to: number])[];

/** Last characters with one, two, three and four bytes. */
const LAST_BY_BYTES = [0x7f, 0x7ff, 0xffff, 0x10ffff] as const;

/** Bits of a character in each byte after the first. */
const BITS = 6;

/** Byte sequences for all characters of a range, in as few sequences as possible. */
export function utf8Ranges(from: number, to: number): ByteRanges[] {
  const found: ByteRanges[] = [];
  const pending: [number, number][] = [[from, to]];
  for (let range = pending.pop(); range !== undefined; range = pending.pop()) {
    const [first, last] = range;
    const at = placeToSplit(first, last);
    if (at === null) found.push(rangesOf(first, last));
    else pending.push([at + 1, last], [first, at]);
  }
  return found;
}

/** The last character of the first part, if one sequence does not cover the whole range. */
function placeToSplit(first: number, last: number): number | null {
  for (const end of LAST_BY_BYTES) if (first <= end && last > end) return end;
  for (let bytes = 1; bytes < LAST_BY_BYTES.length; bytes++) {
    const mask = 2 ** (BITS * bytes) - 1;
    if (last <= 0x7f || (first & ~mask) === (last & ~mask)) continue;
    if ((first & mask) !== 0) return first | mask;
    if ((last & mask) !== mask) return (last & ~mask) - 1;
  }
  return null;
}

function rangesOf(first: number, last: number): ByteRanges {
  const [low, high] = [bytesOf(first), bytesOf(last)];
  return low.map((byte, index) => [byte, high[index]!] as const);
}

function bytesOf(point: number): number[] {
  if (point <= LAST_BY_BYTES[0]) return [point];
  const length = LAST_BY_BYTES.findIndex((last) => point <= last) + 1;
  const lead = (0xf00 >> length) & 0xff;
  return Array.from({ length }, (_, index) => {
    const bits = (point >> (BITS * (length - 1 - index))) & 0x3f;
    return index === 0 ? lead | bits : 0x80 | bits;
  });
}

// Converts the program of a pattern to a program on UTF-8 bytes, and computes classes of bytes that the program does
// not distinguish.

/** A node either consumes a byte from a range, or is a step that consumes nothing. */
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
  /** Nodes below this number are the steps of the pattern; the others are bytes of their characters. */
  readonly steps: number;
  /** The match nodes. */
  readonly matches: readonly number[];
  /** Union of all assertions in the program. */
  readonly assertions: number;
  /** The class of each byte. The program does not distinguish bytes of the same class. */
  readonly classes: Uint8Array;
  /** One byte of each class. */
  readonly members: readonly number[];
}

/**
 * Maximum number of nodes of one program: large Unicode classes have a few thousand. Larger programs are left to
 * re2js.
 */
const NODES_MAX = 10_000;

const NEWLINE = 10;

/** The program on bytes; null if it has too many nodes. */
export function byteProgram(program: PatternProgram): ByteProgram | null {
  const builder = new NodeBuilder(program);
  return builder.isTooLarge ? null : builder;
}

export function isWordByte(byte: number): boolean {
  const letter = byte | 0x20;
  return (byte >= 48 && byte <= 57) || (letter >= 97 && letter <= 122 && byte < 0x80) || byte === 95;
}

/** Steps keep their numbers; nodes for their bytes are appended. */
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

  /** A node from which any character of the set leads to `next`. */
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

  /** The node after the first bytes of a character. Characters with the same remaining bytes share it. */
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
    // Matches start and end between characters, and no assertion holds inside a character.
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

// Lazy DFA of a pattern on bytes, as in RE2: decides whether a text contains a match. States are created when they
// are first reached. A state is a set of program positions and, if assertions need it, what preceded it.

/** Reserved state numbers, which have no positions. */
export const STATE_DEAD = 0;
export const STATE_MATCHED = 1;

/** Maximum number of positions in all states, which limits the memory of one pattern to a few MiB. */
const PLACES_MAX = 200_000;

/** Flags for what preceded a state. */
const AFTER_START = 1;
const AFTER_NEWLINE = 2;
const AFTER_WORD = 4;

interface State {
  /** Nodes that consume a byte or test an assertion, ascending. */
  readonly places: Uint16Array;
  readonly after: number;
}

export class ByteAutomaton {
  readonly classes: Uint8Array;
  /** The class for the end of the text, after the classes of bytes. */
  readonly endClass: number;
  readonly start: number;
  readonly #program: ByteProgram;
  readonly #states: State[] = [];
  readonly #known = new Map<string, number>();
  /** True if matches can only start at the start of the text. */
  readonly #isAnchored: boolean;
  readonly #seen: Uint8Array;
  #placesLeft = PLACES_MAX;

  constructor(program: ByteProgram) {
    this.#program = program;
    this.classes = program.classes;
    this.endClass = program.members.length;
    this.#seen = new Uint8Array(program.nodes.length);
    this.#isAnchored = isAnchored(program);
    // Occupy the two reserved state numbers.
    this.#states.push({ places: new Uint16Array(), after: 0 }, { places: new Uint16Array(), after: 0 });
    this.start = this.#stateOf([program.start], AFTER_START, 0) ?? STATE_DEAD;
  }

  /** The state after a byte of a class, or after the end; null if there are too many states. */
  next(from: number, byClass: number): number | null {
    const state = this.#states[from]!;
    const isEnd = byClass === this.endClass;
    const byte = isEnd ? -1 : this.#program.members[byClass]!;
    const holding = this.#holding(state.after, byte);
    const places = this.#closure(state.places, holding);
    if (places === null) return STATE_MATCHED;
    if (isEnd) return STATE_DEAD;
    const nodes = this.#program.nodes;
    const reached: number[] = [];
    for (const place of places) {
      const node = nodes[place]!;
      if (node.kind === 'byte' && byte >= node.from && byte <= node.to) reached.push(node.next);
    }
    if (!this.#isAnchored) reached.push(this.#program.start);
    const { assertions } = this.#program;
    const asksWords = (assertions & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0;
    const asksLines = (assertions & BEGIN_LINE) !== 0;
    const after =
      (asksLines && byte === NEWLINE ? AFTER_NEWLINE : 0) | (asksWords && isWordByte(byte) ? AFTER_WORD : 0);
    return this.#stateOf(reached, after, 0);
  }

  /** Forgets all states except one, and returns its new number. `start` is not valid any more. */
  restart(from: number): number {
    const { places, after } = this.#states[from]!;
    this.#states.length = STATE_MATCHED + 1;
    this.#known.clear();
    this.#placesLeft = PLACES_MAX;
    return this.#add(places, after, keyOf(places, after));
  }

  /**
   * Assertions that hold between the preceding byte and the next one (-1 at the end). No assertion holds inside a
   * character.
   */
  #holding(after: number, byte: number): number {
    if (byte >= 0x80 && byte < 0xc0) return 0;
    const isBoundary = ((after & AFTER_WORD) !== 0) !== (byte >= 0 && isWordByte(byte));
    let holding = isBoundary ? WORD_BOUNDARY : NO_WORD_BOUNDARY;
    if ((after & AFTER_START) !== 0) holding |= BEGIN_TEXT | BEGIN_LINE;
    if ((after & AFTER_NEWLINE) !== 0) holding |= BEGIN_LINE;
    if (byte < 0) holding |= END_TEXT | END_LINE;
    if (byte === NEWLINE) holding |= END_LINE;
    return holding;
  }

  #stateOf(reached: Iterable<number>, after: number, holding: number): number | null {
    const places = this.#closure(reached, holding);
    if (places === null) return STATE_MATCHED;
    if (places.length === 0) return STATE_DEAD;
    const key = keyOf(places, after);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    return this.#placesLeft < places.length ? null : this.#add(Uint16Array.from(places), after, key);
  }

  #add(places: Uint16Array, after: number, key: string): number {
    this.#placesLeft -= places.length;
    const made = this.#states.push({ places, after }) - 1;
    this.#known.set(key, made);
    return made;
  }

  /** Positions reachable without consuming a byte, ascending; null if the pattern has matched. */
  #closure(from: Iterable<number>, holding: number): number[] | null {
    const { nodes } = this.#program;
    const seen = this.#seen.fill(0);
    const pending = [...from];
    const places: number[] = [];
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      if (seen[place] === 1) continue;
      seen[place] = 1;
      const node = nodes[place]!;
      if (node.kind === 'match') return null;
      if (node.kind === 'either') pending.push(node.next, node.other);
      else if (node.kind === 'capture') pending.push(node.next);
      else if (node.kind === 'assert' && (node.assertions & ~holding) === 0) pending.push(node.next);
      else if (node.kind !== 'fail') places.push(place);
    }
    return places.sort((a, b) => a - b);
  }
}

function keyOf(places: ArrayLike<number> & { join(separator: string): string }, after: number): string {
  return `${after}:${places.join(' ')}`;
}

/** True if the program first requires the start of the text. */
function isAnchored({ nodes, start }: ByteProgram): boolean {
  let node = nodes[start]!;
  while (node.kind === 'capture' || (node.kind === 'either' && node.next === node.other)) node = nodes[node.next]!;
  return node.kind === 'assert' && (node.assertions & BEGIN_TEXT) !== 0;
}
