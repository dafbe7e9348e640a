// Finds the first match of a pattern of re2js in a long text, in time slices and with the same result. re2js cannot pause,
// and takes up to 70 ns for each character and instruction. An automaton from the end of the text finds where the first
// match starts, and the path of the match is then followed from there (two-way-automaton.ts).
import type { ByteProgram } from './byte-automaton.ts';
import { testInSlices } from './long-test.ts';
import type { PatternMatch, RegularExpression } from './regular-expression.ts';
import { TwoWayAutomaton, type Way } from './two-way-automaton.ts';

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
 * All matches, as RegularExpression.all finds them, and undefined where the work may pause. A long text without a match
 * is searched with pauses. Otherwise re2js finds each match without a pause, because only re2js reports which patterns
 * read to the end of the text for each match.
 */
export function matchesInSlices(pattern: RegularExpression, text: string): Iterable<PatternMatch | undefined> {
  const program = isLongFind(pattern, text) ? pattern.bytes() : null;
  return program === null ? pattern.all(text) : testedMatches(program, pattern, text);
}

function* testedMatches(
  program: ByteProgram,
  pattern: RegularExpression,
  text: string,
): Iterable<PatternMatch | undefined> {
  if (yield* testInSlices(program, text)) yield* pattern.all(text);
}

/** The groups of the first match, as RegularExpression.first finds it, or null. May pause at each `undefined`. */
export function* firstInSlices(
  pattern: RegularExpression,
  text: string,
): Generator<undefined, Groups | null, undefined> {
  const program = pattern.bytes();
  if (program !== null) {
    if (!(yield* testInSlices(program, text))) return null;
    const search = new Search(program, pattern.groupCount, text);
    if (yield* search.noteStarts()) return yield* search.first();
  }
  return pattern.first(text)?.groups ?? null;
}

class Search {
  readonly #automaton: TwoWayAutomaton;
  readonly #bytes: Buffer;
  readonly #groups: number;
  /** The state at each byte and at the end. */
  readonly #states: Uint16Array;
  /** Position of the first byte at which a match starts, or -1. */
  #start = -1;
  readonly #ways = new Map<number, Way>();
  #built = 0;

  constructor(program: ByteProgram, groupCount: number, text: string) {
    const slots = Array.from({ length: 2 * groupCount }, (_, index) => index + 2);
    this.#automaton = new TwoWayAutomaton(program, slots, true);
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
      this.#states[at] = state;
      if (((made - 1) & 1) === 1) this.#start = at;
      if (at === 0) return true;
      state = (made - 1) >> 1;
      if (at % READ_MAX === 0) yield;
    }
  }

  *first(): Generator<undefined, Groups | null, undefined> {
    if (this.#start < 0) return null;
    const slots = yield* this.#follow(this.#start);
    return Array.from({ length: this.#groups + 1 }, (_, group) => {
      const start = slots[2 * group]!;
      return start < 0 ? null : this.#bytes.toString('utf8', start, slots[2 * group + 1]!);
    });
  }

  /** Follows the match that starts at a byte. Returns its slots: positions of bytes, or -1. */
  *#follow(start: number): Generator<undefined, Int32Array, undefined> {
    const automaton = this.#automaton;
    const slots = new Int32Array(2 * this.#groups + 2).fill(-1);
    slots[0] = start;
    let entry = start === 0 ? automaton.startVariant : automaton.variantOf(this.#states[start - 1]!);
    for (let at = start, read = 1; ; read++) {
      const { next, slots: passed } = this.#way(this.#states[at]!, entry);
      for (const slot of passed) slots[slot + 2] = at;
      if (next === null) {
        slots[1] = at;
        return slots;
      }
      entry = next;
      at += lengthOf(this.#bytes[at]!);
      if (read % READ_MAX === 0) yield;
    }
  }

  #way(state: number, entry: number): Way {
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
