// The table of keys that the kernel fills, in the order of their first occurrence. Each key is a node below the key of
// the object that contains it. The table grows up to the maximum number of columns.
import { randomInt } from 'node:crypto';
import {
  FLATTEN_LEVELS_MAX,
  KEY_BYTES_MAX,
  KEYS_LIMIT,
  KEYS_NEXT,
  LEARNS,
  NODE_COLUMN,
  NODE_COUNT,
  NODE_HASH,
  NODE_KEY,
  NODE_KEY_BYTES,
  NODE_PARENT,
  NODE_SEEN,
  NODE_SHIFT,
  NODES,
  NODES_MAX,
  PARENTS,
  SCRATCH,
  SEED,
  SEEN_NULL,
  SEEN_OBJECT,
  SEEN_VALUE,
  SLOT_MASK,
  SLOTS,
} from '../../kernel/layout/json.ts';
import type { Heap } from '../../memory/heap.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import type { MemoryImage } from '../read-ahead/json-work.ts';
import type { JsonText } from './json-text.ts';

/** Initial number of nodes: more than most files need. */
const NODES_FIRST = 512;

/** Initial space for the bytes of keys: enough for one key of any length. */
const KEYS_BYTES_FIRST = KEY_BYTES_MAX;

/** Growth factor when the table is full. */
const GROWTH_FACTOR = 4;

/**
 * Maximum number of nodes: all columns, and the objects that contain some of them. Reached in three steps, in which the
 * space for keys grows to 4 MiB.
 */
const NODES_MOST = 2 * COLUMNS_MAX;

/** Hash slots per node: half of them are free. */
const SLOTS_PER_NODE = 2;

const SEED_MAX = 2 ** 32;

export class KeyTable {
  readonly #text: JsonText;
  readonly #heap: Heap;
  #nodesMax = NODES_FIRST;
  #keysBytes = KEYS_BYTES_FIRST;
  #nodes: number;
  #keys: number;
  #slots: number;

  constructor(text: JsonText) {
    this.#text = text;
    const { heap } = text;
    this.#heap = heap;
    this.#nodes = heap.allocate(this.#nodesMax << NODE_SHIFT);
    this.#keys = heap.allocate(this.#keysBytes);
    this.#slots = heap.allocate(this.#nodesMax * SLOTS_PER_NODE * 4);
    heap.u8.fill(0, this.#nodes, this.#nodes + (1 << NODE_SHIFT));
    heap.u32[(this.#nodes + NODE_COLUMN) >>> 2] = -1;
    text.set(SCRATCH, heap.allocate(KEY_BYTES_MAX));
    text.set(PARENTS, heap.allocate(FLATTEN_LEVELS_MAX * 4));
    text.set(SEED, randomInt(SEED_MAX));
    text.set(KEYS_NEXT, this.#keys);
    text.set(NODE_COUNT, 1);
    text.set(LEARNS, 1);
    this.#tell();
  }

  /** Number of nodes in use. The first node is not a key. */
  get count(): number {
    return this.#text.get(NODE_COUNT);
  }

  /** Makes space for more keys. Returns false if the file has more keys than allowed. */
  grow(): boolean {
    if (this.#nodesMax >= NODES_MOST) return false;
    this.#growKeys();
    const heap = this.#heap;
    const before = { at: this.#nodes, bytes: this.#nodesMax << NODE_SHIFT };
    const slotsBytes = this.#nodesMax * SLOTS_PER_NODE * 4;
    this.#nodesMax *= GROWTH_FACTOR;
    this.#nodes = heap.allocate(this.#nodesMax << NODE_SHIFT);
    heap.u8.copyWithin(this.#nodes, before.at, before.at + before.bytes);
    heap.release(before.at, before.bytes);
    heap.release(this.#slots, slotsBytes);
    this.#slots = heap.allocate(this.#nodesMax * SLOTS_PER_NODE * 4);
    this.#tell();
    return true;
  }

  /** Stops adding keys: unknown keys are ignored from now on. */
  close(): void {
    this.#text.set(LEARNS, 0);
  }

  /**
   * Returns the header for each node, or null for a node that is not a column: its values are always objects, whose
   * keys are columns instead.
   */
  headers(separator: string): (string | null)[] {
    const names: string[] = [''];
    const headers: (string | null)[] = [null];
    for (let node = 1; node < this.count; node++) {
      const parent = this.#word(node, NODE_PARENT);
      const key = this.#key(node);
      names.push(parent === 0 ? key : `${names[parent]!}${separator}${key}`);
      const seen = this.#word(node, NODE_SEEN);
      const isColumn = (seen & SEEN_VALUE) !== 0 || ((seen & SEEN_NULL) !== 0 && (seen & SEEN_OBJECT) === 0);
      headers.push(isColumn ? names[node]! : null);
    }
    return headers;
  }

  /** Returns the keys from the record to each node. */
  paths(): readonly (readonly string[])[] {
    const paths: (readonly string[])[] = [[]];
    for (let node = 1; node < this.count; node++) {
      paths.push([...paths[this.#word(node, NODE_PARENT)]!, this.#key(node)]);
    }
    return paths;
  }

  /** @param column negative if the cells are not needed */
  setColumn(node: number, column: number): void {
    this.#heap.u32[this.#at(node, NODE_COLUMN)] = column;
  }

  /** Returns copies of all memory of the table. */
  images(): readonly MemoryImage[] {
    const { u8 } = this.#heap;
    const imageOf = (at: number, bytes: number): MemoryImage => ({ at, bytes: u8.slice(at, at + bytes) });
    return [
      imageOf(this.#nodes, this.count << NODE_SHIFT),
      imageOf(this.#keys, this.#text.get(KEYS_NEXT) - this.#keys),
      imageOf(this.#slots, this.#nodesMax * SLOTS_PER_NODE * 4),
    ];
  }

  #growKeys(): void {
    const heap = this.#heap;
    const used = this.#text.get(KEYS_NEXT) - this.#keys;
    const before = this.#keys;
    const beforeBytes = this.#keysBytes;
    this.#keysBytes *= GROWTH_FACTOR;
    this.#keys = heap.allocate(this.#keysBytes);
    heap.u8.copyWithin(this.#keys, before, before + used);
    for (let node = 1; node < this.count; node++) heap.u32[this.#at(node, NODE_KEY)]! += this.#keys - before;
    heap.release(before, beforeBytes);
    this.#text.set(KEYS_NEXT, this.#keys + used);
  }

  /** Writes the addresses into the state of the kernel and inserts the nodes into their slots. */
  #tell(): void {
    const text = this.#text;
    const slots = this.#nodesMax * SLOTS_PER_NODE;
    const { u32 } = this.#heap;
    u32.fill(0, this.#slots >>> 2, (this.#slots >>> 2) + slots);
    for (let node = 1; node < this.count; node++) {
      let slot = this.#word(node, NODE_HASH) & (slots - 1);
      while (u32[(this.#slots >>> 2) + slot] !== 0) slot = (slot + 1) & (slots - 1);
      u32[(this.#slots >>> 2) + slot] = node;
    }
    text.set(NODES, this.#nodes);
    text.set(NODES_MAX, this.#nodesMax);
    text.set(SLOTS, this.#slots);
    text.set(SLOT_MASK, slots - 1);
    text.set(KEYS_LIMIT, this.#keys + this.#keysBytes);
  }

  #key(node: number): string {
    const at = this.#word(node, NODE_KEY);
    return Buffer.from(this.#heap.u8.buffer, at, this.#word(node, NODE_KEY_BYTES)).toString();
  }

  #word(node: number, word: number): number {
    return this.#heap.u32[this.#at(node, word)]!;
  }

  #at(node: number, word: number): number {
    return (this.#nodes + (node << NODE_SHIFT) + word) >>> 2;
  }
}
