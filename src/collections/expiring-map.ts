// A map whose entries expire at a given time, for idempotency records and rate limits. Every call does a limited
// amount of work. Entries are spread over many small Maps, because a single Map of a million entries blocks the event
// loop for a tenth of a second when it grows. They are ordered by expiry in a binary heap, and each entry knows its
// index in the heap. The heap of mnemonist is not used, because it cannot move or remove an entry in the middle, so
// deleted or prolonged entries would stay in it.
import { textHash } from './hash-index.ts';

/**
 * Number of Maps, a power of two. With a million entries, each Map has 4,000, and growing one takes a fraction of a
 * millisecond.
 */
const SHARDS = 256;

export interface ExpiringMapOptions<Value> {
  /** Called for each expired entry, after it has been removed; not called for `delete` or for a replaced value. */
  readonly expired?: (key: string, value: Value) => void;
  /** Memory of an entry in bytes; called once when the entry is set. */
  readonly bytesOf?: (key: string, value: Value) => number;
  /**
   * Called with the change in bytes whenever entries are added, removed or replaced; used to charge the memory
   * budget.
   */
  readonly charge?: (bytes: number) => void;
}

interface Entry<Value> {
  readonly key: string;
  value: Value;
  bytes: number;
  expiresAt: number;
  heapIndex: number;
}

export class ExpiringMap<Value> {
  #shards: Map<string, Entry<Value>>[] = Array.from({ length: SHARDS }, () => new Map());
  #heap: Entry<Value>[] = [];
  #options: ExpiringMapOptions<Value>;
  #bytes = 0;

  constructor(options: ExpiringMapOptions<Value> = {}) {
    this.#options = options;
  }

  /** Number of entries held, including expired ones that no sweep has removed yet. */
  get size(): number {
    return this.#heap.length;
  }

  /** Total memory of the entries, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Inserts or replaces an entry. `expiresAt` is on the same clock as the `now` of get and sweep; Infinity: never
   * expires.
   */
  set(key: string, value: Value, expiresAt: number): void {
    const bytes = this.#options.bytesOf?.(key, value) ?? 0;
    const shard = this.#shard(key);
    const entry = shard.get(key);
    if (entry === undefined) {
      const made: Entry<Value> = { key, value, bytes, expiresAt, heapIndex: this.#heap.length };
      shard.set(key, made);
      this.#heap.push(made);
      this.#rise(made);
      this.#chargeBytes(bytes);
      return;
    }
    const change = bytes - entry.bytes;
    entry.value = value;
    entry.bytes = bytes;
    this.#move(entry, expiresAt);
    this.#chargeBytes(change);
  }

  /** The value; undefined if the key is unknown or the entry has expired at `now`. */
  get(key: string, now: number): Value | undefined {
    const entry = this.#shard(key).get(key);
    return entry !== undefined && entry.expiresAt > now ? entry.value : undefined;
  }

  /** Changes the expiry of an entry. Returns false if the key is unknown. */
  updateExpiry(key: string, expiresAt: number): boolean {
    const entry = this.#shard(key).get(key);
    if (entry === undefined) return false;
    this.#move(entry, expiresAt);
    return true;
  }

  /** Removes an entry. Returns false if the key is unknown. */
  delete(key: string): boolean {
    const entry = this.#shard(key).get(key);
    if (entry === undefined) return false;
    this.#remove(entry);
    return true;
  }

  /**
   * Removes at most `max` expired entries, the earliest first. Returns the number removed; if it equals `max`, call
   * again soon.
   */
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

  #chargeBytes(bytes: number): void {
    if (bytes === 0) return;
    this.#bytes += bytes;
    this.#options.charge?.(bytes);
  }

  #remove(entry: Entry<Value>): void {
    this.#shard(entry.key).delete(entry.key);
    const last = this.#heap.pop()!;
    if (last !== entry) {
      this.#put(last, entry.heapIndex);
      this.#rise(last);
      this.#sink(last);
    }
    this.#chargeBytes(-entry.bytes);
  }

  #move(entry: Entry<Value>, expiresAt: number): void {
    entry.expiresAt = expiresAt;
    this.#rise(entry);
    this.#sink(entry);
  }

  #rise(entry: Entry<Value>): void {
    while (entry.heapIndex > 0) {
      const parent = this.#heap[(entry.heapIndex - 1) >> 1]!;
      if (parent.expiresAt <= entry.expiresAt) return;
      this.#swap(entry, parent);
    }
  }

  #sink(entry: Entry<Value>): void {
    for (;;) {
      const left = this.#heap[2 * entry.heapIndex + 1];
      const right = this.#heap[2 * entry.heapIndex + 2];
      if (left === undefined) return;
      const child = right !== undefined && right.expiresAt < left.expiresAt ? right : left;
      if (child.expiresAt >= entry.expiresAt) return;
      this.#swap(entry, child);
    }
  }

  #swap(one: Entry<Value>, other: Entry<Value>): void {
    const { heapIndex } = one;
    this.#put(one, other.heapIndex);
    this.#put(other, heapIndex);
  }

  #put(entry: Entry<Value>, heapIndex: number): void {
    entry.heapIndex = heapIndex;
    this.#heap[heapIndex] = entry;
  }
}
