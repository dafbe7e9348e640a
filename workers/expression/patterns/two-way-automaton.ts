// Finds the first match of a pattern and its groups in two passes over the bytes (a bimachine): a lazy DFA from the
// end, and a pass from the start that follows only paths which lead to a match. The matches are RE2's: the preferred
// one of all paths that lead to an end.
import { AFTER_NEWLINE, AFTER_NOTHING, AFTER_OTHER, AFTER_WORD } from '../../kernel/layout/patterns.ts';
import { type ByteNode, type ByteProgram, isWordByte } from './byte-automaton.ts';
import { BEGIN_LINE, BEGIN_TEXT, END_LINE, END_TEXT, NO_WORD_BOUNDARY, WORD_BOUNDARY } from './pattern-program.ts';

/** Maximum number of positions in all states, which limits the memory of one pattern to a few MiB. */
const PLACES_MAX = 200_000;

const NEWLINE = 10;
const VARIANTS = 4;

/** Flags for the byte at a state's position. */
const AT_END = 1;
const AT_NEWLINE = 2;
const AT_WORD = 4;
/** A byte inside a character. */
const AT_INSIDE = 8;

interface State {
  /** Nodes that accept the byte and from which the rest of the text leads to a match, ascending. */
  readonly places: Uint16Array;
  readonly at: number;
}

/** The state at the preceding byte, and whether a match may start at the current one. */
export interface StepBack {
  readonly state: number | null;
  readonly mayStart: boolean;
}

/**
 * The transition from a position: the entry after its character, or null for a match; and the slots that are set at
 * the position.
 */
export interface Transition {
  readonly next: number | null;
  readonly slots: readonly number[];
}

export class TwoWayAutomaton {
  readonly classes: Uint8Array;
  /** The class for the start of the text, after the classes of bytes. */
  readonly startClass: number;
  /** The state after the last byte. */
  readonly last: number;
  /**
   * Number of entries. An entry is a program position combined with what preceded it; the first entries are those of
   * the start.
   */
  readonly entries: number;
  readonly #program: ByteProgram;
  readonly #steps: number;
  /** Requested slots, each with its index among them. */
  readonly #wanted: ReadonlyMap<number, number>;
  readonly #needsEnd: boolean;
  readonly #variants: number;
  readonly #targets: readonly number[];
  readonly #targetNumbers: ReadonlyMap<number, number>;
  readonly #before: readonly (readonly number[])[];
  readonly #byClass: readonly Uint16Array[];
  readonly #capturing: Uint8Array;
  readonly #states: State[] = [];
  readonly #known = new Map<string, number>();
  readonly #seen: Uint8Array;
  #placesLeft = PLACES_MAX;

  /**
   * @param slots requested slots in addition to those of the match, numbered as in the program
   * @param needsEnd true if the end of the match is needed; otherwise a pass ends after the last slot
   */
  constructor(program: ByteProgram, slots: readonly number[], needsEnd: boolean) {
    const { nodes, members, start } = program;
    this.#program = program;
    this.#steps = program.steps;
    this.#wanted = new Map(slots.map((slot, index) => [slot, index]));
    this.#needsEnd = needsEnd;
    this.#variants = program.assertions === 0 ? 1 : VARIANTS;
    this.#targets = [
      ...new Set([start, ...nodes.flatMap((node) => (node.kind === 'byte' ? [this.#after(node)] : []))]),
    ];
    this.#targetNumbers = new Map(this.#targets.map((target, index) => [target, index]));
    this.entries = this.#targets.length * this.#variants;
    this.classes = program.classes;
    this.startClass = members.length;
    this.#before = nodesBefore(nodes);
    this.#byClass = members.map((byte) =>
      Uint16Array.from([...nodes.keys()].filter((index) => takes(nodes[index]!, byte))),
    );
    this.#capturing = this.#reaching();
    this.#seen = new Uint8Array(nodes.length);
    this.last = this.#stateOf([], AT_END)!;
  }

  /** Offset of an entry after a state's byte, which is added to the number of its position. */
  variantOf(state: number): number {
    const { at } = this.#states[state]!;
    if (this.#variants === 1) return 0;
    return (at & AT_NEWLINE) !== 0 ? AFTER_NEWLINE : (at & AT_WORD) !== 0 ? AFTER_WORD : AFTER_OTHER;
  }

  /** Offset of an entry at the start of a text. */
  get startVariant(): number {
    return this.#variants === 1 ? 0 : AFTER_NOTHING;
  }

  /**
   * Moves from a state to the state of a preceding byte, or to the start of the text. Null if there are too many
   * states.
   */
  back(from: number, byClass: number): StepBack {
    const { places, at } = this.#states[from]!;
    const byte = byClass === this.startClass ? -1 : this.#program.members[byClass]!;
    const before =
      byte < 0 ? AFTER_NOTHING : byte === NEWLINE ? AFTER_NEWLINE : isWordByte(byte) ? AFTER_WORD : AFTER_OTHER;
    const good = this.#leadingTo(places, holding(before, at));
    const mayStart = (at & AT_INSIDE) === 0 && good[this.#program.start] === 1;
    if (byte < 0) return { state: from, mayStart };
    const alive: number[] = [];
    for (const index of this.#byClass[byClass]!) {
      const node = this.#program.nodes[index]!;
      if (node.kind === 'byte' && good[node.next] === 1) alive.push(index);
    }
    return { state: this.#stateOf(alive, atByte(byte)), mayStart };
  }

  /** The path from a position with an entry, at a byte of a state from which the entry leads to a match. */
  way(state: number, entry: number): Transition {
    const { nodes } = this.#program;
    const { places, at } = this.#states[state]!;
    const target = this.#targets[Math.floor(entry / this.#variants)]!;
    const holds = holding(this.#variants === 1 ? AFTER_OTHER : entry % this.#variants, at);
    const seen = this.#seen.fill(0);
    const pending: Pending[] = [{ place: target, slots: null }];
    for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
      const { place, slots } = item;
      if (seen[place] === 1) continue;
      seen[place] = 1;
      const node = nodes[place]!;
      if (node.kind === 'match') return { next: null, slots: listed(slots) };
      if (node.kind === 'byte' && includes(places, place)) return this.#wayBehind(node, state, slots);
      // The preferred path is examined first.
      if (node.kind === 'either') pending.push({ place: node.other, slots }, { place: node.next, slots });
      else if (node.kind === 'assert' && (node.assertions & ~holds) === 0) pending.push({ place: node.next, slots });
      else if (node.kind === 'capture') {
        const slot = this.#wanted.get(node.slot);
        pending.push({ place: node.next, slots: slot === undefined ? slots : { slot, before: slots } });
      }
    }
    throw new Error('a state announced a match, but no match was found');
  }

  #wayBehind(node: ByteNode & { kind: 'byte' }, state: number, slots: Slots | null): Transition {
    const target = this.#after(node);
    const isDone = !this.#needsEnd && this.#capturing[target] === 0;
    const next = this.#targetNumbers.get(target)! * this.#variants + (node.next === target ? this.variantOf(state) : 0);
    return { next: isDone ? null : next, slots: listed(slots) };
  }

  /** The step of the pattern after the character to which a byte belongs. */
  #after(node: ByteNode & { kind: 'byte' }): number {
    let { next } = node;
    for (
      let then = this.#program.nodes[next]!;
      next >= this.#steps && then.kind === 'byte';
      then = this.#program.nodes[next]!
    ) {
      next = then.next;
    }
    return next;
  }

  #stateOf(places: readonly number[], at: number): number | null {
    const { assertions } = this.#program;
    const asked =
      ((assertions & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0 ? AT_WORD : 0) |
      ((assertions & (BEGIN_LINE | END_LINE)) !== 0 ? AT_NEWLINE : 0) |
      (assertions !== 0 ? AT_END : 0) |
      AT_INSIDE;
    const key = `${at & asked}:${places.join(' ')}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#placesLeft -= places.length;
    if (this.#placesLeft < 0) return null;
    const made = this.#states.push({ places: Uint16Array.from(places), at: at & asked }) - 1;
    this.#known.set(key, made);
    return made;
  }

  /** Nodes from which steps that consume no byte lead to a match, or to a node that accepts the byte. */
  #leadingTo(places: Uint16Array, holds: number): Uint8Array {
    const { nodes } = this.#program;
    const good = this.#seen.fill(0);
    const pending = [...places, ...this.#program.matches];
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      if (good[place] === 1) continue;
      good[place] = 1;
      for (const index of this.#before[place]!) {
        const node = nodes[index]!;
        if (node.kind !== 'assert' || (node.assertions & ~holds) === 0) pending.push(index);
      }
    }
    return good;
  }

  /** Nodes from which a requested slot may still be set. */
  #reaching(): Uint8Array {
    const { nodes } = this.#program;
    const before: number[][] = nodes.map(() => []);
    for (const [index, node] of nodes.entries()) for (const next of nextOf(node)) before[next]!.push(index);
    const found = new Uint8Array(nodes.length);
    const pending = [...nodes.keys()].filter((index) => {
      const node = nodes[index]!;
      return node.kind === 'capture' && this.#wanted.has(node.slot);
    });
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      if (found[place] === 1) continue;
      found[place] = 1;
      pending.push(...before[place]!);
    }
    return found;
  }
}

interface Slots {
  readonly slot: number;
  readonly before: Slots | null;
}

interface Pending {
  readonly place: number;
  readonly slots: Slots | null;
}

function listed(slots: Slots | null): readonly number[] {
  const all = new Set<number>();
  for (let at = slots; at !== null; at = at.before) all.add(at.slot);
  return [...all];
}

/**
 * Assertions that hold between the preceding byte and the one at a position. No assertion holds inside a character.
 */
function holding(before: number, at: number): number {
  if ((at & AT_INSIDE) !== 0) return 0;
  const isBoundary = (before === AFTER_WORD) !== ((at & AT_WORD) !== 0);
  let holds = isBoundary ? WORD_BOUNDARY : NO_WORD_BOUNDARY;
  if (before === AFTER_NOTHING) holds |= BEGIN_TEXT | BEGIN_LINE;
  if (before === AFTER_NEWLINE) holds |= BEGIN_LINE;
  if ((at & AT_END) !== 0) holds |= END_TEXT | END_LINE;
  if ((at & AT_NEWLINE) !== 0) holds |= END_LINE;
  return holds;
}

function atByte(byte: number): number {
  if (byte >= 0x80 && byte < 0xc0) return AT_INSIDE;
  return (byte === NEWLINE ? AT_NEWLINE : 0) | (isWordByte(byte) ? AT_WORD : 0);
}

function takes(node: ByteNode, byte: number): boolean {
  return node.kind === 'byte' && byte >= node.from && byte <= node.to;
}

function nextOf(node: ByteNode): readonly number[] {
  if (node.kind === 'either') return [node.next, node.other];
  return node.kind === 'match' || node.kind === 'fail' ? [] : [node.next];
}

/** For each node, its predecessors that consume no byte. */
function nodesBefore(nodes: readonly ByteNode[]): readonly (readonly number[])[] {
  const before: number[][] = nodes.map(() => []);
  for (const [index, node] of nodes.entries()) {
    if (node.kind !== 'byte') for (const next of nextOf(node)) before[next]!.push(index);
  }
  return before;
}

/** True if an ascending list contains a number. */
function includes(list: Uint16Array, wanted: number): boolean {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return list[low] === wanted;
}
