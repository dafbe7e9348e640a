// Searches cells for a pattern by kernel: its automaton, whose states are made as cells need them, as a table in the Run's
// memory.
import { ByteAutomaton, STATE_DEAD, STATE_MATCHED } from '../../expression/patterns/byte-automaton.ts';
import { byteProgram } from '../../expression/patterns/byte-program.ts';
import { patternProgram } from '../../expression/patterns/regular-expression.ts';
import {
  CLASSES,
  DEAD,
  END_CLASS,
  HEAD_BYTES,
  MATCHED,
  MISSING_CLASS,
  MISSING_STATE,
  START,
  TOO_MANY,
  UNBUILT,
} from '../../kernel/layout/automaton.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { PAUSE, type Sliced } from '../../run/time-slices.ts';
import { placeBytes } from '../cells/placed-text.ts';
import type { StatesTarget, TextSource } from './lane.ts';

/** Memory of the states of one pattern at most; the largest that people write take a tenth of it. */
const TABLE_BYTES_MAX = 262_144;

/** It grows by so much at a time. */
const BLOCK_BYTES = 16_384;

export type SearchContext = Pick<OperatorContext, 'arena' | 'kernel' | 'clock'>;

export class PatternSearch {
  readonly #context: SearchContext;
  readonly #automaton: ByteAutomaton;
  readonly #head: number;
  readonly #rowBytes: number;
  /** Address of each state's row, and the other way round. */
  readonly #rows = new Map<number, number>();
  readonly #states = new Map<number, number>();
  #next = 0;
  #end = 0;
  #left = TABLE_BYTES_MAX;

  /** Null where the pattern is not for an automaton. */
  static of(context: SearchContext, pattern: string): PatternSearch | null {
    const program = patternProgram(pattern);
    const bytes = program === null ? null : byteProgram(program);
    return bytes === null ? null : new PatternSearch(context, new ByteAutomaton(bytes));
  }

  private constructor(context: SearchContext, automaton: ByteAutomaton) {
    const { heap } = context.arena;
    this.#context = context;
    this.#automaton = automaton;
    this.#rowBytes = (automaton.endClass + 1) * 4;
    const classes = placeBytes(heap, automaton.classes).at;
    this.#head = heap.allocate(HEAD_BYTES);
    this.#put(this.#head + CLASSES, classes);
    this.#put(this.#head + END_CLASS, automaton.endClass);
    this.#put(this.#head + START, this.#entry(automaton.start));
  }

  /** Puts to the states of the target whether each of `count` texts matches: null is null, long ones are unknown. */
  *match({ views, rows }: TextSource, count: number, { states, mode }: StatesTarget): Sliced<void> {
    const { kernel, clock } = this.#context;
    for (let from = 0; ; ) {
      from = kernel.exports.matchPattern(this.#head, views, rows, count, from, states, mode);
      if (from >= count) return;
      this.#grow();
      if (clock.isDue()) yield PAUSE;
    }
  }

  /** Makes the transition for want of which the kernel stopped. */
  #grow(): void {
    const { u32 } = this.#context.arena.heap;
    const row = u32[(this.#head + MISSING_STATE) >>> 2]!;
    const byClass = u32[(this.#head + MISSING_CLASS) >>> 2]!;
    const next = this.#automaton.next(this.#states.get(row)!, byClass);
    this.#put(row + byClass * 4, next === null ? TOO_MANY : this.#entry(next));
  }

  /** What stands in the table for a state. */
  #entry(state: number): number {
    if (state === STATE_DEAD) return DEAD;
    if (state === STATE_MATCHED) return MATCHED;
    const known = this.#rows.get(state) ?? this.#newRow();
    if (known === 0) return TOO_MANY;
    this.#rows.set(state, known);
    this.#states.set(known, state);
    return known;
  }

  /** A row without transitions; 0 where there is no room. */
  #newRow(): number {
    const { heap } = this.#context.arena;
    if (this.#next + this.#rowBytes > this.#end) {
      const bytes = Math.max(BLOCK_BYTES, this.#rowBytes);
      const block = this.#left < bytes ? 0 : heap.tryAllocate(bytes);
      if (block === 0) return 0;
      this.#left -= bytes;
      this.#next = block;
      this.#end = block + bytes;
    }
    const row = this.#next;
    this.#next += this.#rowBytes;
    heap.u32.fill(UNBUILT, row >>> 2, this.#next >>> 2);
    return row;
  }

  #put(at: number, value: number): void {
    this.#context.arena.heap.u32[at >>> 2] = value;
  }
}
