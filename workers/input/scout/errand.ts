// What a scout is sent for: the rows of one range of a file. Stretch by stretch it reads, finds the fields' ends, checks
// the text, and puts both where the Run will have them in its own memory, so that copying them is all that is left to do.
// It hands out nothing but complete and sound rows: of everything else the Run finds out itself, and says what it is.
import { isUtf8 } from 'node:buffer';
import { readSync } from 'node:fs';
import { countLineBreaks } from '../csv/lines.ts';
import {
  AT,
  FLAG_LITERAL_QUOTE,
  FLAG_NUL,
  FLAGS,
  LINES,
  lastRowEnd,
  MODE,
  MODE_START,
  OUT,
  ROW_ENDS,
  STATE_SLOTS,
} from '../csv/scan-state.ts';
import { type ScoutMemory, type Stretch, slotAfter } from './scout-memory.ts';

export interface Errand {
  readonly path: string;
  /** Byte of the file where a row begins, and the one behind the last that is there. */
  readonly from: number;
  readonly to: number;
  /** Whether `to` is the end of the file. */
  readonly ends: boolean;
  readonly dialect: { readonly delimiter: number; readonly quote: number };
  /** Addresses of the Run: the window's first byte and its room, the scan's state, the structurals and their room. */
  readonly base: number;
  readonly windowBytes: number;
  readonly state: number;
  readonly entries: number;
  readonly entriesMax: number;
}

/** The scan over the memory of one slot: see kernel/assembly/scan.ts. */
export type Scan = (state: number, end: number, limit: number, delimiter: number, quote: number) => void;

const LF = 10;

/** Bytes of a slot that are not handed out: the beginning of the next row and what the index had no room for. */
interface Rest {
  readonly slot: number;
  readonly from: number;
  readonly to: number;
}

export class ErrandRun {
  readonly #errand: Errand;
  readonly #memory: ScoutMemory;
  readonly #scans: readonly Scan[];
  readonly #descriptor: number;
  #at: number;

  /**
   * @param descriptor of the errand's file
   * @param scans of each slot
   */
  constructor(errand: Errand, descriptor: number, memory: ScoutMemory, scans: readonly Scan[]) {
    this.#errand = errand;
    this.#memory = memory;
    this.#scans = scans;
    this.#descriptor = descriptor;
    this.#at = errand.from;
  }

  /** Fills slots until the range is done, something is not as it should be, or the Run calls it back. */
  run(): void {
    const { base } = this.#errand;
    let rest: Rest = { slot: 1, from: base, to: base };
    for (let slot = 0; this.#memory.awaitEmpty(slot); slot = slotAfter(slot)) {
      const filled = this.#fill(slot, rest);
      const stretch = filled === null ? null : this.#stretch(slot, filled);
      if (stretch === null || filled === null) {
        this.#memory.handBack(slot);
        return;
      }
      this.#memory.publish(slot, stretch);
      if (stretch.last) return;
      rest = { slot, from: base + stretch.bytes, to: filled };
    }
  }

  get #hasAll(): boolean {
    return this.#at === this.#errand.to;
  }

  get #isAtEnd(): boolean {
    return this.#hasAll && this.#errand.ends;
  }

  /** Address behind the bytes that stand in the slot now; null: they are no more than those before. */
  #fill(slot: number, rest: Rest): number | null {
    const { base, windowBytes, to } = this.#errand;
    const u8 = this.#memory.u8[slot]!;
    u8.set(this.#memory.u8[rest.slot]!.subarray(rest.from, rest.to), base);
    // Kernels look at the byte before a row.
    u8[base - 1] = LF;
    let filled = base + rest.to - rest.from;
    const goal = Math.min(base + windowBytes, filled + to - this.#at);
    if (filled >= goal && !this.#isAtEnd) return null;
    while (filled < goal) {
      const bytes = readSync(this.#descriptor, u8, filled, goal - filled, this.#at);
      if (bytes === 0) return null;
      this.#at += bytes;
      filled += bytes;
    }
    if (this.#isAtEnd) {
      if (u8[filled - 1] !== LF) u8[filled++] = LF;
      u8[filled] = LF;
    }
    return filled;
  }

  /** Null: no row is complete, or one is not sound. */
  #stretch(slot: number, filled: number): Stretch | null {
    const { base, state, entries, entriesMax, dialect } = this.#errand;
    const u8 = this.#memory.u8[slot]!;
    const u32 = this.#memory.u32[slot]!;
    const fields = u32.subarray(state >>> 2, (state >>> 2) + STATE_SLOTS);
    fields.fill(0);
    fields[AT] = base;
    fields[MODE] = MODE_START;
    fields[OUT] = entries;
    const scanEnd = this.#isAtEnd ? filled : filled - 1;
    this.#scans[slot]!(state, scanEnd, entries + entriesMax * 4, dialect.delimiter, dialect.quote);
    const behind = lastRowEnd(u8, u32, entries, fields[OUT]!);
    if (behind === entries) return null;
    const end = u32[(behind >>> 2) - 1]! + 1;
    const text = u8.subarray(base, end);
    if (((fields[FLAGS]! & FLAG_NUL) !== 0 && text.includes(0)) || !isUtf8(text)) return null;
    return {
      bytes: end - base,
      entries: (behind - entries) >>> 2,
      rowEnds: fields[ROW_ENDS]!,
      lines: fields[LINES]! - countLineBreaks(u8, end, fields[AT]!),
      literal: (fields[FLAGS]! & FLAG_LITERAL_QUOTE) !== 0,
      last: this.#isAtEnd && end === filled,
    };
  }
}
