// Owns the automaton of a pattern: which texts it is found in, byte by byte, with states that are made as they are met (the
// lazy DFA of RE2). A state is a set of places in the program, and what was before it where an assertion asks.
import { type ByteProgram, isWordByte } from './byte-program.ts';
import { BEGIN_LINE, BEGIN_TEXT, END_LINE, END_TEXT, NO_WORD_BOUNDARY, WORD_BOUNDARY } from './pattern-program.ts';

/** States that are no set of places. */
export const STATE_DEAD = 0;
export const STATE_MATCHED = 1;

/** Places in all states together: what the heap of JavaScript holds for one pattern, some MiB at most. */
const PLACES_MAX = 200_000;

const NEWLINE = 10;

/** What stood before a state. */
const AFTER_START = 1;
const AFTER_NEWLINE = 2;
const AFTER_WORD = 4;

interface State {
  /** Nodes that take a byte or assert something, ascending. */
  readonly places: Uint16Array;
  readonly after: number;
}

export class ByteAutomaton {
  readonly classes: Uint8Array;
  /** The class that stands for the end of the text, behind those of bytes. */
  readonly endClass: number;
  readonly start: number;
  readonly #program: ByteProgram;
  readonly #states: State[] = [];
  readonly #known = new Map<string, number>();
  /** Whether a match begins at the start of the text alone. */
  readonly #isAnchored: boolean;
  readonly #seen: Uint8Array;
  #placesLeft = PLACES_MAX;

  constructor(program: ByteProgram) {
    this.#program = program;
    this.classes = program.classes;
    this.endClass = program.members.length;
    this.#seen = new Uint8Array(program.nodes.length);
    this.#isAnchored = isAnchored(program);
    // The numbers of the two states that are none.
    this.#states.push({ places: new Uint16Array(), after: 0 }, { places: new Uint16Array(), after: 0 });
    this.start = this.#stateOf([program.start], AFTER_START, 0) ?? STATE_DEAD;
  }

  /** The state behind a byte of a class, or the end; null where there are too many states. */
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

  /** What holds between what stood before and a byte, -1 at the end. Inside of a character nothing does. */
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
    const key = `${after}:${places.join(' ')}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#placesLeft -= places.length;
    if (this.#placesLeft < 0) return null;
    const made = this.#states.push({ places: Uint16Array.from(places), after }) - 1;
    this.#known.set(key, made);
    return made;
  }

  /** The places that are reached without a byte, ascending; null where the pattern has matched. */
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

/** Whether the first thing that the program asks for is the start of the text. */
function isAnchored({ nodes, start }: ByteProgram): boolean {
  let node = nodes[start]!;
  while (node.kind === 'capture' || (node.kind === 'either' && node.next === node.other)) node = nodes[node.next]!;
  return node.kind === 'assert' && (node.assertions & BEGIN_TEXT) !== 0;
}
