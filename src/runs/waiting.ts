// Those who wait to be told something: in a ring, which a small Run enters and leaves for less than a place in a Set or a
// timer of its own.

/** One who waits; its head is one who is never told. */
export class Waiting {
  readonly listener: () => void;
  /** When it is told, where that is a time: on the clock of performance.now. */
  readonly at: number;
  before: Waiting = this;
  after: Waiting = this;

  constructor(listener: () => void, at = Number.POSITIVE_INFINITY) {
    this.listener = listener;
    this.at = at;
  }

  /** Takes its place in the ring of this head: the last, unless its time comes before that of others. */
  enter(head: Waiting): void {
    let next = head;
    while (next.before !== head && next.before.at > this.at) next = next.before;
    this.before = next.before;
    this.after = next;
    this.before.after = this;
    next.before = this;
  }

  /** Waits no longer. Idempotent. */
  leave(): void {
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this;
    this.after = this;
  }

  /** Of a head: tells all whose time has come, in their order; they may take each other back. */
  tell(now: number): void {
    for (let first = this.after; first !== this && first.at <= now; first = this.after) {
      first.leave();
      first.listener();
    }
  }
}
