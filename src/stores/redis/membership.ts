// This node as a member of the fleet: a heartbeat in Redis's time, which also tells what time it is there, who was given
// up, and whether Redis is still the one it was.
// States of an incarnation: joined → given up by others (the next heartbeat tells; a new one joins) or left.
import { randomUUID } from 'node:crypto';
import type { Log } from '../../telemetry/log.ts';
import { SharedStoreUnavailableError } from '../store-unavailable.ts';
import { NODES_KEY } from './account-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { HEARTBEAT, LEAVE } from './scripts/membership.ts';

const HEARTBEAT_MILLISECONDS = 1_000;

/** Without a heartbeat for so long a node is given up, and takes nothing new itself a little before. */
const LOST_MILLISECONDS = 10_000;
const LEASE_MILLISECONDS = 8_000;

/** Without one for so long it is not ready. */
const UNREADY_MILLISECONDS = 3_000;

/** Between two heartbeats of a node that gives others up: an outage of Redis must not be taken for theirs. */
const GAP_MILLISECONDS_MAX = UNREADY_MILLISECONDS;

/** How long it is remembered who was given up: what stalled on the way is executed by then, and taken back. */
const REMEMBERED_MILLISECONDS = 600_000;

/** Between this clock and Redis's: what is told, and what is not borne. */
const OFFSET_WARNED_MILLISECONDS = 500;
const OFFSET_BORNE_MILLISECONDS = 5_000;

/** Of the keys. A later version that writes others writes another number, once nothing reads this one. */
const FORMAT = '1';

/** Redis holds keys of a version of the program that this one does not understand. */
export class RedisFormatError extends Error {
  constructor(format: string) {
    super(`Redis holds format ${format}, and this version of the program knows ${FORMAT} alone.`);
    this.name = 'RedisFormatError';
  }
}

export interface MembershipEvents {
  /** What this node tells of itself. */
  readonly about: () => string;
  /** Others were given up: what they held is to be taken back. Called with each heartbeat while they are remembered. */
  readonly onLost: (incarnations: readonly string[]) => void;
  /** Redis has lost everything: others know nothing of what this node holds. */
  readonly onForgotten: () => void;
}

export class Membership {
  incarnation = randomUUID();
  /** What each node tells of itself. */
  others: readonly string[] = [];
  epochsLost = 0;
  timesLost = 0;
  readonly #link: RedisLink;
  readonly #log: Log;
  readonly #events: MembershipEvents;
  #epoch = '';
  #beatAt = Number.NEGATIVE_INFINITY;
  /** When the last one that was answered was sent: by then Redis had not heard of this node for longer. */
  #sentAt = Number.NEGATIVE_INFINITY;
  /** Redis's time of that heartbeat, as it was answered; '' before the first. */
  #beatTime = '';
  /** Since when no heartbeat has been missed. */
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

  /** Rejects with RedisFormatError, and where Redis cannot be used. */
  async join(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => void this.beat(), HEARTBEAT_MILLISECONDS);
  }

  /** At most one is under way. */
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

  /** Why no Run should come here; null: they may. */
  get trouble(): string | null {
    if (this.leaseAgeMilliseconds > UNREADY_MILLISECONDS) return 'Redis does not answer';
    if (Math.abs(this.#offsetMilliseconds) > OFFSET_BORNE_MILLISECONDS) return 'the clock differs from that of Redis';
    return null;
  }

  /** The present incarnation, for what is to be admitted. Throws where others may have given it up by now. */
  lease(): string {
    if (performance.now() - this.#sentAt < LEASE_MILLISECONDS) return this.incarnation;
    throw new SharedStoreUnavailableError('Redis', new Error('no heartbeat has been answered'));
  }

  /** @param isClean it holds nothing any more; else it is given up at once, and others take back what they find */
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

  /** Under another name: what the former one held is being taken back. */
  async #joinAgain(): Promise<void> {
    this.timesLost += 1;
    this.#log.warn('node_given_up');
    this.incarnation = randomUUID();
    this.#beatTime = '';
    this.#steadySince = performance.now();
    await this.#beat();
  }

  /** The half of the way is not known better than to the length of the way. */
  #noteTime(time: number, sentAt: number, wayMilliseconds: number): void {
    const offset = time - (sentAt + wayMilliseconds / 2);
    // Within what the way leaves open nothing is known to have changed, and times must not jump about.
    if (Math.abs(offset - this.#offsetMilliseconds) > wayMilliseconds / 2 + 1) this.#offsetMilliseconds = offset;
    const isLarge = Math.abs(this.#offsetMilliseconds) > OFFSET_WARNED_MILLISECONDS;
    if (isLarge && !this.#isOffsetWarned) {
      this.#log.warn('clock_differs', { milliseconds: Math.round(this.#offsetMilliseconds) });
    }
    this.#isOffsetWarned = isLarge;
  }
}
