// Membership of this node in the fleet: heartbeats, claims of this node, and claims without an owner. Heartbeats use the
// clock of Redis. The answer to a heartbeat contains that time, the nodes that were given up, and whether Redis has lost
// its data.
//
// States of an incarnation: joined → given up by other nodes (the next heartbeat reports it, and a new incarnation
// joins) or left.

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { RunRecord } from '../../runs/run.ts';
import type { Log } from '../../telemetry/log.ts';
import { type FleetNode, SharedStoreUnavailableError } from '../stores.ts';
import type { RedisLink } from './redis-link.ts';
import {
  accountKey,
  accountsKey,
  type ClaimFields,
  decodeClaim,
  encodeRecord,
  NODES_KEY,
  runningRecord,
} from './run-codec.ts';
import { FINISH, HEARTBEAT, LEAVE, VANISH } from './scripts/scripts.ts';

const HEARTBEAT_MILLISECONDS = 1_000;

/**
 * Other nodes give up a node that has sent no heartbeat for LOST_MILLISECONDS. The node itself accepts nothing new
 * after the slightly shorter LEASE_MILLISECONDS.
 */
const LOST_MILLISECONDS = 10_000;
const LEASE_MILLISECONDS = 8_000;

/** Without a heartbeat for this time, the node is not ready. */
const UNREADY_MILLISECONDS = 3_000;

/**
 * Maximum gap between the heartbeats of a node that may give others up, so that it does not mistake an outage of
 * Redis for an outage of the others.
 */
const GAP_MILLISECONDS_MAX = UNREADY_MILLISECONDS;

/**
 * Time for which given-up incarnations are remembered. Calls delayed on the network have been executed, and taken
 * back, by then.
 */
const REMEMBERED_MILLISECONDS = 600_000;

/**
 * Differences between this node's clock and that of Redis: a warning is logged above the first; above the second, the
 * node is not ready.
 */
const OFFSET_WARNED_MILLISECONDS = 500;
const OFFSET_BORNE_MILLISECONDS = 5_000;

/** Format of the keys. A later version with another format writes another number, once no node reads this one. */
const FORMAT = '1';

/** Redis contains keys in a format that this version does not understand. */
export class RedisFormatError extends Error {
  constructor(format: string) {
    super(`Redis contains data of format ${format}, and this version of the program supports only format ${FORMAT}.`);
    this.name = 'RedisFormatError';
  }
}

/** Part of each incarnation, so that the page of the operator can name the nodes. */
const HOST = hostname()
  .replaceAll(/[^A-Za-z0-9-]/g, '-')
  .slice(0, 63);

/** Characters of the random part of an incarnation that are shown: several nodes may have the same host. */
const SHOWN_ID_CHARACTERS = 8;

export interface MembershipEvents {
  /** Information that this node publishes about itself. */
  readonly about: () => string;
  /**
   * Other nodes were given up, and their claims must be taken back. Called with each heartbeat while they are
   * remembered.
   */
  readonly onLost: (incarnations: readonly string[]) => void;
  /** Redis has lost all data, including everything about this node. */
  readonly onForgotten: () => void;
}

export class Membership {
  incarnation = newIncarnation();
  /** Information published by each live node, also by this one: its incarnation, and the digest of its catalog. */
  #published: readonly (readonly [incarnation: string, about: string])[] = [];
  /** Redis's times of their last heartbeats, by incarnation. */
  #beats: ReadonlyMap<string, number> = new Map();
  epochsLost = 0;
  timesLost = 0;
  readonly #link: RedisLink;
  readonly #log: Log;
  readonly #events: MembershipEvents;
  #epoch = '';
  #beatAt = Number.NEGATIVE_INFINITY;
  /** Time at which the last answered heartbeat was sent. Redis received that heartbeat at this time or later. */
  #sentAt = Number.NEGATIVE_INFINITY;
  /** Redis's time of that heartbeat, in the form of the response; '' before the first. */
  #beatTime = '';
  /** Start of the current period without missed heartbeats. */
  #steadySince = 0;
  #offsetMilliseconds = 0;
  #isOffsetWarned = false;
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> | null = null;

  constructor(link: RedisLink, log: Log, events: MembershipEvents) {
    this.#link = link;
    this.#log = log;
    this.#events = events;
  }

  /** Rejects with RedisFormatError, or if Redis cannot be used. */
  async join(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => void this.beat(), HEARTBEAT_MILLISECONDS);
  }

  /** Sends a heartbeat, unless one is already in progress. */
  beat(): Promise<void> {
    this.#beating ??= this.#beat()
      .catch((fault) => {
        if (!(fault instanceof SharedStoreUnavailableError)) this.#log.fault('fault', fault);
      })
      .finally(() => {
        this.#beating = null;
      });
    return this.#beating;
  }

  /** Information published by each live node, also by this one. */
  get published(): readonly string[] {
    return this.#published.map(([, about]) => about);
  }

  /** All live nodes, sorted by name, as Redis knew them at the last heartbeat of this node. */
  nodes(): readonly FleetNode[] {
    const own = this.#published.find(([incarnation]) => incarnation === this.incarnation)?.[1];
    const now = Number(this.#beatTime) + this.leaseAgeMilliseconds;
    return this.#published
      .map(([incarnation, about]) => ({
        name: shownName(incarnation),
        isSelf: incarnation === this.incarnation,
        secondsSinceHeartbeat: Math.max(0, now - (this.#beats.get(incarnation) ?? now)) / 1000,
        hasSameCatalog: about === own,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Milliseconds since 1970 by Redis's clock, as far as it is known. */
  now(): number {
    return Math.round(Date.now() + this.#offsetMilliseconds);
  }

  get offsetMilliseconds(): number {
    return this.#offsetMilliseconds;
  }

  get leaseAgeMilliseconds(): number {
    return performance.now() - this.#beatAt;
  }

  /** Reason why the node should get no Runs; null: ready. */
  get unreadyReason(): string | null {
    if (this.leaseAgeMilliseconds > UNREADY_MILLISECONDS) return 'Redis does not answer';
    if (Math.abs(this.#offsetMilliseconds) > OFFSET_BORNE_MILLISECONDS) return 'the clock differs from that of Redis';
    return null;
  }

  /** The current incarnation, for new admissions. Throws if other nodes may have given it up by now. */
  lease(): string {
    if (performance.now() - this.#sentAt < LEASE_MILLISECONDS) return this.incarnation;
    throw new SharedStoreUnavailableError('Redis', new Error('no heartbeat has been answered'));
  }

  /**
   * @param isClean true: the node has no claims left. False: the node is given up at once, and other nodes release
   * its claims.
   */
  async leave(isClean: boolean): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#beating;
    await this.#link.call(LEAVE, NODES_KEY, [this.incarnation, isClean ? 1 : 0, REMEMBERED_MILLISECONDS]);
  }

  async #beat(): Promise<void> {
    const [begun, sentAt] = [performance.now(), Date.now()];
    if (begun - this.#beatAt > GAP_MILLISECONDS_MAX) this.#steadySince = begun;
    const judges = begun - this.#steadySince >= LOST_MILLISECONDS;
    const answer = (await this.#link.call(HEARTBEAT, NODES_KEY, [
      this.incarnation,
      this.#events.about(),
      FORMAT,
      randomUUID(),
      judges ? LOST_MILLISECONDS : '',
      REMEMBERED_MILLISECONDS,
      GAP_MILLISECONDS_MAX,
      this.#beatTime,
    ])) as [string, string, string, string[], string[], string[]];
    if ((answer[0] as string) === 'format') throw new RedisFormatError(answer[1]);
    const [time, state, epoch, lost, published, beats] = answer;
    this.#noteTime(Number(time), sentAt, performance.now() - begun);
    const isEmptied = this.#epoch !== '' && this.#epoch !== epoch;
    this.#epoch = epoch;
    if (isEmptied) {
      this.epochsLost += 1;
      this.#log.fault('redis_emptied', new Error('Redis has lost all data: Runs, keys and charges'));
    }
    if (state === 'lost') return this.#joinAgain();
    this.#beatAt = performance.now();
    this.#sentAt = begun;
    this.#beatTime = time;
    this.#published = pairsOf(published);
    this.#beats = new Map(pairsOf(beats).map(([incarnation, beatTime]) => [incarnation, Number(beatTime)]));
    if (isEmptied) this.#events.onForgotten();
    if (lost.length > 0) this.#events.onLost(lost);
  }

  /** Joins with a new incarnation. The claims of the previous one are being taken back. */
  async #joinAgain(): Promise<void> {
    this.timesLost += 1;
    this.#log.warn('node_given_up');
    this.incarnation = newIncarnation();
    this.#beatTime = '';
    this.#steadySince = performance.now();
    await this.#beat();
  }

  /**
   * Updates the clock offset. The response's share of the round trip is unknown, so the offset is uncertain by half
   * the round trip.
   */
  #noteTime(time: number, sentAt: number, wayMilliseconds: number): void {
    const offset = time - (sentAt + wayMilliseconds / 2);
    // A difference within the uncertainty is ignored, so that displayed times do not jump.
    if (Math.abs(offset - this.#offsetMilliseconds) > wayMilliseconds / 2 + 1) this.#offsetMilliseconds = offset;
    const isLarge = Math.abs(this.#offsetMilliseconds) > OFFSET_WARNED_MILLISECONDS;
    if (isLarge && !this.#isOffsetWarned) {
      this.#log.warn('clock_differs', { milliseconds: Math.round(this.#offsetMilliseconds) });
    }
    this.#isOffsetWarned = isLarge;
  }
}

function newIncarnation(): string {
  return `${HOST}.${randomUUID()}`;
}

/** The host and the first characters of the random part. Earlier versions had no host in their incarnations. */
function shownName(incarnation: string): string {
  const at = incarnation.lastIndexOf('.') + 1;
  const id = incarnation.slice(at, at + SHOWN_ID_CHARACTERS);
  return at === 0 ? id : `${incarnation.slice(0, at - 1)} (${id})`;
}

// The claims of this node, and the accounts in which it may have some. A claim that Redis has for this node but that
// is missing here has no owner: a call that timed out may still have been executed.

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

// Takes back claims without an owner: those of nodes that were given up, and those of this node after calls with
// unknown outcome. A Run that was visible to others ends with RUN_INTERRUPTED; all other Runs are discarded.

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
