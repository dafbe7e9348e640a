// Tests long texts for a pattern of re2js, and finds its matches in them, in time slices and with the same results. re2js
// cannot pause, and takes up to 70 ns for each character and instruction. To find matches, an automaton from the end of the
// text finds where they start, and the path of each match is then followed from there (two-way-automaton.ts).
import { BETWEEN_CHARACTERS, textPieces } from '../../values/text-edits.ts';
import { ByteAutomaton, type ByteProgram, STATE_MATCHED } from './byte-automaton.ts';
import type { PatternMatch, RegularExpression } from './regular-expression.ts';
import { type Transition, TwoWayAutomaton } from './two-way-automaton.ts';

/**
 * Product of characters and instructions up to which re2js searches a text. That takes 70 ms at most, and usually less
 * than it takes to make the automaton.
 */
const SHORT_WORK_MAX = 1_000_000;

/** Maximum number of states and of kept paths, each of which takes up to 1 KiB of memory. */
const STATES_MAX = 16_384;
const WAYS_MAX = 65_536;

/** Transitions that are built between two pauses. The largest take 0.5 ms each. */
const BUILT_MAX = 8;

/** Bytes that are read between two pauses. */
const READ_MAX = 16_384;

/** True if re2js would search the text for long. */
export function isLongFind({ program }: RegularExpression, text: string): boolean {
  return text.length * program > SHORT_WORK_MAX;
}

/** The groups of a match; `groups[0]` is the whole match, and a group that did not take part is null. */
type Groups = PatternMatch['groups'];

/**
 * Yields the same matches as RegularExpression.all, and `undefined` at points where the work on a long text may pause.
 * Throws TOO_MANY_STEPS like `all`, but only for texts that are not long and for patterns without an automaton.
 */
export function matchesInSlices(pattern: RegularExpression, text: string): Iterable<PatternMatch | undefined> {
  return isLongFind(pattern, text) ? allInSlices(pattern, text) : pattern.all(text);
}

/** The same for a text of any length. */
export function* allInSlices(pattern: RegularExpression, text: string): Iterable<PatternMatch | undefined> {
  const program = pattern.bytes();
  if (program !== null) {
    if (!(yield* testInSlices(program, text))) return;
    const search = new Search(program, pattern.groupCount, text);
    if (yield* search.noteStarts()) return yield* search.all();
  }
  yield* pattern.all(text);
}

/**
 * The groups of the first match, as RegularExpression.first finds it, or null. Yields `undefined` wherever the caller
 * may pause.
 */
export function* firstInSlices(
  pattern: RegularExpression,
  text: string,
): Generator<undefined, Groups | null, undefined> {
  const program = pattern.bytes();
  if (program !== null) {
    if (!(yield* testInSlices(program, text))) return null;
    const search = new Search(program, pattern.groupCount, text);
    if (yield* search.noteStarts()) {
      for (const match of search.all()) {
        if (match !== undefined) return match.groups;
        yield;
      }
      return null;
    }
  }
  return pattern.first(text)?.groups ?? null;
}

/** Set in the noted state of a position at which a match starts. */
const STARTS = 0x8000;

class Search {
  readonly #automaton: TwoWayAutomaton;
  readonly #text: string;
  readonly #bytes: Buffer;
  readonly #groups: number;
  /** The state at each byte and at the end, with STARTS. */
  readonly #states: Uint16Array;
  readonly #ways = new Map<number, Transition>();
  #built = 0;

  constructor(program: ByteProgram, groupCount: number, text: string) {
    const slots = Array.from({ length: 2 * groupCount }, (_, index) => index + 2);
    this.#automaton = new TwoWayAutomaton(program, slots, true);
    this.#text = text;
    this.#bytes = Buffer.from(text, 'utf8');
    this.#groups = groupCount;
    this.#states = new Uint16Array(this.#bytes.length + 1);
  }

  /** Must be called first. Returns false if the pattern has too many states for this text. */
  *noteStarts(): Generator<undefined, boolean, undefined> {
    const { classes, startClass } = this.#automaton;
    /** Indexed by state and class: 2 * (state at the preceding byte) + 1, plus 1 if a match may start. */
    const transitions: Int32Array[] = [];
    let state = this.#automaton.last;
    for (let at = this.#bytes.length; ; at--) {
      const byClass = at === 0 ? startClass : classes[this.#bytes[at - 1]!]!;
      transitions[state] ??= new Int32Array(startClass + 1);
      let made = transitions[state]![byClass]!;
      if (made === 0) {
        const step = this.#automaton.back(state, byClass);
        if (step.state === null || step.state >= STATES_MAX) return false;
        made = step.state * 2 + 1 + (step.mayStart ? 1 : 0);
        transitions[state]![byClass] = made;
        if (++this.#built % BUILT_MAX === 0) yield;
      }
      this.#states[at] = state | (((made - 1) & 1) === 1 ? STARTS : 0);
      if (at === 0) return true;
      state = (made - 1) >> 1;
      if (at % READ_MAX === 0) yield;
    }
  }

  /** The matches in their order, without empty ones directly after a match. */
  *all(): Generator<PatternMatch | undefined, void, undefined> {
    const slots = new Int32Array(2 * this.#groups + 2);
    const last = this.#bytes.length;
    /** Position of the search in bytes and in UTF-16 units. */
    let at = 0;
    let unit = 0;
    /** End of the match before, in UTF-16 units. */
    let before = -1;
    for (let read = 1; at <= last; read++) {
      if (read % READ_MAX === 0) yield;
      if ((this.#states[at]! & STARTS) === 0) {
        if (at === last) return;
        unit += unitsOf(this.#bytes[at]!);
        at += lengthOf(this.#bytes[at]!);
        continue;
      }
      const end = yield* this.#follow(at, unit, slots);
      const [start, stop] = [slots[0]!, slots[1]!];
      if (stop > start || stop !== before) yield { start, end: stop, groups: this.#texts(slots) };
      before = stop;
      [at, unit] = [end, stop];
      if (stop > start) continue;
      if (end === last) return;
      unit += unitsOf(this.#bytes[end]!);
      at += lengthOf(this.#bytes[end]!);
    }
  }

  #texts(slots: Int32Array): Groups {
    return Array.from({ length: this.#groups + 1 }, (_, group) => {
      const start = slots[2 * group]!;
      return start < 0 ? null : this.#text.slice(start, slots[2 * group + 1]!);
    });
  }

  /**
   * Follows the match that starts at a byte. Sets its slots: positions in UTF-16 units, or -1. Returns the byte at its
   * end.
   */
  *#follow(start: number, startUnit: number, slots: Int32Array): Generator<undefined, number, undefined> {
    const automaton = this.#automaton;
    slots.fill(-1);
    slots[0] = startUnit;
    let entry = start === 0 ? automaton.startVariant : automaton.variantOf(this.#states[start - 1]! & ~STARTS);
    let unit = startUnit;
    for (let at = start, read = 1; ; read++) {
      const { next, slots: passed } = this.#way(this.#states[at]! & ~STARTS, entry);
      for (const slot of passed) slots[slot + 2] = unit;
      if (next === null) {
        slots[1] = unit;
        return at;
      }
      entry = next;
      unit += unitsOf(this.#bytes[at]!);
      at += lengthOf(this.#bytes[at]!);
      if (read % READ_MAX === 0) yield;
    }
  }

  #way(state: number, entry: number): Transition {
    const key = state * this.#automaton.entries + entry;
    const known = this.#ways.get(key);
    if (known !== undefined) return known;
    if (this.#ways.size >= WAYS_MAX) this.#ways.clear();
    const way = this.#automaton.way(state, entry);
    this.#ways.set(key, way);
    return way;
  }
}

/** Length in bytes of the character with a first byte. */
function lengthOf(first: number): number {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/** Length in UTF-16 units of the character with a first byte. */
function unitsOf(first: number): number {
  return first < 0xf0 ? 1 : 2;
}

// Tests whether a pattern of re2js matches a long text, in time slices and with the same result. re2js cannot pause, and
// takes up to 70 ns for each character and instruction if a pattern has many states, such as (a{1,30}){1,30}$.

/** Product of characters and instructions up to which re2js tests a text, which takes it 0.3 s at most. */
const SHORT_TEST_WORK_MAX = 4_000_000;

/** States that are built between two pauses. The largest take 0.3 ms each. */
const TEST_STATES_MAX = 16;

/** Maximum number of transitions that are kept. With more, the automaton restarts from its current state. */
const TRANSITIONS_MAX = 1_000_000;

const UNBUILT = -1;

/** The program with which a text is tested in slices; null for a short text, or if the pattern has no such program. */
export function programForLong(pattern: RegularExpression, text: string): ByteProgram | null {
  return text.length * pattern.program > SHORT_TEST_WORK_MAX ? pattern.bytes() : null;
}

/** Returns whether the pattern is found. Yields `undefined` wherever the caller may pause. */
export function* testInSlices(program: ByteProgram, text: string): Generator<undefined, boolean, undefined> {
  const automaton = new ByteAutomaton(program);
  const { classes, endClass } = automaton;
  let transitions: Int32Array[] = [];
  let rows = 0;
  let built = 0;
  let state = automaton.start;
  for (const piece of textPieces(text, BETWEEN_CHARACTERS)) {
    for (const byte of Buffer.from(piece)) {
      if (state <= STATE_MATCHED) return state === STATE_MATCHED;
      const byClass = classes[byte]!;
      let next = transitions[state]?.[byClass] ?? UNBUILT;
      if (next === UNBUILT) {
        let made = rows * endClass > TRANSITIONS_MAX ? null : automaton.next(state, byClass);
        if (made === null) {
          state = automaton.restart(state);
          transitions = [];
          rows = 0;
          made = automaton.next(state, byClass);
        }
        if (made === null) throw new Error('two states have too many positions');
        if (transitions[state] === undefined) {
          transitions[state] = new Int32Array(endClass).fill(UNBUILT);
          rows++;
        }
        transitions[state]![byClass] = made;
        next = made;
        if (++built % TEST_STATES_MAX === 0) yield;
      }
      state = next;
    }
    yield;
  }
  if (state > STATE_MATCHED) state = automaton.next(state, endClass)!;
  return state === STATE_MATCHED;
}
