// The desk of a fleet: each step is a script in Redis. An answer that does not come leaves open what was done: the claim is
// nobody's then, and is taken back (reaper.ts); an end is asked for again and again, for it may be asked twice.
import type { OutputRef, StoredOutput } from '../../outputs/output-store.ts';
import type { RunRecord } from '../../runs/run.ts';
import type {
  AccountUsage,
  AdmissionAnswer,
  AdmissionAsk,
  AdmissionDesk,
  AdmissionOutcome,
  BeginAnswer,
  FinishAnswer,
  KeyHolder,
  RunClaim,
  RunEnd,
} from '../admission-desk.ts';
import type { BillingPeriod } from '../billing-period.ts';
import { SharedStoreUnavailableError } from '../store-unavailable.ts';
import { accountKey, idempotencyKey, keyDigest } from './account-keys.ts';
import type { NodeClaims } from './claims.ts';
import type { Membership } from './membership.ts';
import type { Argument, RedisLink } from './redis-link.ts';
import { rateArguments, rateDecision } from './redis-rates.ts';
import type { ReplicatedSteps, StepCaller } from './replicated-steps.ts';
import { decodeHolder, encodeRecord } from './run-codec.ts';
import { ADMIT } from './scripts/admit.ts';
import { BEGIN, FINISH, PROMISE, VANISH } from './scripts/finish.ts';
import { USAGE } from './scripts/usage.ts';

/** An end is asked for again after this, and after twice as long each time, up to the second one. */
const AGAIN_MILLISECONDS_MIN = 50;
const AGAIN_MILLISECONDS_MAX = 1_000;

/** Counters of periods that began before are dropped: kept for 62 days after their end, for whoever explains a bill. */
const PERIODS_KEPT_MILLISECONDS = (62 + 31) * 24 * 3600 * 1000;

export interface RedisDeskParts {
  readonly link: RedisLink;
  /** For what a client is told as done. */
  readonly lasting: StepCaller;
  /** null: none are waited for. */
  readonly replicas: Pick<ReplicatedSteps, 'expectReplicas'> | null;
  readonly membership: Membership;
  readonly claims: NodeClaims;
  /** Longest life of a claim: of an upload, the wait for a thread, and the Run. */
  readonly claimMilliseconds: number;
  /** How long an end is asked for. */
  readonly finishMilliseconds: number;
}

export class RedisDesk implements AdmissionDesk {
  /** Ends that came too late: others had given the Run up. */
  lost = 0;
  readonly #parts: RedisDeskParts;
  #isHurried = false;

  constructor(parts: RedisDeskParts) {
    this.#parts = parts;
  }

  now(): number {
    return this.#parts.membership.now();
  }

  /** From now on nothing is asked for again. */
  hurry(): void {
    this.#isHurried = true;
  }

  async admit(ask: AdmissionAsk): Promise<AdmissionAnswer> {
    const { link, replicas, membership, claims, claimMilliseconds } = this.#parts;
    const { runId, account, key } = ask;
    replicas?.expectReplicas();
    const incarnation = membership.lease();
    await claims.announce(incarnation, account);
    claims.add(runId, account);
    let reply: AdmitReply;
    try {
      reply = (await link.call(ADMIT, accountKey(account), [
        runId,
        incarnation,
        ask.node,
        ...rateArguments(ask.rate),
        key === null ? '' : keyDigest(key.text),
        key?.templateId ?? '',
        ask.period.key,
        ask.quotaMax ?? '',
        ask.slotsMax ?? '',
        ask.room ? 1 : 0,
        claimMilliseconds,
      ])) as AdmitReply;
    } catch (fault) {
      claims.doubt(runId, account);
      throw fault;
    }
    const [allowed, retry, remaining, reset, kind, detail] = reply;
    if (kind !== 'admitted') claims.remove(runId);
    return { rate: rateDecision([allowed, retry, remaining, reset]), outcome: outcomeOf(ask, kind, detail) };
  }

  async begin({ runId, account }: RunClaim, run: RunRecord, fingerprint: string): Promise<BeginAnswer> {
    const args = [runId, run.templateId, run.createdAt, fingerprint];
    return (await this.#parts.link.call(BEGIN, accountKey(account), args)) as 'begun' | 'lost';
  }

  async promise(account: string, runId: string): Promise<boolean> {
    return (await this.#parts.lasting.call(PROMISE, accountKey(account), [runId])) === 1;
  }

  async finish(claim: RunClaim, end: RunEnd | null): Promise<FinishAnswer> {
    if (end === null) return this.#vanish(claim);
    const { claims, finishMilliseconds } = this.#parts;
    const { runId, account } = claim;
    const args = this.#endArguments(runId, end);
    const until = performance.now() + finishMilliseconds;
    for (let pause = AGAIN_MILLISECONDS_MIN, isFirst = true; ; isFirst = false) {
      try {
        const answer = (await this.#parts.lasting.call(FINISH, accountKey(account), args)) as FinishAnswer;
        claims.remove(runId);
        if (answer === 'lost') this.lost += 1;
        // The answer to a former asking was lost.
        return answer === 'done' && end.isCharged && !isFirst ? 'charged' : answer;
      } catch (fault) {
        const isOver = this.#isHurried || performance.now() > until;
        if (isOver || !(fault instanceof SharedStoreUnavailableError)) {
          claims.doubt(runId, account);
          throw fault;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(2 * pause, AGAIN_MILLISECONDS_MAX);
    }
  }

  async abandon(claim: RunClaim): Promise<void> {
    await this.#leave(claim, true);
  }

  async look(account: string, key: string): Promise<KeyHolder | null> {
    const text = await this.#parts.link.command('GET', idempotencyKey(account, keyDigest(key)));
    return text === null ? null : decodeHolder(text as string);
  }

  async usage(account: string, { key }: BillingPeriod): Promise<AccountUsage> {
    const reply = await this.#parts.link.call(USAGE, accountKey(account), [key]);
    const [used, runsInFlight] = reply as [number, number];
    return { used, runsInFlight };
  }

  /** Where Redis does not answer, nobody waits for it: what it holds of the claim is taken back later. */
  async #vanish(claim: RunClaim): Promise<FinishAnswer> {
    return (await this.#leave(claim, false)) ?? 'done';
  }

  async #leave({ runId, account }: RunClaim, promisedToo: boolean): Promise<FinishAnswer | null> {
    const { link, claims } = this.#parts;
    try {
      const answer = (await link.call(VANISH, accountKey(account), [runId, promisedToo ? 1 : 0])) as FinishAnswer;
      if (answer !== 'promised') claims.remove(runId);
      return answer;
    } catch (fault) {
      claims.doubt(runId, account);
      if (!(fault instanceof SharedStoreUnavailableError)) throw fault;
      return null;
    }
  }

  #endArguments(runId: string, { record, fingerprint, expiresAt, isCharged }: RunEnd): Argument[] {
    const bytes = record.output?.bytes ?? null;
    const oldest = new Date(this.now() - PERIODS_KEPT_MILLISECONDS).toISOString().slice(0, 10);
    const output = bytes === null ? [0, ''] : [1, bytes];
    const head = [runId, encodeRecord(record), ...output, Math.ceil(expiresAt)];
    return [...head, isCharged ? 1 : 0, fingerprint, record.errorCode ?? '', oldest];
  }
}

type AdmitReply = [number, number, number, number, AdmissionOutcome['kind'], string];

function outcomeOf({ runId, account }: AdmissionAsk, kind: AdmissionOutcome['kind'], detail: string): AdmissionOutcome {
  if (kind === 'held') return { kind, holder: decodeHolder(detail) };
  if (kind === 'quota') return { kind, used: Number(detail) };
  if (kind !== 'admitted') return { kind };
  // A key that was charged has its Run for as long as it is remembered: no repeat is made over the quota.
  return { kind, claim: { runId, account }, former: detail === '' ? null : detail, overQuota: null };
}

/** Marks an output that lies in Redis, in its place. */
const IN_REDIS = 'redis:';

/** The output beside a record. */
export function outputInRedis(account: string, runId: string, sizeBytes: number): StoredOutput {
  return { sizeBytes, path: `${IN_REDIS}${account}/${runId}`, bytes: null };
}

/** Where in Redis the output is; null: it is elsewhere. */
export function placeInRedis({ path }: OutputRef): { readonly account: string; readonly runId: string } | null {
  if (path?.startsWith(IN_REDIS) !== true) return null;
  const [account, runId] = path.slice(IN_REDIS.length).split('/');
  return { account: account!, runId: runId! };
}
