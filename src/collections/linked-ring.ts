// A doubly linked ring of entries in the order of insertion. Used instead of a Set for entries that each small Run adds
// and removes. The hash tables that a long-lived Set has outgrown keep removed entries, and everything they refer to,
// until the old generation is collected. A removed entry of the ring refers to no other entry.

export class RingEntry<Value> {
  readonly value: Value;
  #before: RingEntry<Value> = this;
  #after: RingEntry<Value> = this;

  constructor(value: Value) {
    this.value = value;
  }

  /** False after `remove`. */
  get isIn(): boolean {
    return this.#after !== this;
  }

  /** The next entry, or the head of the ring. Called by LinkedRing, as is `enter`. */
  get after(): RingEntry<Value> {
    return this.#after;
  }

  /** Inserts this entry before another one. */
  enter(next: RingEntry<Value>): void {
    this.#before = next.#before;
    this.#after = next;
    next.#before.#after = this;
    next.#before = this;
  }

  /** Removes this entry from its ring. Idempotent. */
  remove(): void {
    this.#before.#after = this.#after;
    this.#after.#before = this.#before;
    this.#before = this;
    this.#after = this;
  }
}

export class LinkedRing<Value> {
  /** The head has no value. */
  readonly #head = new RingEntry<Value>(undefined as Value);

  get isEmpty(): boolean {
    return !this.#head.isIn;
  }

  /** The oldest entry; null: the ring is empty. */
  get first(): RingEntry<Value> | null {
    return this.isEmpty ? null : this.#head.after;
  }

  /** Adds a value at the end. `remove` of the returned entry removes it. */
  add(value: Value): RingEntry<Value> {
    const entry = new RingEntry(value);
    entry.enter(this.#head);
    return entry;
  }

  /** The current values, oldest first. Skips those that are removed during the iteration. */
  *values(): Generator<Value> {
    const entries: RingEntry<Value>[] = [];
    for (let entry = this.#head.after; entry !== this.#head; entry = entry.after) entries.push(entry);
    for (const entry of entries) if (entry.isIn) yield entry.value;
  }
}
