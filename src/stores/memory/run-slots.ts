// Runs in flight per account: a counter from admission until the Run ends. It does not know what a Run is.

export class RunSlots {
  #taken = new Map<string, number>();

  /** Takes a slot of the account unless `max` are taken; null = no limit. */
  take(account: string, max: number | null): boolean {
    const taken = this.taken(account);
    if (max !== null && taken >= max) return false;
    this.#taken.set(account, taken + 1);
    return true;
  }

  /** Gives one slot back. Throws when none was taken: a fault of ours. */
  release(account: string): void {
    const taken = this.taken(account);
    if (taken === 0) throw new Error('a slot was released that nobody held');
    if (taken === 1) this.#taken.delete(account);
    else this.#taken.set(account, taken - 1);
  }

  taken(account: string): number {
    return this.#taken.get(account) ?? 0;
  }
}
