// Memory for direct tests of kernels: regions that straddle a boundary of a memory page, with guard bytes around them, so that a
// kernel that writes outside its region is detected.

import { test } from 'tap';
import type { Kernel } from '../../../workers/kernel/bindings/kernel.ts';
import { UNKNOWN_TEXT, VECTOR_BYTES } from '../../../workers/kernel/layout/expressions.ts';
import type { Heap } from '../../../workers/memory/heap.ts';
import { fc } from '../../random.ts';
import { makeMemory } from '../operations/harness.ts';

const PAGE_BYTES = 65_536;

/** Kernels read and write vectors of 16 bytes: the padding of a region completes its last vector. */
export const PADDING_BYTES = 15;

const GUARD = 0xa5;
const GUARD_BYTES = 64;

/** Maximum number of regions in a test, each with a page on both sides of its boundary. */
const REGIONS_MAX = 24;

/** Numbers of rows around one vector of 16 lanes, and around two vectors. */
export const rowCounts = fc.constantFrom(0, 1, 2, 15, 16, 17, 31, 32, 33);

/** Start of a region in bytes before the boundary of a page: at the boundary, around a vector before it, and unaligned. */
export const bytesBefore = fc.constantFrom(0, 1, 3, 8, 15, 16, 17, 33, 200);

/** A list of values from `values`; its length is one of `rowCounts`. */
export function columnOf<T>(values: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return rowCounts.chain((count) => fc.array(values, { minLength: count, maxLength: count }));
}

/** The physical row of a position. Every other physical row is not in the list, and a kernel must not change it. */
export const rowOf = (position: number): number => position * 2 + 1;

/** The text of a view. null: address 0. undefined: a text that the kernels do not know (UNKNOWN_TEXT). */
export type ShownText = string | null | undefined;

/** Vector of numbers (layout/expressions.ts), with the addresses of its parts. */
export interface NumberVector {
  readonly at: number;
  readonly values: number;
  readonly marks: number;
  readonly scales: number;
}

const VALUE_BYTES = 8;

/** Tests a property of a kernel in fresh regions, and checks that the kernel writes nothing outside them. */
export function checkKernel<T>(
  title: string,
  values: fc.Arbitrary<T>,
  property: (rig: KernelRig, value: T, before: number) => void,
  numRuns = 300,
): void {
  test(title, (t) => {
    const rig = new KernelRig();
    const all = fc.property(values, bytesBefore, (value, before) => {
      rig.clear();
      property(rig, value, before);
      rig.checkGuards();
    });
    t.doesNotThrow(() => fc.assert(all, { numRuns }), title);
    t.end();
  });
}

interface Region {
  readonly at: number;
  readonly bytes: number;
}

export class KernelRig {
  readonly kernel: Kernel;
  readonly exports: Kernel['exports'];
  /** For memory that is not a region. */
  readonly heap: Heap;
  readonly #memory: WebAssembly.Memory;
  readonly #firstPage: number;
  #regions: Region[] = [];

  constructor() {
    const { kernel, heap } = makeMemory();
    this.kernel = kernel;
    this.exports = kernel.exports;
    this.heap = heap;
    this.#memory = kernel.memory;
    const start = heap.allocate((REGIONS_MAX * 2 + 1) * PAGE_BYTES);
    this.#firstPage = Math.ceil(start / PAGE_BYTES) * PAGE_BYTES;
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.#memory.buffer);
  }

  get #view(): DataView {
    return new DataView(this.#memory.buffer);
  }

  /** Forgets all regions. */
  clear(): void {
    this.#regions = [];
  }

  /** Address of a new region that begins `before` bytes before the boundary of a page. It is filled with guard bytes. */
  region(bytes: number, before: number): number {
    if (this.#regions.length === REGIONS_MAX) throw new Error('too many regions for a test of a kernel');
    const at = this.#firstPage + (this.#regions.length * 2 + 1) * PAGE_BYTES - before;
    this.#regions.push({ at, bytes });
    this.bytes.fill(GUARD, at - GUARD_BYTES, at + bytes + PADDING_BYTES + GUARD_BYTES);
    return at;
  }

  byteList(values: readonly number[], before: number): number {
    const at = this.region(values.length, before);
    this.bytes.set(values, at);
    return at;
  }

  wordList(values: readonly number[], before: number): number {
    const at = this.region(values.length * 4, before - (before % 4));
    const view = this.#view;
    for (const [index, value] of values.entries()) view.setUint32(at + index * 4, value, true);
    return at;
  }

  /** The list of rows for `count` positions. */
  rows(count: number, before = 8): number {
    return this.wordList(
      Array.from({ length: count }, (_, position) => rowOf(position)),
      before,
    );
  }

  /** Views by physical row. Their texts are stored one after another, starting `before` bytes before a boundary. */
  texts(values: readonly ShownText[], before: number): number {
    const total = values.reduce((sum, value) => sum + Buffer.byteLength(value ?? ''), 0);
    let next = this.region(total, before);
    const views = this.region(values.length * 16, 16);
    const view = this.#view;
    for (const [position, value] of values.entries()) {
      const at = views + rowOf(position) * 8;
      const bytes = Buffer.from(value ?? '');
      view.setUint32(at, value === null ? 0 : value === undefined ? UNKNOWN_TEXT : next, true);
      view.setUint32(at + 4, bytes.length, true);
      this.bytes.set(bytes, next);
      next += bytes.length;
    }
    return views;
  }

  /** The texts that views by physical row show. */
  textsOf(views: number, count: number): ShownText[] {
    return Array.from({ length: count }, (_, position) => this.textAt(views + rowOf(position) * 8));
  }

  /** The texts that views by position show. */
  vectorTexts(vector: number, count: number): ShownText[] {
    return Array.from({ length: count }, (_, position) => this.textAt(vector + position * 8));
  }

  textAt(view: number): ShownText {
    const [at, length] = [this.word(view), this.word(view + 4)];
    if (at <= UNKNOWN_TEXT) return at === 0 ? null : undefined;
    return Buffer.from(this.bytes.subarray(at, at + length)).toString();
  }

  /** An empty vector of `count` numbers. With `stepBytes` 0, it has one number for all positions. */
  numberVector(count: number, before: number, stepBytes = VALUE_BYTES): NumberVector {
    const values = this.region(count * VALUE_BYTES, before);
    const marks = this.region(count, before);
    const scales = this.region(count, before);
    const words = [values, marks, scales, stepBytes];
    const at = this.wordList([...words, ...Array<number>(VECTOR_BYTES / 4 - words.length).fill(0)], 16);
    return { at, values, marks, scales };
  }

  setDouble(at: number, value: number): void {
    this.#view.setFloat64(at, value, true);
  }

  double(at: number): number {
    return this.#view.getFloat64(at, true);
  }

  setLong(at: number, value: bigint): void {
    this.#view.setBigInt64(at, value, true);
  }

  long(at: number): bigint {
    return this.#view.getBigInt64(at, true);
  }

  setWord(at: number, value: number): void {
    this.#view.setUint32(at, value, true);
  }

  word(at: number): number {
    return this.#view.getUint32(at, true);
  }

  byteValues(at: number, count: number): number[] {
    return [...this.bytes.subarray(at, at + count)];
  }

  wordValues(at: number, count: number): number[] {
    return Array.from({ length: count }, (_, index) => this.word(at + index * 4));
  }

  /** Throws if a kernel wrote outside the regions: before a region, or after its padding. */
  checkGuards(): void {
    for (const [index, { at, bytes }] of this.#regions.entries()) {
      const end = at + bytes + PADDING_BYTES;
      const before = this.bytes.subarray(at - GUARD_BYTES, at);
      const after = this.bytes.subarray(end, end + GUARD_BYTES);
      for (const [place, guards] of [
        ['before', before],
        ['after', after],
      ] as const) {
        if (!guards.every((byte) => byte === GUARD)) throw new Error(`a kernel wrote ${place} region ${index}`);
      }
    }
  }
}
