// Edits of long texts within one evaluation. Closures cannot pause, so an evaluation that needs such an edit is aborted.
// The caller does the edit in time slices, and repeats the evaluation, which then finds the result. This works because
// an evaluation of the same row always makes the same edits in the same order.
import { done, PIECE_UNITS, type TextWork } from '../../values/text-edits.ts';
import { EvaluationError } from './value.ts';

/**
 * Results that are kept for the next repetition, in UTF-16 units: twice the longest cell. Further edits of the same row
 * are made without a pause.
 */
const KEPT_UNITS_MAX = 8 * 1024 * 1024;

/**
 * Limit on the repetitions of an evaluation, because each repeats all of its work that cannot pause: this number, and
 * one more for each UNITS_PER_REPETITION units of the edited texts. Beyond the limit, edits are made without a pause,
 * which takes a few milliseconds for a text that is shorter than UNITS_PER_REPETITION.
 */
const REPETITIONS_MIN = 8;
const UNITS_PER_REPETITION = 1024 * 1024;

/** Edits a text piece by piece. May throw an EvaluationError. */
export type LongEdit = (text: string) => TextWork;

/** Work on a long text that yields `undefined` wherever the caller may pause, and throw an EvaluationError. */
type LongWork<T> = Generator<undefined, T, undefined>;

/** Lists are short: each of their elements costs a step. */
type LongResult = string | boolean | number | null | readonly string[];

/** Thrown to abort an evaluation. Not an error of the row: the code that catches errors of rows ignores it. */
class Aborted extends Error {}

const ABORTED = new Aborted('a long text is to be edited first');

interface Kept {
  readonly made: LongResult | EvaluationError;
  /** Steps that the edit has charged. Each repetition charges them again. */
  readonly steps: number;
}

export class LongEdits {
  /** Charges steps to the budget of the evaluation. */
  charge: (steps: number) => void = () => {};
  /** True if the caller can do the work and repeat an evaluation. */
  mayAbort = false;
  /** The edit for which the evaluation was aborted. */
  #work: LongWork<LongResult> | null = null;
  readonly #kept: Kept[] = [];
  /** Steps that the edit in progress has charged. */
  #steps = 0;
  #keptUnits = 0;
  /** Length of all texts for whose edits the evaluation was aborted. */
  #editedUnits = 0;
  /** Position in `#kept` of the next edit of this evaluation. */
  #next = 0;

  /** Edits a text of any length. `inSlices` must give the same result as `edit`. */
  edited(text: string, edit: (text: string) => string, inSlices: LongEdit): string {
    return text.length <= PIECE_UNITS ? edit(text) : this.made(text.length, () => inSlices(text));
  }

  /**
   * Makes a result from a long text.
   * @param units length of the text
   */
  made<T extends LongResult>(units: number, inSlices: () => LongWork<T>): T {
    const known = this.#kept[this.#next];
    if (known !== undefined) {
      this.#next++;
      if (known.steps > 0) this.charge(known.steps);
      if (known.made instanceof EvaluationError) throw known.made;
      return known.made as T;
    }
    if (!this.#mayRepeat(units)) return done(inSlices());
    this.#editedUnits += units;
    this.#work = inSlices();
    throw ABORTED;
  }

  #mayRepeat(units: number): boolean {
    const repetitionsMax = REPETITIONS_MIN + (this.#editedUnits + units) / UNITS_PER_REPETITION;
    return this.mayAbort && this.#keptUnits + units <= KEPT_UNITS_MAX && this.#kept.length < repetitionsMax;
  }

  /** Charges steps from within an edit. */
  chargeWithin(steps: number): void {
    this.#steps += steps;
    this.charge(steps);
  }

  /** True if the evaluation was aborted because of a long edit. */
  hasAborted(error: unknown): boolean {
    return error === ABORTED;
  }

  /**
   * The edit for which the evaluation was aborted. Yields `undefined` wherever the caller may pause. The evaluation can
   * then be repeated.
   */
  *work(): Generator<undefined, void, undefined> {
    const work = this.#work;
    if (work === null) throw new Error('no evaluation was aborted');
    this.#work = null;
    this.#next = 0;
    this.#steps = 0;
    try {
      const made = yield* work;
      this.#kept.push({ made, steps: this.#steps });
      if (typeof made === 'string') this.#keptUnits += made.length;
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
      this.#kept.push({ made: error, steps: 0 });
    }
  }

  /** Forgets all results: the evaluation has ended. */
  forget(): void {
    this.#work = null;
    this.#kept.length = 0;
    this.#keptUnits = 0;
    this.#editedUnits = 0;
    this.#next = 0;
  }
}
