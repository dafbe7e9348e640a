// Takes back claims that nobody holds: of nodes that were given up, and of this one where a call was in doubt. A Run that
// others have seen ends RUN_INTERRUPTED; of the others nothing remains.
import type { RunRecord } from '../../runs/run.ts';
import type { Log } from '../../telemetry/log.ts';
import { SharedStoreUnavailableError } from '../store-unavailable.ts';
import { accountKey, accountsKey } from './account-keys.ts';
import type { NodeClaims } from './claims.ts';
import type { Membership } from './membership.ts';
import type { RedisLink } from './redis-link.ts';
import { type ClaimFields, decodeClaim, encodeRecord, runningRecord } from './run-codec.ts';
import { FINISH, VANISH } from './scripts/finish.ts';

/** One that was given up is looked at again as long as it is remembered: what stalled on the way comes late. */
const AGAIN_MILLISECONDS = 30_000;

/** All accounts of this node, and those in which something was in doubt. */
const RECONCILE_MILLISECONDS = 60_000;
const DOUBTFUL_MILLISECONDS = 5_000;

/** A younger claim may be one whose answer is on the way. */
const CLAIM_MILLISECONDS_MIN = 5_000;

export interface ReaperParts {
  readonly link: RedisLink;
  readonly membership: Membership;
  readonly claims: NodeClaims;
  readonly log: Log;
  readonly retentionMilliseconds: number;
  /** The record of a Run that was interrupted. */
  readonly interrupted: (running: RunRecord) => RunRecord;
}

export class Reaper {
  /** Claims that were taken back. */
  reaped = 0;
  readonly #parts: ReaperParts;
  /** When each that was given up was looked at last. */
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

  /** Of Membership: takes back what they held. */
  takeBack(incarnations: readonly string[]): void {
    const now = performance.now();
    for (const known of this.#looked.keys()) if (!incarnations.includes(known)) this.#looked.delete(known);
    for (const incarnation of incarnations) {
      if (now - (this.#looked.get(incarnation) ?? Number.NEGATIVE_INFINITY) < AGAIN_MILLISECONDS) continue;
      this.#looked.set(incarnation, now);
      this.#enqueue(() => this.#reap(incarnation));
    }
  }

  /** Looks where something was in doubt. */
  settleDoubts(): void {
    const { doubtful } = this.#parts.claims;
    if (doubtful.size > 0) this.#enqueue(() => this.#reconcile([...doubtful]));
  }

  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((fault) => {
      // What is left is found again: by the next look, or by another node.
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
      // What is doubted from here on may come too late for this look.
      const wasDoubtful = claims.doubtful.delete(account);
      let isSettled = false;
      try {
        isSettled = await this.#settle(account);
      } finally {
        if (wasDoubtful && !isSettled) claims.doubtful.add(account);
      }
    }
  }

  /** False: there are claims that may be younger than their answers. */
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
      if (isNobodys(claim, runId)) await this.#takeBack(account, runId, claim);
    }
  }

  async #takeBack(account: string, runId: string, claim: ClaimFields): Promise<void> {
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
    // Its node, which lives, has shown it to others meanwhile.
    const text = (await link.command('HGET', key, runId)) as string | null;
    if (text !== null) await this.#takeBack(account, runId, decodeClaim(text));
  }
}

function pairsOf(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index]!, flat[2 * index + 1]!]);
}
