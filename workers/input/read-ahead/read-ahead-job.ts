// What a read-ahead thread is sent for: the rows of one range of a file. Chunk by chunk it reads, decodes, finds the rows, checks
// the text, and puts all of it where the Run will have it in its own memory, so that copying is all that is left to do.
// It hands out nothing but complete and sound rows: of everything else the Run finds out itself, and says what it is.
import { LF } from '../../kernel/layout/scan.ts';
import { END_MARK } from '../end-mark.ts';
import type { DecodeWork } from '../source/decode-work.ts';
import type { FileRest } from '../source/source.ts';
import { type CsvWork, findCsvRows } from './csv-work.ts';
import { DecodedFile } from './decoded-file.ts';
import type { FilledSlot, FindRows, SlotKernels } from './filled-slot.ts';
import { JsonRowFinder, type JsonWork } from './json-work.ts';
import { type ReadAheadMemory, slotAfter } from './read-ahead-memory.ts';

export interface ReadAheadJob extends FileRest {
  /** Addresses of the Run: the window's first byte, and how much is read at a time; there is room for twice as much. */
  readonly base: number;
  readonly windowBytes: number;
  /** What makes UTF-8 of the file's bytes; null: they are UTF-8. */
  readonly decode: DecodeWork | null;
  readonly rows: CsvWork | JsonWork;
}

/** Bytes of a slot that are not handed out: the beginning of the next row and what there was no room for. */
interface Rest {
  readonly slot: number;
  readonly from: number;
  readonly to: number;
}

export class ReadAheadJobRun {
  readonly #job: ReadAheadJob;
  readonly #memory: ReadAheadMemory;
  readonly #kernels: readonly SlotKernels[];
  readonly #file: DecodedFile;
  readonly #find: FindRows;
  /** The line feed that the file lacks at its end, once it is there. */
  #addedBytes = 0;

  /**
   * @param descriptor of the job's file
   * @param kernels of each slot
   */
  constructor(job: ReadAheadJob, descriptor: number, memory: ReadAheadMemory, kernels: readonly SlotKernels[]) {
    this.#job = job;
    this.#memory = memory;
    this.#kernels = kernels;
    this.#file = new DecodedFile(descriptor, job);
    const { rows } = job;
    const finder = rows.format === 'json' ? new JsonRowFinder(rows) : null;
    this.#find = rows.format === 'json' ? (slot) => finder!.find(slot) : (slot) => findCsvRows(rows, slot);
    for (const slot of kernels.keys()) {
      this.#file.prepare(memory.u8[slot]!);
      finder?.prepare(memory.u8[slot]!);
    }
  }

  /** Fills slots until the range is done, something is not as it should be, or the Run calls it back. */
  run(): void {
    const { base } = this.#job;
    let rest: Rest = { slot: 1, from: base, to: base };
    let handedOut = this.#job.from;
    for (let slot = 0; this.#memory.awaitEmpty(slot); slot = slotAfter(slot)) {
      const filled = this.#fill(slot, rest);
      const found = filled === null ? null : this.#find(this.#slot(slot, filled));
      if (found === null || filled === null) {
        this.#memory.handBack(slot);
        return;
      }
      const { end, ...what } = found;
      const last = this.#isAtEnd && end === filled;
      const behind = last ? this.#job.to : this.#file.at - this.#bytesOf(slot, end, filled);
      this.#memory.publish(slot, { bytes: end - base, fileBytes: behind - handedOut, last, ...what });
      if (last) return;
      handedOut = behind;
      rest = { slot, from: end, to: filled };
    }
  }

  get #isAtEnd(): boolean {
    return this.#file.isRead && this.#job.ends;
  }

  #slot(slot: number, filled: number): FilledSlot {
    const { base } = this.#job;
    const u8 = this.#memory.u8[slot]!;
    const u32 = this.#memory.u32[slot]!;
    return { u8, u32, kernels: this.#kernels[slot]!, base, filled, isAtEnd: this.#isAtEnd };
  }

  /** Bytes of the file that became the text [from, filled). */
  #bytesOf(slot: number, from: number, filled: number): number {
    return this.#file.bytesOf(this.#memory.u8[slot]!.subarray(from, filled)) - this.#addedBytes;
  }

  /** Address behind the text that stands in the slot now; null: it is no more than the one before, or ends in a Ctrl-Z. */
  #fill(slot: number, rest: Rest): number | null {
    const { base, windowBytes } = this.#job;
    const u8 = this.#memory.u8[slot]!;
    u8.set(this.#memory.u8[rest.slot]!.subarray(rest.from, rest.to), base);
    // Kernels look at the byte before a row.
    u8[base - 1] = LF;
    const carried = base + rest.to - rest.from;
    if ((carried >= base + windowBytes || this.#file.isRead) && !this.#isAtEnd) return null;
    const filled = this.#file.fill(u8, this.#kernels[slot]!, carried);
    if (filled === null || !this.#isAtEnd) return filled;
    // Whether it is a mark of the end is for the Run to say.
    if (u8[filled - 1] === END_MARK) return null;
    if (u8[filled - 1] !== LF) this.#addedBytes = 1;
    const end = u8[filled - 1] === LF ? filled : filled + 1;
    u8.fill(LF, end - 1, end + 1);
    return end;
  }
}
