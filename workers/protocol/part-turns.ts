// State of the parts of one Run, in memory that its threads share with the main thread. Part n begins at the first
// record after n times the size of a part, so that every thread finds the same parts without a message, also while the
// upload is still arriving. In a phase in which threads take streams or ranges instead of parts, the size of a part is 1,
// and the size of the file is their number.

// 64-bit slots.

/** Number of the next part to process. */
const NEXT = 0;
/** Number of the part whose output is written next, and the offset of that output. */
const PART = 1;
const OFFSET = 2;
/** Size of the file so far, and 1 if it will not grow further. */
const KNOWN_BYTES = 3;
const ENDED = 4;
/** Sums over all completed parts. */
const ROWS_READ = 5;
const ROWS_WRITTEN = 6;
const ERRORS = 7;
/** Limits of the errors, as floating-point numbers. Infinity: no limit. */
const ERRORS_MAX = 8;
const ERROR_RATIO_MAX = 9;
/** Number of decompressed bytes. */
const INFLATED = 10;
const TURNS_SLOTS = 11;

/** Maximum number of steps in a chain that process the parts in their order. */
export const ORDERED_STEPS_MAX = 4;

// 32-bit slots after the 64-bit slots. First, for each such step, the number of the part that may pass it next.

/** Size of a part in bytes, if it was lowered, otherwise 0. */
const PART_BYTES = ORDERED_STEPS_MAX;
/** 1 if a step has ended the rows. */
const ROWS_ENDED = PART_BYTES + 1;
const ORDER_SLOTS = ROWS_ENDED + 1;
const ORDER_AT = TURNS_SLOTS * BigInt64Array.BYTES_PER_ELEMENT;

/** Size of the shared memory of PartTurns. */
export const TURNS_BYTES = ORDER_AT + ORDER_SLOTS * Int32Array.BYTES_PER_ELEMENT;

/** Number of bytes in which the first record of a part is searched. A file with longer records is not split. */
export const RECORD_BYTES_MAX = 65_536;

/** Interval at which a waiting thread checks whether its Run was cancelled. */
const CANCEL_CHECK_MILLISECONDS = 20;

/** Number of checks of a turn before a thread sleeps: about 20 µs. To wake a sleeping thread takes longer. */
const CHECKS_MAX = 4000;

/** Maximum sleep of a thread that waits for a step. Then other Runs of the thread may continue. */
const SLEEP_MILLISECONDS = 2;

/** Limits of a Template for errors in rows. Null: no limit. */
interface ErrorLimits {
  readonly maxErrors: number | null;
  readonly maxErrorRatio: number | null;
}

/** True if a file with these rows has more errors than the Template allows. */
export function areTooMany(errors: number, rows: number, { maxErrors, maxErrorRatio }: ErrorLimits): boolean {
  return (maxErrors !== null && errors > maxErrors) || (maxErrorRatio !== null && errors / rows > maxErrorRatio);
}

/** The parts of one Run, from the view of one thread. */
export class PartTurns {
  readonly #slots: BigInt64Array;
  /** The same slots. */
  readonly #limits: Float64Array;
  readonly #order: Int32Array;
  readonly #partBytes: number;

  /** @param shared TURNS_BYTES of shared memory, zero at first */
  constructor(shared: SharedArrayBuffer, partBytes: number) {
    this.#slots = new BigInt64Array(shared, 0, TURNS_SLOTS);
    this.#limits = new Float64Array(shared, 0, TURNS_SLOTS);
    this.#order = new Int32Array(shared, ORDER_AT, ORDER_SLOTS);
    this.#partBytes = partBytes;
  }

  /** Approximate size of one part. */
  get partBytes(): number {
    return Atomics.load(this.#order, PART_BYTES) || this.#partBytes;
  }

  /** Makes the parts smaller. Called by the first share before the first part is taken. */
  lowerPartBytes(partBytes: number): void {
    if (partBytes < this.#partBytes) Atomics.store(this.#order, PART_BYTES, partBytes);
  }

  /**
   * Reports the current size of the file.
   * @param ended whether the file is complete
   */
  grown(bytes: number, ended: boolean): void {
    // In this order: a thread that sees the end must see the final size.
    Atomics.store(this.#slots, KNOWN_BYTES, BigInt(bytes));
    if (ended) Atomics.store(this.#slots, ENDED, 1n);
  }

  /** Size of the file so far. */
  get size(): { readonly bytes: number; readonly ended: boolean } {
    const ended = Atomics.load(this.#slots, ENDED) === 1n;
    return { bytes: this.#number(KNOWN_BYTES), ended };
  }

  /** Number of parts of the complete file. */
  get count(): number {
    return Math.max(1, Math.ceil(this.#number(KNOWN_BYTES) / this.partBytes));
  }

  /** Number of parts that no thread has taken, and whose bytes are available. */
  get left(): number {
    const { bytes, ended } = this.size;
    const available = ended ? this.count : Math.floor((bytes - RECORD_BYTES_MAX) / this.partBytes);
    return Math.max(0, available - this.taken);
  }

  /** Number of parts that threads have taken. */
  get taken(): number {
    return this.#number(NEXT);
  }

  /**
   * Returns the number of the next part, which the caller then processes. 'wait': the bytes of the next part have not
   * arrived. 'over': all parts are taken.
   */
  takePart(): number | 'wait' | 'over' {
    for (;;) {
      const part = this.taken;
      const { bytes, ended } = this.size;
      if (ended && part >= this.count) return 'over';
      if (!ended && bytes < (part + 1) * this.partBytes + RECORD_BYTES_MAX) return 'wait';
      if (Atomics.compareExchange(this.#slots, NEXT, BigInt(part), BigInt(part + 1)) === BigInt(part)) return part;
    }
  }

  isTurnOf(part: number): boolean {
    return this.#number(PART) === part;
  }

  /** Resolves when the turn has changed since `isTurnOf` returned false for the part, or after CANCEL_CHECK_MILLISECONDS. */
  async passed(part: number): Promise<void> {
    const now = Atomics.load(this.#slots, PART);
    if (now === BigInt(part)) return;
    const { value } = Atomics.waitAsync(this.#slots, PART, now, CANCEL_CHECK_MILLISECONDS);
    await value;
  }

  /** Returns the offset for some bytes of a part, whose turn it must be and remains. */
  placeEarly(bytes: number): number {
    return Number(Atomics.add(this.#slots, OFFSET, BigInt(bytes)));
  }

  /**
   * Returns the offset for the rest of the output of a part, whose turn it must be. The next part has its turn at once,
   * so that it does not wait for the disk.
   */
  place(part: number, outputBytes: number): number {
    const offset = this.#number(OFFSET);
    Atomics.store(this.#slots, OFFSET, BigInt(offset + outputBytes));
    Atomics.store(this.#slots, PART, BigInt(part + 1));
    Atomics.notify(this.#slots, PART);
    return offset;
  }

  /** The part that may pass an ordered step next. */
  partAt(step: number): number {
    return Atomics.load(this.#order, step);
  }

  /** Lets the next part pass an ordered step. Called by the thread whose part has the turn. */
  passStep(step: number, part: number): void {
    Atomics.store(this.#order, step, part + 1);
    Atomics.notify(this.#order, step);
  }

  /** Blocks the thread until another part than `part` may pass the step, but at most a few milliseconds. */
  awaitStep(step: number, part: number): void {
    for (let check = 0; check < CHECKS_MAX; check++) if (this.partAt(step) !== part) return;
    Atomics.wait(this.#order, step, part, SLEEP_MILLISECONDS);
  }

  /** True if a step has ended the rows of the file. Rows that come after them do not count. */
  get rowsEnded(): boolean {
    return Atomics.load(this.#order, ROWS_ENDED) === 1;
  }

  endRows(): void {
    Atomics.store(this.#order, ROWS_ENDED, 1);
  }

  /** Adds the rows of a part. */
  addRows(read: number, written: number): void {
    Atomics.add(this.#slots, ROWS_READ, BigInt(read));
    Atomics.add(this.#slots, ROWS_WRITTEN, BigInt(written));
  }

  /** Number of rows in all completed parts. */
  get rows(): { readonly read: number; readonly written: number } {
    return { read: this.#number(ROWS_READ), written: this.#number(ROWS_WRITTEN) };
  }

  /** Called by the first share before further shares start. */
  limitErrors({ maxErrors, maxErrorRatio }: ErrorLimits): void {
    this.#limits[ERRORS_MAX] = maxErrors ?? Number.POSITIVE_INFINITY;
    this.#limits[ERROR_RATIO_MAX] = maxErrorRatio ?? Number.POSITIVE_INFINITY;
  }

  /** Adds errors in rows. Returns false if they are already too many, whatever the rest of the file contains. */
  addErrors(count: number): boolean {
    Atomics.add(this.#slots, ERRORS, BigInt(count));
    return !areTooMany(this.errors, Number.POSITIVE_INFINITY, this.#errorLimits);
  }

  /** Adds decompressed bytes, and returns the sum of all threads. */
  addInflated(bytes: number): number {
    return Number(Atomics.add(this.#slots, INFLATED, BigInt(bytes))) + bytes;
  }

  /** Number of errors in the rows of all parts. */
  get errors(): number {
    return this.#number(ERRORS);
  }

  /** True if the rows of all parts have more errors than the Template allows. */
  get hasTooManyErrors(): boolean {
    return areTooMany(this.errors, this.rows.read, this.#errorLimits);
  }

  get #errorLimits(): ErrorLimits {
    return { maxErrors: this.#limits[ERRORS_MAX]!, maxErrorRatio: this.#limits[ERROR_RATIO_MAX]! };
  }

  #number(slot: number): number {
    return Number(Atomics.load(this.#slots, slot));
  }
}

// The ranges into which threads divide sorted rows (workers/execution/sort/sorted-parts.ts). They take ranges like parts.

/** Size of a range, in bytes: a few milliseconds of work. With many segments, larger ranges need fewer reads. */
const RANGE_BYTES_MIN = 2_359_296;
const RANGE_BYTES_MAX = 6 * 1024 * 1024;
/** Minimum average size of the rows that a range reads from one segment. */
const SEGMENT_RANGE_BYTES_MIN = 6144;

/** Number of ranges into which the rows of some segments are divided. */
export function rangeCount(segments: number, sizeBytes: number): number {
  const rangeBytes = Math.min(Math.max(segments * SEGMENT_RANGE_BYTES_MIN, RANGE_BYTES_MIN), RANGE_BYTES_MAX);
  return Math.max(1, Math.round(sizeBytes / rangeBytes));
}
