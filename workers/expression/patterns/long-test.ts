// Tests whether a pattern of re2js matches a long text, in time slices and with the same result. re2js cannot pause, and
// takes up to 70 ns for each character and instruction if a pattern has many states, such as (a{1,30}){1,30}$.
import { BETWEEN_CHARACTERS, textPieces } from '../../values/text-edits.ts';
import { ByteAutomaton, type ByteProgram, STATE_MATCHED } from './byte-automaton.ts';
import type { RegularExpression } from './regular-expression.ts';

/** Product of characters and instructions up to which re2js tests a text, which takes it 0.3 s at most. */
const SHORT_WORK_MAX = 4_000_000;

/** States that are built between two pauses. The largest take 0.3 ms each. */
const STATES_MAX = 16;

/** Maximum number of transitions that are kept. With more, the automaton restarts from its current state. */
const TRANSITIONS_MAX = 1_000_000;

const UNBUILT = -1;

/** The program with which a text is tested in slices; null for a short text, or if the pattern has no such program. */
export function programForLong(pattern: RegularExpression, text: string): ByteProgram | null {
  return text.length * pattern.program > SHORT_WORK_MAX ? pattern.bytes() : null;
}

/** Returns whether the pattern is found. May pause at each `undefined`. */
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
        if (++built % STATES_MAX === 0) yield;
      }
      state = next;
    }
    yield;
  }
  if (state > STATE_MATCHED) state = automaton.next(state, endClass)!;
  return state === STATE_MATCHED;
}
