// Owns the two-way automaton of a pattern: where it matches first, and where its groups begin and end, in two walks over the
// bytes (a bimachine: a lazy DFA from the end, and a walk from the start that it guides, so that no way is taken in vain). Its
// matches are RE2's: of all ways the first by preference that leads to an end.
import { AFTER_NEWLINE, AFTER_NOTHING, AFTER_OTHER, AFTER_WORD } from '../../kernel/layout/captures.ts';
import { type ByteNode, type ByteProgram, isWordByte } from './byte-program.ts';
import { BEGIN_LINE, BEGIN_TEXT, END_LINE, END_TEXT, NO_WORD_BOUNDARY, WORD_BOUNDARY } from './pattern-program.ts';

/** Places in all states together: what the heap of JavaScript holds for one pattern, some MiB at most. */
const PLACES_MAX = 200_000;

const NEWLINE = 10;
const VARIANTS = 4;

/** What stands at a state's place. */
const AT_END = 1;
const AT_NEWLINE = 2;
const AT_WORD = 4;
/** A byte within a character. */
const AT_INSIDE = 8;

interface State {
  /** Nodes of which the byte is there, and from which the rest of the text leads to a match; ascending. */
  readonly places: Uint16Array;
  readonly at: number;
}

/** The state at the byte before, and whether a match may begin where this one is. */
export interface StepBack {
  readonly state: number | null;
  readonly mayStart: boolean;
}

/** The way from a place: the entry behind its character, or null for a match; slots that are set at the place. */
export interface Way {
  readonly next: number | null;
  readonly slots: readonly number[];
}

export class TwoWayAutomaton {
  readonly classes: Uint8Array;
  /** The class that stands for the start of the text, behind those of bytes. */
  readonly startClass: number;
  /** The state behind the last byte. */
  readonly last: number;
  /** Entries are places of the program with what stood before them; the first ones are those of the start. */
  readonly entries: number;
  readonly #program: ByteProgram;
  readonly #steps: number;
  /** Slots that anybody wants, each with its number among them. */
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
   * @param slots those wanted beside the match's own, as a program numbers them
   * @param needsEnd whether anybody asks where the match ends: else a walk ends with the last slot
   */
  constructor(program: ByteProgram, slots: readonly number[], needsEnd: boolean) {
    const { nodes, members, start } = program;
    this.#program = program;
    this.#steps = program.steps;
    this.#wanted = new Map(slots.map((slot, index) => [slot, index]));
    this.#needsEnd = needsEnd;
    this.#variants = program.assertions === 0 ? 1 : VARIANTS;
    this.#targets = [
      ...new Set([start, ...nodes.flatMap((node) => (node.kind === 'byte' ? [this.#behind(node)] : []))]),
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

  /** What an entry behind a state's byte adds to the number of its place. */
  variantOf(state: number): number {
    const { at } = this.#states[state]!;
    if (this.#variants === 1) return 0;
    return (at & AT_NEWLINE) !== 0 ? AFTER_NEWLINE : (at & AT_WORD) !== 0 ? AFTER_WORD : AFTER_OTHER;
  }

  /** What an entry at the start of a text adds. */
  get startVariant(): number {
    return this.#variants === 1 ? 0 : AFTER_NOTHING;
  }

  /** From a state to that of a byte before it, or to the start of the text. Null: there are too many states. */
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

  /** The way from a place with an entry, at a byte of a state from which the entry leads to a match. */
  way(state: number, entry: number): Way {
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
      // The preferred way is looked at first.
      if (node.kind === 'either') pending.push({ place: node.other, slots }, { place: node.next, slots });
      else if (node.kind === 'assert' && (node.assertions & ~holds) === 0) pending.push({ place: node.next, slots });
      else if (node.kind === 'capture') {
        const slot = this.#wanted.get(node.slot);
        pending.push({ place: node.next, slots: slot === undefined ? slots : { slot, before: slots } });
      }
    }
    throw new Error('a state promised a match that is not there');
  }

  #wayBehind(node: ByteNode & { kind: 'byte' }, state: number, slots: Slots | null): Way {
    const target = this.#behind(node);
    const isDone = !this.#needsEnd && this.#capturing[target] === 0;
    const next = this.#targetNumbers.get(target)! * this.#variants + (node.next === target ? this.variantOf(state) : 0);
    return { next: isDone ? null : next, slots: listed(slots) };
  }

  /** The step of the pattern behind the character that a byte begins or goes on with. */
  #behind(node: ByteNode & { kind: 'byte' }): number {
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

  /** Nodes from which steps without a byte lead to a match, or to a byte that is there. */
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

  /** Nodes from which a slot that is wanted may still be set. */
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

/** What holds between what stood before and what stands at a place. Inside of a character nothing does. */
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

/** For each node those that lead to it without a byte. */
function nodesBefore(nodes: readonly ByteNode[]): readonly (readonly number[])[] {
  const before: number[][] = nodes.map(() => []);
  for (const [index, node] of nodes.entries()) {
    if (node.kind !== 'byte') for (const next of nextOf(node)) before[next]!.push(index);
  }
  return before;
}

/** Whether an ascending list has a number. */
function includes(list: Uint16Array, wanted: number): boolean {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return list[low] === wanted;
}
