// A job of a read-ahead thread: the rows of a range of a file. Chunk by chunk, it reads, decodes, finds rows and
// validates the text, at the same addresses as in the Run's memory, so that the Run only has to copy the result. It
// emits complete and valid rows only. At anything else it stops, and the Run itself reads on and reports the error.
import { LF } from '../../kernel/layout/scan.ts';
import { END_MARK } from '../end-mark.ts';
import type { DecodeWork, FileRest } from '../source/source.ts';
import { type CsvWork, findCsvRows } from './csv-work.ts';
import { DecodedFile, type FilledSlot, type FindRows, type SlotKernels } from './decoded-file.ts';
import { JsonRowFinder, type JsonWork } from './json-work.ts';
import { type ReadAheadMemory, slotAfter } from './read-ahead-memory.ts';

export interface ReadAheadJob extends FileRest {
  /**
   * Addresses in the Run's memory: start of the window, and number of bytes read at a time. The memory has space for
   * twice as much.
   */
  readonly base: number;
  readonly windowBytes: number;
  /** Decoding of the file's bytes to UTF-8, or null if they are UTF-8. */
  readonly decode: DecodeWork | null;
  readonly rows: CsvWork | JsonWork;
}

/** Bytes of a slot that were not emitted: the beginning of the next row, and rows that did not fit. */
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
  /** 1 if the file lacks a line feed at its end and one has been added. */
  #addedBytes = 0;

  /**
   * @param descriptor file descriptor of the job's file
   * @param kernels the kernels of each slot
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

  /** Fills slots until the range is finished, something is irregular, or the Run recalls the thread. */
  run(): void {
    const { base } = this.#job;
    let rest: Rest = { slot: 1, from: base, to: base };
    let handedOut = this.#job.from;
    for (let slot = 0; this.#memory.awaitEmpty(slot); slot = slotAfter(slot)) {
      const filled = this.#fill(slot, rest);
      const found = filled === null ? null : this.#find(this.#slot(slot, filled));
      if (found === null || filled === null) {
        this.#memory.release(slot);
        return;
      }
      const { end, ...what } = found;
      const last = this.#isAtEnd && end === filled;
      const after = last ? this.#job.to : this.#file.at - this.#bytesOf(slot, end, filled);
      this.#memory.publish(slot, { bytes: end - base, fileBytes: after - handedOut, last, ...what });
      if (last) return;
      handedOut = after;
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

  /** Number of file bytes from which the text [from, filled) was decoded. */
  #bytesOf(slot: number, from: number, filled: number): number {
    return this.#file.bytesOf(this.#memory.u8[slot]!.subarray(from, filled)) - this.#addedBytes;
  }

  /**
   * Returns the address after the text in the slot. Returns null if nothing was added to the previous rest, or if the
   * text ends with Ctrl-Z.
   */
  #fill(slot: number, rest: Rest): number | null {
    const { base, windowBytes } = this.#job;
    const u8 = this.#memory.u8[slot]!;
    u8.set(this.#memory.u8[rest.slot]!.subarray(rest.from, rest.to), base);
    // Kernels read the byte before a row.
    u8[base - 1] = LF;
    const carried = base + rest.to - rest.from;
    if ((carried >= base + windowBytes || this.#file.isRead) && !this.#isAtEnd) return null;
    const filled = this.#file.fill(u8, this.#kernels[slot]!, carried);
    if (filled === null || !this.#isAtEnd) return filled;
    // The Run must decide whether this Ctrl-Z is an end-of-text mark.
    if (u8[filled - 1] === END_MARK) return null;
    if (u8[filled - 1] !== LF) this.#addedBytes = 1;
    const end = u8[filled - 1] === LF ? filled : filled + 1;
    u8.fill(LF, end - 1, end + 1);
    return end;
  }
}
