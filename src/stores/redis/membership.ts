// Membership of this node in the fleet. A heartbeat, timed by Redis's clock, also returns the time in Redis, the
// nodes that were given up, and whether Redis has lost its data.
//
// States of an incarnation: joined → given up by other nodes (the next heartbeat reports it, and a new incarnation
// joins) or left.
import { randomUUID } from 'node:crypto';
import type { Log } from '../../telemetry/log.ts';
import { SharedStoreUnavailableError } from '../stores.ts';
import { NODES_KEY } from './account-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { HEARTBEAT, LEAVE } from './scripts/scripts.ts';

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
  incarnation = randomUUID();
  /** Information published by each node. */
  others: readonly string[] = [];
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
   * @param isClean true: the node holds nothing any more. False: it is given up at once, and other nodes take back
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
    ])) as [string, string, string, string[], string[]];
    if ((answer[0] as string) === 'format') throw new RedisFormatError(answer[1]);
    const [time, state, epoch, lost, others] = answer;
    this.#noteTime(Number(time), sentAt, performance.now() - begun);
    const isEmptied = this.#epoch !== '' && this.#epoch !== epoch;
    this.#epoch = epoch;
    if (isEmptied) {
      this.epochsLost += 1;
      this.#log.fault('redis_emptied', new Error('Redis has lost everything: Runs, keys and charges'));
    }
    if (state === 'lost') return this.#joinAgain();
    this.#beatAt = performance.now();
    this.#sentAt = begun;
    this.#beatTime = time;
    this.others = others;
    if (isEmptied) this.#events.onForgotten();
    if (lost.length > 0) this.#events.onLost(lost);
  }

  /** Joins with a new incarnation. The claims of the previous one are being taken back. */
  async #joinAgain(): Promise<void> {
    this.timesLost += 1;
    this.#log.warn('node_given_up');
    this.incarnation = randomUUID();
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
