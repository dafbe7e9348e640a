// The claims of this node, and the accounts in which it may have some. A claim that Redis has for this node but that
// is missing here has no owner: a call that timed out may still have been executed.
import { accountsKey } from './account-keys.ts';
import type { Membership } from './membership.ts';
import type { RedisLink } from './redis-link.ts';

export class NodeClaims {
  /** Accounts by Run id. */
  readonly #living = new Map<string, string>();
  /** Accounts that have been announced to Redis by the current incarnation. */
  #accounts = new Set<string>();
  #incarnation = '';
  /** Accounts with calls whose outcome is unknown. */
  readonly doubtful = new Set<string>();
  /** Number of calls with unknown outcome. */
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

  /** True if Redis holds nothing for this node, and no pending call can still create anything there. */
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

  /** Gives up a claim whose state in Redis is unknown. */
  doubt(runId: string, account: string): void {
    this.#living.delete(runId);
    this.doubtful.add(account);
    this.doubts += 1;
  }

  /**
   * Called before the first claim in an account, so that the claim can be found if other nodes have to take back this
   * node's claims.
   */
  async announce(incarnation: string, account: string): Promise<void> {
    if (this.#incarnation !== incarnation) {
      this.#incarnation = incarnation;
      this.#accounts = new Set();
    }
    if (this.#accounts.has(account)) return;
    await this.#link.command('SADD', accountsKey(incarnation), account);
    this.#accounts.add(account);
  }

  /** Announces the accounts again, because Redis may have lost them. */
  async announceAgain(): Promise<void> {
    if (this.#accounts.size === 0) return;
    await this.#link.command('SADD', accountsKey(this.#membership.incarnation), ...this.#accounts);
  }
}
