// The claims of this node, beside Redis, and the accounts in which it may have any. What Redis holds for this node and is
// not here is nobody's: a call that timed out may still have been executed.
import { accountsKey } from './account-keys.ts';
import type { Membership } from './membership.ts';
import type { RedisLink } from './redis-link.ts';

export class NodeClaims {
  /** Accounts by Run id. */
  readonly #living = new Map<string, string>();
  /** Accounts that Redis was told of, by the incarnation that told it. */
  #accounts = new Set<string>();
  #incarnation = '';
  /** Accounts in which something was asked for of which nobody knows whether it was done. */
  readonly doubtful = new Set<string>();
  /** How often that was so. */
  doubts = 0;
  readonly #link: RedisLink;
  readonly #membership: Membership;

  constructor(link: RedisLink, membership: Membership) {
    this.#link = link;
    this.#membership = membership;
  }

  get size(): number {
    return this.#living.size;
  }

  get accounts(): readonly string[] {
    return [...this.#accounts];
  }

  /** Redis holds nothing for this node, and nothing that is asked for may still be done there. */
  get areCertain(): boolean {
    return this.#living.size === 0 && this.doubts === 0;
  }

  has(runId: string): boolean {
    return this.#living.has(runId);
  }

  add(runId: string, account: string): void {
    this.#living.set(runId, account);
  }

  remove(runId: string): void {
    this.#living.delete(runId);
  }

  /** It is not ours any more, whatever Redis holds of it. */
  doubt(runId: string, account: string): void {
    this.#living.delete(runId);
    this.doubtful.add(account);
    this.doubts += 1;
  }

  /** Before the first claim in the account is asked for: who takes this node's claims back finds them there. */
  async announce(incarnation: string, account: string): Promise<void> {
    if (this.#incarnation !== incarnation) {
      this.#incarnation = incarnation;
      this.#accounts = new Set();
    }
    if (this.#accounts.has(account)) return;
    await this.#link.command('SADD', accountsKey(incarnation), account);
    this.#accounts.add(account);
  }

  /** Redis may have forgotten it. */
  async announceAgain(): Promise<void> {
    if (this.#accounts.size === 0) return;
    await this.#link.command('SADD', accountsKey(this.#membership.incarnation), ...this.#accounts);
  }
}
