// A map whose entries end at a given time, for idempotency records and rate limits. Every call does a bounded
// amount of work: entries are spread over many small Maps, because one Map of a million entries stops the loop for a
// tenth of a second when it grows, and stand in a binary heap by expiry in which each knows its place (mnemonist's heap
// cannot move or remove an entry in the middle, so what was deleted or prolonged would stay in it).
import { textHash } from './text-hash.ts';

/** A power of two. A million entries are 4,000 in each Map: growing one takes a fraction of a millisecond. */
const SHARDS = 256;

export interface ExpiringMapOptions<Value> {
  /** Called for each entry that ends by its time, after it has been removed; not for `delete` or a replaced value. */
  readonly expired?: (key: string, value: Value) => void;
  /** What an entry weighs, in bytes; asked once when it is set. */
  readonly bytesOf?: (key: string, value: Value) => number;
  /** Called with the change in bytes whenever entries come, go or are replaced: the budget's charge. */
  readonly charge?: (bytes: number) => void;
}

interface Entry<Value> {
  readonly key: string;
  value: Value;
  bytes: number;
  expiresAt: number;
  place: number;
}

export class ExpiringMap<Value> {
  #shards: Map<string, Entry<Value>>[] = Array.from({ length: SHARDS }, () => new Map());
  #heap: Entry<Value>[] = [];
  #options: ExpiringMapOptions<Value>;
  #bytes = 0;

  constructor(options: ExpiringMapOptions<Value> = {}) {
    this.#options = options;
  }

  /** Entries held, those included whose time has come and that no sweep has removed yet. */
  get size(): number {
    return this.#heap.length;
  }

  /** Sum of what the entries weigh. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Inserts or replaces. `expiresAt`: on the clock that get and sweep are given; Infinity = until it is updated. */
  set(key: string, value: Value, expiresAt: number): void {
    const bytes = this.#options.bytesOf?.(key, value) ?? 0;
    const shard = this.#shard(key);
    const entry = shard.get(key);
    if (entry === undefined) {
      const made: Entry<Value> = { key, value, bytes, expiresAt, place: this.#heap.length };
      shard.set(key, made);
      this.#heap.push(made);
      this.#rise(made);
      this.#weigh(bytes);
      return;
    }
    const change = bytes - entry.bytes;
    entry.value = value;
    entry.bytes = bytes;
    this.#move(entry, expiresAt);
    this.#weigh(change);
  }

  /** The value, or undefined when there is none or its time has come at `now`. */
  get(key: string, now: number): Value | undefined {
    const entry = this.#shard(key).get(key);
    return entry !== undefined && entry.expiresAt > now ? entry.value : undefined;
  }

  /** Gives an entry another time. False when there is none. */
  updateExpiry(key: string, expiresAt: number): boolean {
    const entry = this.#shard(key).get(key);
    if (entry === undefined) return false;
    this.#move(entry, expiresAt);
    return true;
  }

  /** Removes an entry. False when there was none. */
  delete(key: string): boolean {
    const entry = this.#shard(key).get(key);
    if (entry === undefined) return false;
    this.#remove(entry);
    return true;
  }

  /** Removes at most `max` entries whose time has come, the oldest first. Returns how many: `max` = call again soon. */
  sweep(now: number, max: number): number {
    let removed = 0;
    for (; removed < max; removed += 1) {
      const first = this.#heap[0];
      if (first === undefined || first.expiresAt > now) break;
      this.#remove(first);
      this.#options.expired?.(first.key, first.value);
    }
    return removed;
  }

  #shard(key: string): Map<string, Entry<Value>> {
    return this.#shards[textHash(key) & (SHARDS - 1)]!;
  }

  #weigh(bytes: number): void {
    if (bytes === 0) return;
    this.#bytes += bytes;
    this.#options.charge?.(bytes);
  }

  #remove(entry: Entry<Value>): void {
    this.#shard(entry.key).delete(entry.key);
    const last = this.#heap.pop()!;
    if (last !== entry) {
      this.#put(last, entry.place);
      this.#rise(last);
      this.#sink(last);
    }
    this.#weigh(-entry.bytes);
  }

  #move(entry: Entry<Value>, expiresAt: number): void {
    entry.expiresAt = expiresAt;
    this.#rise(entry);
    this.#sink(entry);
  }

  #rise(entry: Entry<Value>): void {
    while (entry.place > 0) {
      const parent = this.#heap[(entry.place - 1) >> 1]!;
      if (parent.expiresAt <= entry.expiresAt) return;
      this.#swap(entry, parent);
    }
  }

  #sink(entry: Entry<Value>): void {
    for (;;) {
      const left = this.#heap[2 * entry.place + 1];
      const right = this.#heap[2 * entry.place + 2];
      if (left === undefined) return;
      const child = right !== undefined && right.expiresAt < left.expiresAt ? right : left;
      if (child.expiresAt >= entry.expiresAt) return;
      this.#swap(entry, child);
    }
  }

  #swap(one: Entry<Value>, other: Entry<Value>): void {
    const { place } = one;
    this.#put(one, other.place);
    this.#put(other, place);
  }

  #put(entry: Entry<Value>, place: number): void {
    entry.place = place;
    this.#heap[place] = entry;
  }
}
