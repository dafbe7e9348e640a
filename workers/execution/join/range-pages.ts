// The ranges of a reference table in their order, in pages: in memory while the budget allows, else in a file of the Run. A
// directory knows the first range of each page, and the pages that were read last are kept.

import type { OperatorContext } from '../../operations/operation.ts';
import { SpillFile } from '../spill/spill-file.ts';
import { TableRows } from '../tables/table-rows.ts';

/** A page ends with the entry that reaches so many bytes: some dozens of ranges, through which a search is short. */
const PAGE_BYTES = 4096;

/** Pages that are kept, by the low bits of their number: 1 MiB. A larger page is read anew each time. */
const PAGES_KEPT = 256;
const KEPT_PAGE_BYTES = PAGE_BYTES * 2;

/** What a page costs in the directory beside the bytes of its first range: an object, two numbers. */
const DIRECTORY_ENTRY_BYTES = 128;

/** In front of each entry: the bytes of its lower and upper end. Each cell follows with its length in front. */
const ENTRY_HEADER_BYTES = 8;
const LENGTH_BYTES = 4;
const CELL_NULL = 0xffffffff;

/** Bytes in an array, from `at` on. */
export interface Bytes {
  readonly u8: Uint8Array;
  readonly at: number;
  readonly length: number;
}

interface Page {
  readonly number: number;
  readonly bytes: Buffer;
  /** Where its entries begin. */
  readonly entries: readonly number[];
}

/** A range that was found: its page, and where it begins there. */
export interface FoundRange {
  readonly bytes: Buffer;
  readonly at: number;
}

/** Which ends belong to a range. */
export interface RangeEnds {
  readonly hasFrom: boolean;
  readonly hasTo: boolean;
}

export class RangePages {
  readonly #budget: OperatorContext['budget'];
  readonly #ends: RangeEnds;
  readonly #pages: TableRows;
  readonly #firsts: Uint8Array[] = [];
  readonly #starts: number[] = [];
  readonly #kept: (Page | undefined)[] = [];
  #open: Buffer[] = [];
  #openBytes = 0;

  constructor({ budget, spill }: Pick<OperatorContext, 'budget' | 'spill'>, ends: RangeEnds) {
    this.#budget = budget;
    this.#ends = ends;
    this.#pages = new TableRows([], budget, () => new SpillFile(spill));
  }

  /** Ranges come in their order, none of them overlapping. `complete` ends it. */
  add(from: Uint8Array, to: Uint8Array, cells: readonly (Uint8Array | null)[]): void {
    if (this.#openBytes === 0) {
      this.#budget.force(from.length + DIRECTORY_ENTRY_BYTES);
      this.#firsts.push(from.slice());
      this.#starts.push(this.#pages.sizeBytes);
    }
    const entry = entryOf(from, to, cells);
    this.#open.push(entry);
    this.#openBytes += entry.length;
    if (this.#openBytes >= PAGE_BYTES) this.#endPage();
  }

  complete(): void {
    if (this.#openBytes > 0) this.#endPage();
    this.#pages.complete();
    this.#budget.force(Math.min(this.#starts.length, PAGES_KEPT) * PAGE_BYTES);
  }

  /** The range that holds a key, null when there is none. */
  find(key: Bytes): FoundRange | null {
    // A lower end that does not belong to its range is, to be found, above its own value.
    const { hasFrom, hasTo } = this.#ends;
    const above = (order: number): number => (order === 0 && !hasFrom ? 1 : order);
    const number = lastAtMost(this.#firsts.length, (page) =>
      above(compare(this.#firsts[page]!, 0, key, this.#firsts[page]!.length)),
    );
    if (number < 0) return null;
    const { bytes, entries } = this.#page(number);
    const entry = lastAtMost(entries.length, (index) => {
      const at = entries[index]!;
      return above(compare(bytes, at + ENTRY_HEADER_BYTES, key, bytes.readUInt32LE(at)));
    });
    const at = entries[entry]!;
    const from = bytes.readUInt32LE(at);
    const end = compare(bytes, at + ENTRY_HEADER_BYTES + from, key, bytes.readUInt32LE(at + 4));
    return end < 0 || (end === 0 && !hasTo) ? null : { bytes, at };
  }

  #endPage(): void {
    this.#pages.append(Buffer.concat(this.#open, this.#openBytes));
    this.#open = [];
    this.#openBytes = 0;
  }

  #page(number: number): Page {
    const known = this.#kept[number % PAGES_KEPT];
    if (known?.number === number) return known;
    const start = this.#starts[number]!;
    const bytes = Buffer.allocUnsafe((this.#starts[number + 1] ?? this.#pages.sizeBytes) - start);
    if (this.#pages.read(bytes, start) < bytes.length) throw new Error('a table of ranges ends early');
    const entries: number[] = [];
    for (let at = 0; at < bytes.length; at = entryEnd(bytes, at)) entries.push(at);
    const page = { number, bytes, entries };
    if (bytes.length <= KEPT_PAGE_BYTES) this.#kept[number % PAGES_KEPT] = page;
    return page;
  }
}

/** The cells of a range in the order in which they were given; valid as long as the page is. */
export function* cellsOf({ bytes, at }: FoundRange): Generator<Uint8Array | null, void, undefined> {
  const end = entryEnd(bytes, at);
  let next = at + ENTRY_HEADER_BYTES + LENGTH_BYTES + bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4);
  while (next < end) {
    const length = bytes.readUInt32LE(next);
    next += LENGTH_BYTES;
    yield length === CELL_NULL ? null : bytes.subarray(next, next + length);
    if (length !== CELL_NULL) next += length;
  }
}

/** Lengths of both ends, both ends, the bytes of all cells, the cells. */
function entryOf(from: Uint8Array, to: Uint8Array, cells: readonly (Uint8Array | null)[]): Buffer {
  const cellBytes = cells.reduce((sum, cell) => sum + LENGTH_BYTES + (cell?.length ?? 0), 0);
  const entry = Buffer.allocUnsafe(ENTRY_HEADER_BYTES + from.length + to.length + LENGTH_BYTES + cellBytes);
  entry.writeUInt32LE(from.length, 0);
  entry.writeUInt32LE(to.length, 4);
  entry.set(from, ENTRY_HEADER_BYTES);
  entry.set(to, ENTRY_HEADER_BYTES + from.length);
  let next = entry.writeUInt32LE(cellBytes, ENTRY_HEADER_BYTES + from.length + to.length);
  for (const cell of cells) {
    next = entry.writeUInt32LE(cell?.length ?? CELL_NULL, next);
    if (cell === null) continue;
    entry.set(cell, next);
    next += cell.length;
  }
  return entry;
}

function entryEnd(bytes: Buffer, at: number): number {
  const cells = at + ENTRY_HEADER_BYTES + bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4);
  return cells + LENGTH_BYTES + bytes.readUInt32LE(cells);
}

/** The last of `count` rising things that is not above what is looked for, -1 when the first is. */
function lastAtMost(count: number, comparedWithKey: (index: number) => number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comparedWithKey(middle) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** How `length` bytes at `at` stand to the key. */
function compare(bytes: Uint8Array, at: number, key: Bytes, length: number): number {
  const common = Math.min(length, key.length);
  for (let i = 0; i < common; i++) {
    const difference = bytes[at + i]! - key.u8[key.at + i]!;
    if (difference !== 0) return difference;
  }
  return length - key.length;
}
