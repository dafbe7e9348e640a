// The admission store of a fleet: steps that are acknowledged by replicas, shared rate limits, and Runs that every node
// can read.

import type { OutputRef, StoredOutput } from '../../outputs/output-store.ts';
import type { RunRecord } from '../../runs/run.ts';
import type {
  AccountUsage,
  AdmissionAnswer,
  AdmissionOutcome,
  AdmissionRequest,
  AdmissionStore,
  BeginAnswer,
  FinishAnswer,
  KeyHolder,
  RunClaim,
  RunEnd,
} from '../admission-store.ts';
import type { BillingPeriod } from '../billing-period.ts';
import { type RateDecision, type RateLimit, type RateLimiter, TokenBuckets } from '../rate-limiter.ts';
import { type RateRequest, type RunAnswer, type RunStore, SharedStoreUnavailableError } from '../stores.ts';
import type { Membership, NodeClaims } from './membership.ts';
import type { Argument, RedisLink } from './redis-link.ts';
import {
  accountKey,
  decodeClaim,
  decodeHolder,
  decodeRecord,
  encodeRecord,
  idempotencyKey,
  keyDigest,
  REPLICATED_KEY,
  runningRecord,
} from './run-codec.ts';
import { ADMIT, BEGIN, FINISH, PROMISE, RATE, READ, type Script, USAGE, VANISH } from './scripts/scripts.ts';

// Steps that are acknowledged only when replicas have them, so that a failover loses nothing that was acknowledged.
// They use a separate connection, because WAIT blocks all later commands. Only one WAIT is in progress at a time;
// steps executed during it are covered by the next one (group commit).

/** Calls a script as one step. */
export interface StepCaller {
  /** Rejects with SharedStoreUnavailableError, or with a fault. */
  call(script: Script, key: string, args: readonly Argument[]): Promise<unknown>;
}

/**
 * After a WAIT with too few replicas, new Runs are refused for this time plus the duration of one WAIT; then one may
 * try again. Ends of Runs in progress are repeated within a second and notice earlier when there are enough replicas.
 */
const SHORTAGE_MILLISECONDS = 2_000;

/** Lifetime of the mark, which only needs to live until it is replicated. */
const MARK_MILLISECONDS = 60_000;

export class ReplicatedSteps implements StepCaller {
  readonly #link: RedisLink;
  readonly #replicas: number;
  readonly #waitMilliseconds: number;
  #underWay: Promise<unknown> = Promise.resolve();
  /** Until this time replicas count as too few, by performance.now(). */
  #shortUntil = 0;
  /** The next WAIT, which has not started yet and will cover all steps executed before its start. */
  #next: Promise<number> | null = null;

  /**
   * @param link a connection used for nothing else
   * @param replicas number of replicas that must have a step, at least 1
   */
  constructor(link: RedisLink, replicas: number, timeoutMilliseconds: number) {
    this.#link = link;
    this.#replicas = replicas;
    // WAIT must return before the deadline of the call, so that a lack of replicas is reported as such.
    this.#waitMilliseconds = Math.ceil(timeoutMilliseconds / 2);
  }

  /**
   * Throws SharedStoreUnavailableError if new steps could probably not be acknowledged, because too few replicas were
   * connected moments ago.
   */
  expectReplicas(): void {
    if (performance.now() < this.#shortUntil)
      throw this.#link.refusal('too_few_replicas', 'Too few replicas were there');
  }

  /** Also rejects if the step was executed but replicas do not have it yet; its durability is then unknown. */
  async call(script: Script, key: string, args: readonly Argument[]): Promise<unknown> {
    const { connection } = this.#link;
    const answer = await this.#link.call(script, key, args);
    const waited = await this.#replicated();
    // Another connection may lead to another primary, which does not have the step.
    if (waited !== connection) throw this.#link.refusal('lost', 'Connection was lost before replicas had it');
    return answer;
  }

  #replicated(): Promise<number> {
    this.#next ??= this.#underWay.then(() => {
      this.#next = null;
      const wait = this.#wait();
      this.#underWay = wait.catch(() => {});
      return wait;
    });
    return this.#next;
  }

  /** Resolves with the number of the connection that was used. */
  async #wait(): Promise<number> {
    const { connection } = this.#link;
    // WAIT covers only writes of the same connection. If a step was repeated without effect, there may be no such
    // write, so a mark is written.
    await this.#link.command('SET', REPLICATED_KEY, 1, 'PX', MARK_MILLISECONDS);
    const replicas = Number(await this.#link.command('WAIT', this.#replicas, this.#waitMilliseconds));
    if (connection !== this.#link.connection) return -1;
    const areTooFew = replicas < this.#replicas;
    this.#shortUntil = areTooFew ? performance.now() + SHORTAGE_MILLISECONDS + this.#waitMilliseconds : 0;
    if (areTooFew) throw this.#link.refusal('too_few_replicas', 'Too few replicas have it');
    return connection;
  }
}

// Rate limits shared by all nodes. If Redis does not answer, requests that need nothing else from it are limited by
// this node's counter.

/** In the form that scripts return: allowed, retry after, remaining, reset. */
export type RateReply = readonly [number, number, number, number];

function rateArguments(limit: RateLimit | null): readonly [number | '', number | ''] {
  return limit === null ? ['', ''] : [limit.requests, limit.windowSeconds * 1000];
}

function rateDecision([allowed, retryAfterSeconds, remaining, resetSeconds]: RateReply): RateDecision {
  const left = remaining < 0 ? Number.POSITIVE_INFINITY : remaining;
  return { allowed: allowed === 1, retryAfterSeconds, remaining: left, resetSeconds };
}

export class RedisRates implements RateLimiter {
  readonly #link: RedisLink;
  readonly #own = new TokenBuckets();

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async take(account: string, operation: string, limit: RateLimit | null): Promise<RateDecision> {
    if (limit === null) return rateDecision([1, 0, -1, 0]);
    try {
      const args = [operation, ...rateArguments(limit)];
      return rateDecision((await this.#link.call(RATE, accountKey(account), args)) as RateReply & number[]);
    } catch (fault) {
      if (!(fault instanceof SharedStoreUnavailableError)) throw fault;
      return this.#own.take(account, operation, limit, performance.now());
    }
  }
}

// The admission store of a fleet. Each step is a script in Redis. If a response does not arrive, the outcome is
// unknown: the claim is then given up and taken back later (membership.ts). The end of a Run is repeated instead, because
// that call is idempotent.

/** Delay before the end of a Run is repeated. It doubles each time, from the first value up to the second. */
const AGAIN_MILLISECONDS_MIN = 50;
const AGAIN_MILLISECONDS_MAX = 1_000;

/**
 * Counters of periods that began earlier are removed. They are kept for 62 days after the end of a period, so that
 * bills can be explained.
 */
const PERIODS_KEPT_MILLISECONDS = (62 + 31) * 24 * 3600 * 1000;

export interface RedisAdmissionStoreParts {
  readonly link: RedisLink;
  /** Calls steps whose success is reported to a client. */
  readonly lasting: StepCaller;
  /** Null: replicas are not awaited. */
  readonly replicas: Pick<ReplicatedSteps, 'expectReplicas'> | null;
  readonly membership: Membership;
  readonly claims: NodeClaims;
  /** Longest lifetime of a claim: upload, wait for a thread, and Run. */
  readonly claimMilliseconds: number;
  /** Time for which the end of a Run is repeated. */
  readonly finishMilliseconds: number;
}

export class RedisAdmissionStore implements AdmissionStore {
  /** Number of ends that came too late, because other nodes had given up the Run. */
  lost = 0;
  readonly #parts: RedisAdmissionStoreParts;
  #isHurried = false;

  constructor(parts: RedisAdmissionStoreParts) {
    this.#parts = parts;
  }

  now(): number {
    return this.#parts.membership.now();
  }

  /** From now on, failed calls are not repeated. */
  hurry(): void {
    this.#isHurried = true;
  }

  async admit(request: AdmissionRequest): Promise<AdmissionAnswer> {
    const { link, replicas, membership, claims, claimMilliseconds } = this.#parts;
    const { runId, account, key } = request;
    replicas?.expectReplicas();
    const incarnation = membership.lease();
    await claims.announce(incarnation, account);
    claims.add(runId, account);
    let reply: AdmitReply;
    try {
      reply = (await link.call(ADMIT, accountKey(account), [
        runId,
        incarnation,
        request.node,
        ...rateArguments(request.rate),
        key === null ? '' : keyDigest(key.text),
        key?.templateId ?? '',
        request.period.key,
        request.quotaMax ?? '',
        request.slotsMax ?? '',
        request.hasCapacity ? 1 : 0,
        claimMilliseconds,
      ])) as AdmitReply;
    } catch (fault) {
      claims.doubt(runId, account);
      throw fault;
    }
    const [allowed, retry, remaining, reset, kind, detail] = reply;
    if (kind !== 'admitted') claims.remove(runId);
    return { rate: rateDecision([allowed, retry, remaining, reset]), outcome: outcomeOf(request, kind, detail) };
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
        // The response to an earlier attempt was lost.
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

  async holderOf(account: string, key: string): Promise<KeyHolder | null> {
    const text = await this.#parts.link.command('GET', idempotencyKey(account, keyDigest(key)));
    return text === null ? null : decodeHolder(text as string);
  }

  async usage(account: string, { key }: BillingPeriod): Promise<AccountUsage> {
    const reply = await this.#parts.link.call(USAGE, accountKey(account), [key]);
    const [used, runsInFlight] = reply as [number, number];
    return { used, runsInFlight };
  }

  /** Does not wait for a Redis that does not answer; the claim is taken back later. */
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

function outcomeOf(
  { runId, account }: AdmissionRequest,
  kind: AdmissionOutcome['kind'],
  detail: string,
): AdmissionOutcome {
  if (kind === 'held') return { kind, holder: decodeHolder(detail) };
  if (kind === 'quota') return { kind, used: Number(detail) };
  if (kind !== 'admitted') return { kind };
  // Redis remembers the Run of a charged key as long as the charge, so a retry is never made over the quota.
  return { kind, claim: { runId, account }, former: detail === '' ? null : detail, overQuota: null };
}

/** Prefix of an output's path if the output is in Redis. */
const IN_REDIS = 'redis:';

/** The output stored beside a record. */
function outputInRedis(account: string, runId: string, sizeBytes: number): StoredOutput {
  return { sizeBytes, path: `${IN_REDIS}${account}/${runId}`, bytes: null };
}

/** Location of the output in Redis; null: the output is elsewhere. */
export function placeInRedis({ path }: OutputRef): { readonly account: string; readonly runId: string } | null {
  if (path?.startsWith(IN_REDIS) !== true) return null;
  const [account, runId] = path.slice(IN_REDIS.length).split('/');
  return { account: account!, runId: runId! };
}

// Runs that every node can read.

type ReadReply = [number, number, number, number, Buffer, Buffer];

export class RedisRuns implements RunStore {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async read(account: string, runId: string, { operation, limit }: RateRequest): Promise<RunAnswer> {
    const args = [operation, ...rateArguments(limit), runId];
    const reply = (await this.#link.callForBytes(READ, accountKey(account), args)) as ReadReply;
    const [allowed, retry, remaining, reset, kind, detail] = reply;
    const rate = rateDecision([allowed, retry, remaining, reset]);
    return { rate, run: runOf(account, runId, kind.toString('latin1'), detail) };
  }
}

function runOf(account: string, runId: string, kind: string, detail: Buffer): RunRecord | null {
  if (kind === 'running') return runningRecord(account, runId, decodeClaim(detail.toString()));
  if (kind !== 'ended') return null;
  return decodeRecord(account, runId, detail, (sizeBytes) => outputInRedis(account, runId, sizeBytes));
}
