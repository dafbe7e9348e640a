// Takes back claims without an owner: those of nodes that were given up, and those of this node after calls with
// unknown outcome. A Run that was visible to others ends with RUN_INTERRUPTED; all other Runs are discarded.
import type { RunRecord } from '../../runs/run.ts';
import type { Log } from '../../telemetry/log.ts';
import { SharedStoreUnavailableError } from '../stores.ts';
import { accountKey, accountsKey } from './account-keys.ts';
import type { NodeClaims } from './claims.ts';
import type { Membership } from './membership.ts';
import type { RedisLink } from './redis-link.ts';
import { type ClaimFields, decodeClaim, encodeRecord, runningRecord } from './run-codec.ts';
import { FINISH, VANISH } from './scripts/scripts.ts';

/**
 * Interval between repeated checks of a given-up node while it is remembered, because delayed calls may create claims
 * late.
 */
const AGAIN_MILLISECONDS = 30_000;

/** Intervals between checks of all accounts of this node, and of accounts with calls of unknown outcome. */
const RECONCILE_MILLISECONDS = 60_000;
const DOUBTFUL_MILLISECONDS = 5_000;

/** Younger claims are skipped, because their response may still be on the way. */
const CLAIM_MILLISECONDS_MIN = 5_000;

export interface ReaperParts {
  readonly link: RedisLink;
  readonly membership: Membership;
  readonly claims: NodeClaims;
  readonly log: Log;
  readonly retentionMilliseconds: number;
  /** Creates the record of an interrupted Run. */
  readonly interrupted: (running: RunRecord) => RunRecord;
}

export class Reaper {
  /** Number of claims taken back. */
  reaped = 0;
  readonly #parts: ReaperParts;
  /** Time of the last check of each given-up incarnation. */
  readonly #looked = new Map<string, number>();
  #timers: NodeJS.Timeout[] = [];
  #work: Promise<void> = Promise.resolve();

  constructor(parts: ReaperParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timers = [
      setInterval(() => this.#enqueue(() => this.#reconcile(this.#parts.claims.accounts)), RECONCILE_MILLISECONDS),
      setInterval(() => this.settleDoubts(), DOUBTFUL_MILLISECONDS),
    ];
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#work;
  }

  /** Called by Membership: takes back the claims of given-up incarnations. */
  reclaim(incarnations: readonly string[]): void {
    const now = performance.now();
    for (const known of this.#looked.keys()) if (!incarnations.includes(known)) this.#looked.delete(known);
    for (const incarnation of incarnations) {
      if (now - (this.#looked.get(incarnation) ?? Number.NEGATIVE_INFINITY) < AGAIN_MILLISECONDS) continue;
      this.#looked.set(incarnation, now);
      this.#enqueue(() => this.#reap(incarnation));
    }
  }

  /** Checks accounts with calls of unknown outcome. */
  settleDoubts(): void {
    const { doubtful } = this.#parts.claims;
    if (doubtful.size > 0) this.#enqueue(() => this.#reconcile([...doubtful]));
  }

  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((fault) => {
      // Remaining claims are found again by the next check or by another node.
      this.#looked.clear();
      if (!(fault instanceof SharedStoreUnavailableError)) this.#parts.log.fault('fault', fault);
    });
  }

  async #reap(incarnation: string): Promise<void> {
    const { link, log } = this.#parts;
    const accounts = (await link.command('SMEMBERS', accountsKey(incarnation))) as string[];
    const before = this.reaped;
    for (const account of accounts) await this.#sweep(account, ({ i }) => i === incarnation);
    if (this.reaped > before) log.warn('claims_taken_back', { runs: this.reaped - before });
  }

  async #reconcile(accounts: readonly string[]): Promise<void> {
    const { claims } = this.#parts;
    await claims.announceAgain();
    for (const account of accounts) {
      // Removed before the check, because a call that becomes doubtful during it may be too late and needs a new mark.
      const wasDoubtful = claims.doubtful.delete(account);
      let isSettled = false;
      try {
        isSettled = await this.#settle(account);
      } finally {
        if (wasDoubtful && !isSettled) claims.doubtful.add(account);
      }
    }
  }

  /** False: some claims are too young, so their responses may still be on the way. */
  async #settle(account: string): Promise<boolean> {
    const { claims, membership } = this.#parts;
    let isYoung = false;
    const before = membership.now() - CLAIM_MILLISECONDS_MIN;
    await this.#sweep(account, ({ i, a }, runId) => {
      if (i !== membership.incarnation || claims.has(runId)) return false;
      isYoung ||= a > before;
      return a <= before;
    });
    return !isYoung;
  }

  async #sweep(account: string, isNobodys: (claim: ClaimFields, runId: string) => boolean): Promise<void> {
    const { link } = this.#parts;
    const flight = (await link.command('HGETALL', accountKey(account))) as string[] | Record<string, string>;
    const fields = Array.isArray(flight) ? pairsOf(flight) : Object.entries(flight);
    for (const [runId, text] of fields) {
      const claim = decodeClaim(text);
      if (isNobodys(claim, runId)) await this.#reclaim(account, runId, claim);
    }
  }

  async #reclaim(account: string, runId: string, claim: ClaimFields): Promise<void> {
    const { link, membership, retentionMilliseconds, interrupted } = this.#parts;
    const key = accountKey(account);
    const record = interrupted(runningRecord(account, runId, claim));
    const answer =
      claim.b === undefined
        ? await link.call(VANISH, key, [runId, 'unseen'])
        : await link.call(FINISH, key, [
            runId,
            encodeRecord(record),
            0,
            '',
            Math.ceil(membership.now()) + retentionMilliseconds,
            0,
            claim.f ?? '',
            record.errorCode ?? '',
            '',
          ]);
    if (answer === 'done') this.reaped += 1;
    if (answer !== 'seen') return;
    // Its node is alive and has made the Run visible in the meantime.
    const text = (await link.command('HGET', key, runId)) as string | null;
    if (text !== null) await this.#reclaim(account, runId, decodeClaim(text));
  }
}

function pairsOf(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index]!, flat[2 * index + 1]!]);
}
