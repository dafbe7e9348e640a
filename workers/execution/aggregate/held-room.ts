// The memory in which the metrics of one operation hold values of groups, and what happens when the budget has no more of it:
// all that is held goes to be sorted (late-values.ts), and so does what comes afterwards; or the room is full, and its owner does
// something else.
// States: holding → late or full, until `clear`.

import { GrowingBlocks } from '../../memory/growing-blocks.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { Steps } from '../../run/time-slices.ts';
import { type LateMetric, LateValues } from './late-values.ts';
import type { FoldStates } from './metric-state.ts';

/** A metric that holds values. */
export interface Holder extends LateMetric {
  /** Before rows are handed on: makes cells of what is held. False when memory has no room for that. */
  settle(groups: number, states: FoldStates): Generator<void, boolean>;
  /** Lets go of all values of groups that are not settled. */
  letGo(groups: number, states: FoldStates, late: LateValues): void;
  /** How many values of a group have come in all. */
  countOf(group: number, states: FoldStates): number;
}

/** What becomes of values for which there is no room. */
export type WhenFull = 'sort' | 'refuse';

export class HeldRoom {
  readonly #context: OperatorContext;
  readonly #holders: Holder[] = [];
  readonly #states: (holder: number) => FoldStates;
  readonly #groups: () => number;
  readonly #whenFull: WhenFull;
  readonly reached: number;
  #blocks: GrowingBlocks | null = null;
  #late: LateValues | null = null;
  #isFull = false;

  /**
   * @param states where those of a holder are
   * @param groups for how many groups there are states
   */
  constructor(
    context: OperatorContext,
    states: (holder: number) => FoldStates,
    groups: () => number,
    whenFull: WhenFull,
  ) {
    this.#context = context;
    this.#whenFull = whenFull;
    this.#states = states;
    this.#groups = groups;
    this.reached = context.arena.heap.allocate(8);
  }

  /** Gives the holder's number. */
  enter(holder: Holder): number {
    return this.#holders.push(holder) - 1;
  }

  get blocks(): GrowingBlocks {
    this.#blocks ??= new GrowingBlocks(this.#context.arena.heap);
    return this.#blocks;
  }

  /** Null while values are held. */
  get late(): LateValues | null {
    return this.#late;
  }

  /** Nothing more was taken: what is held is not all. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Goes on to a block with more room, or lets all holders go of what they hold; false when it is full. */
  advance(): boolean {
    return this.blocks.advance() || this.makeRoom();
  }

  /** Lets all holders go of what they hold, also beside the blocks; false when it is full. */
  makeRoom(): boolean {
    if (this.#whenFull === 'refuse') this.#isFull = true;
    else this.#letGo();
    if (this.#isFull) return false;
    this.#blocks?.giveBack();
    this.#blocks = null;
    return true;
  }

  /** Makes cells of the values of groups 0 to `groups`: comes before columns are asked for. */
  *settle(groups: number): Steps {
    for (const [index, holder] of this.#holders.entries()) {
      if (this.#late !== null) break;
      // The blocks stay: cells that are settled may lie there.
      if (!(yield* holder.settle(groups, this.#states(index)))) this.#letGo();
    }
    yield* this.#late?.settle(groups, (index, group) => this.#holders[index]!.countOf(group, this.#states(index))) ??
      [];
  }

  /** Leaves its memory to others; nobody asks for it any more. */
  drop(): void {
    this.#blocks?.giveBack();
    this.#late?.drop();
  }

  clear(): void {
    this.#blocks?.restart();
    this.#isFull = false;
    this.#late?.drop();
    this.#late = null;
  }

  #letGo(): void {
    const late = new LateValues(this.#context, this.#holders);
    const groups = this.#groups();
    for (const [index, holder] of this.#holders.entries()) holder.letGo(groups, this.#states(index), late);
    this.#late = late;
  }
}
