// Memory shared by a Run and its read-ahead thread: two slots that are filled alternately, and counters for the
// progress of both.
//
// Phases of the read-ahead thread: starting → idle ⇄ on a job; idle → gone, after it has been idle for long.
// States of a slot: empty → full (a chunk for the Run) → empty; or empty → over (the Run continues alone from there).

/** 8 MiB per slot. Only the parts used by a window and its index are ever touched. */
const SLOT_PAGES = 128;

const PAGE_BYTES = 65_536;

/** Size of a slot. Data of a Run at higher addresses cannot be shared. */
export const SLOT_BYTES = SLOT_PAGES * PAGE_BYTES;

const SLOTS = 2;

const PHASE = 0;
const RECALLED = 1;
/** Start of the fields of the first slot; those of the next slot follow. */
const FIELDS = 2;

const STATE = 0;
const BYTES = 1;
const ENTRIES = 2;
const ROW_ENDS = 3;
const LINES = 4;
const LITERAL = 5;
const LAST = 6;
const FILE_BYTES = 7;
const FIELD_COUNT = 8;

export const PHASE_STARTING = 0;
export const PHASE_IDLE = 1;
export const PHASE_JOB = 2;
export const PHASE_GONE = 3;

const EMPTY = 0;
const FULL = 1;
const OVER = 2;

/** Complete and valid rows, and the positions of their cells found by the kernel. */
export interface Chunk {
  /** Length from the base of the window, including the line break of the last row. */
  readonly bytes: number;
  /** Number of file bytes from which this text was decoded. */
  readonly fileBytes: number;
  /** Number of structurals in these rows; for JSON, the number of records. */
  readonly entries: number;
  readonly rowEnds: number;
  /** Number of line breaks, including quoted ones. */
  readonly lines: number;
  /** True if quotes may be misplaced. */
  readonly literal: boolean;
  /** True if the file ends with these rows. */
  readonly last: boolean;
}

/** Shared memory, sent once from one thread to the other. */
export interface ReadAheadShare {
  readonly memories: readonly WebAssembly.Memory<SharedArrayBuffer>[];
  readonly control: SharedArrayBuffer;
}

export function newReadAheadShare(): ReadAheadShare {
  const memory = { initial: SLOT_PAGES, maximum: SLOT_PAGES, shared: true };
  const slots = (FIELDS + SLOTS * FIELD_COUNT) * Int32Array.BYTES_PER_ELEMENT;
  return {
    memories: Array.from({ length: SLOTS }, () => new WebAssembly.Memory<SharedArrayBuffer>(memory)),
    control: new SharedArrayBuffer(slots),
  };
}

export class ReadAheadMemory {
  /** For each slot, all its bytes. */
  readonly u8: readonly Uint8Array<SharedArrayBuffer>[];
  readonly u32: readonly Uint32Array<SharedArrayBuffer>[];
  readonly #control: Int32Array<SharedArrayBuffer>;

  constructor({ memories, control }: ReadAheadShare) {
    this.u8 = memories.map(({ buffer }) => new Uint8Array(buffer));
    this.u32 = memories.map(({ buffer }) => new Uint32Array(buffer));
    this.#control = new Int32Array(control);
  }

  get phase(): number {
    return Atomics.load(this.#control, PHASE);
  }

  /** Changes the phase and wakes a waiting thread. Returns false if the phase was not `from`. */
  passTo(phase: number, from: number): boolean {
    if (Atomics.compareExchange(this.#control, PHASE, from, phase) !== from) return false;
    Atomics.notify(this.#control, PHASE);
    return true;
  }

  /** Waits while the phase is unchanged. Returns false after the timeout. */
  leaves(phase: number, milliseconds: number): boolean {
    return Atomics.wait(this.#control, PHASE, phase, milliseconds) !== 'timed-out';
  }

  /** Called before a job: removes all state of the previous job. */
  clear(): void {
    this.#control.fill(0, RECALLED);
  }

  /** Ends the job, whatever the read-ahead thread is doing. */
  recall(): void {
    Atomics.store(this.#control, RECALLED, 1);
    for (let slot = 0; slot < SLOTS; slot++) this.#setState(slot, EMPTY);
  }

  /**
   * Called by the read-ahead thread: waits until a slot may be filled. Returns false if the thread has been recalled.
   */
  awaitEmpty(slot: number): boolean {
    while (Atomics.load(this.#control, RECALLED) === 0) {
      const state = Atomics.load(this.#control, at(slot, STATE));
      if (state === EMPTY) return true;
      Atomics.wait(this.#control, at(slot, STATE), state);
    }
    return false;
  }

  publish(slot: number, chunk: Chunk): void {
    const { bytes, entries, rowEnds, lines, literal, last, fileBytes } = chunk;
    const fields = [bytes, entries, rowEnds, lines, literal ? 1 : 0, last ? 1 : 0, fileBytes];
    this.#control.set(fields, at(slot, BYTES));
    this.#setState(slot, FULL);
  }

  /** Reports, instead of a chunk, that the Run must continue itself. */
  release(slot: number): void {
    this.#setState(slot, OVER);
  }

  /** Called by the Run: waits briefly for a chunk. */
  awaitChunk(slot: number, milliseconds: number): Chunk | 'over' | 'none' {
    const place = at(slot, STATE);
    if (Atomics.load(this.#control, place) === EMPTY) Atomics.wait(this.#control, place, EMPTY, milliseconds);
    const state = Atomics.load(this.#control, place);
    if (state !== FULL) return state === OVER ? 'over' : 'none';
    const of = (field: number): number => this.#control[at(slot, field)]!;
    return {
      bytes: of(BYTES),
      entries: of(ENTRIES),
      rowEnds: of(ROW_ENDS),
      lines: of(LINES),
      literal: of(LITERAL) === 1,
      last: of(LAST) === 1,
      fileBytes: of(FILE_BYTES),
    };
  }

  /** Called by the Run after it has taken the chunk. */
  empty(slot: number): void {
    this.#setState(slot, EMPTY);
  }

  #setState(slot: number, state: number): void {
    Atomics.store(this.#control, at(slot, STATE), state);
    Atomics.notify(this.#control, at(slot, STATE));
  }
}

/** The slot that is filled and taken after this one. */
export function slotAfter(slot: number): number {
  return (slot + 1) % SLOTS;
}

function at(slot: number, field: number): number {
  return FIELDS + slot * FIELD_COUNT + field;
}
