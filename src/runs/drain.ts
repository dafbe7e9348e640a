// The end of the node's life: no new Runs, then a deadline for what is under way. It does not know signals or sockets.
// States: open → draining (until the deadline, or until nothing is under way) → over (the deadline has passed).
import { Waiting } from './waiting.ts';

export class Drain {
  draining = false;
  /** Head of the ring of all who wait. */
  #waits = new Waiting(() => {});
  #idle: (() => void) | null = null;
  #underWay = 0;
  #over = false;

  /** Things that the drain waits for. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Something is under way until the function that it returns is called. */
  enter(): () => void {
    this.#underWay += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#idle?.();
    };
  }

  /** Calls back when the deadline passes, at once when it has, unless the one who waits has left. */
  onDeadline(listener: () => void): Waiting {
    const waiting = new Waiting(listener);
    if (this.#over) listener();
    else waiting.enter(this.#waits);
    return waiting;
  }

  /** Takes nothing new; resolves when nothing is under way, after the deadline at the latest when that ends it. */
  async run(milliseconds: number): Promise<void> {
    this.draining = true;
    if (this.#underWay === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    const timer = setTimeout(() => this.#deadline(), milliseconds);
    await idle;
    clearTimeout(timer);
  }

  #deadline(): void {
    this.#over = true;
    this.#waits.tell(Number.POSITIVE_INFINITY);
  }
}
