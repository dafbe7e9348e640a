// The connection to Redis: one, on which every step is one call with a deadline. It tries again to connect and never to
// call: what a call that got no answer means is for who made it. The only importer of ioredis.
// States: connecting → ready → connecting (the connection was lost) → …; closed.
import { readFileSync } from 'node:fs';
import { Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../../telemetry/log.ts';
import { SharedStoreUnavailableError } from '../store-unavailable.ts';
import { isUnknownScript, type RedisTrouble, troubleOf } from './redis-trouble.ts';
import type { Script } from './scripts/script.ts';

export interface RedisAddress {
  /** redis: or rediss:, with a user and the number of a database if need be. */
  readonly url: string;
  /** Who is asked where the primary is, whose name is the host of the URL; empty: the host is its address. */
  readonly sentinels: readonly SentinelAddress[];
  /** Files with passwords and with the certificates that are trusted; null = as the URL and the system say. */
  readonly passwordFile: string | null;
  readonly sentinelPasswordFile: string | null;
  readonly authorityFile: string | null;
  /** Deadline of a call. */
  readonly timeoutMilliseconds: number;
}

export interface SentinelAddress {
  readonly host: string;
  readonly port: number;
}

export type Argument = string | number | Uint8Array;

/** Between two tries to connect, at most. */
const CONNECT_PAUSE_MILLISECONDS_MAX = 500;

/** So many deadlines without a byte, and the connection is given up: what stalls it does not end by waiting. */
const STALLED_TIMEOUTS = 2;

/** As the client library says it where no sentinel has an answer. */
const NO_SENTINEL = /^All sentinels are unreachable/;

/** Of the calls of one script. */
export interface CallFigures {
  calls: number;
  seconds: number;
}

export class RedisLink {
  /** By name of the script. */
  readonly calls = new Map<string, CallFigures>();
  readonly troubles = new Map<RedisTrouble, number>();
  /** Number of the present connection, or of the last one: 0 before the first. */
  connection = 0;
  /** Called each time that it can be used again. */
  onReady: () => void = () => {};
  readonly #redis: Redis;
  readonly #log: Log;
  #isClosed = false;
  #isLost = false;
  #again: NodeJS.Timeout | undefined;

  /** @throws what the system says where a file cannot be read */
  constructor(address: RedisAddress, log: Log) {
    this.#log = log;
    this.#redis = new Redis(address.url, {
      ...connectionOptions(address),
      ...sentinelOptions(address, () => this.connection > 0),
    });
    // Each try that fails; what matters is told by `close` and by the calls.
    this.#redis.on('error', (error: Error) => this.#log.debug('redis_error', { message: error.message }));
    this.#redis.on('ready', () => {
      this.connection += 1;
      if (this.#isLost) this.#log.info('redis_back');
      this.#isLost = false;
      this.onReady();
    });
    this.#redis.on('end', () => this.#connectAgain());
    this.#redis.on('close', () => {
      if (!this.#isClosed && !this.#isLost) this.#log.warn('redis_lost');
      this.#isLost = true;
    });
  }

  /**
   * The client library goes on by itself but for one case: what a sentinel tells of a promotion while another is being asked
   * for the primary ends that asking, and with it all tries.
   */
  #connectAgain(): void {
    if (this.#isClosed || this.connection === 0) return;
    this.#again = setTimeout(() => {
      // What fails is told by `error`, and ends again.
      this.#redis.connect().catch(() => {});
    }, CONNECT_PAUSE_MILLISECONDS_MAX);
  }

  /** Rejects where the first try fails. */
  async connect(): Promise<void> {
    try {
      await this.#redis.connect();
    } catch (error) {
      if (!NO_SENTINEL.test(error instanceof Error ? error.message : '')) throw error;
      throw new Error('no sentinel could be reached that knows a primary of that name', { cause: error });
    }
  }

  /** Rejects with SharedStoreUnavailableError, or with a fault. Texts of the answer come as texts. */
  async call(script: Script, key: string, args: readonly Argument[]): Promise<unknown> {
    return this.#measured(script.name, () => this.#evaluate(script, key, args, false));
  }

  /** The same; texts of the answer come as bytes. */
  async callForBytes(script: Script, key: string, args: readonly Argument[]): Promise<unknown> {
    return this.#measured(script.name, () => this.#evaluate(script, key, args, true));
  }

  async command(name: string, ...args: readonly Argument[]): Promise<unknown> {
    return this.#measured(name.toLowerCase(), () => this.#send(name, args, false));
  }

  async commandForBytes(name: string, ...args: readonly Argument[]): Promise<unknown> {
    return this.#measured(name.toLowerCase(), () => this.#send(name, args, true));
  }

  /** What stands in the way though Redis has answered. */
  refusal(trouble: RedisTrouble, reason: string): SharedStoreUnavailableError {
    this.troubles.set(trouble, (this.troubles.get(trouble) ?? 0) + 1);
    return new SharedStoreUnavailableError('Redis', new Error(reason));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#again);
    this.#redis.disconnect();
  }

  async #evaluate({ sha1, text }: Script, key: string, args: readonly Argument[], bytes: boolean): Promise<unknown> {
    try {
      return await this.#send('EVALSHA', [sha1, 1, key, ...args], bytes);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return await this.#send('EVAL', [text, 1, key, ...args], bytes);
    }
  }

  #send(name: string, args: readonly Argument[], bytes: boolean): Promise<unknown> {
    const sent = args.map((arg) =>
      arg instanceof Uint8Array ? Buffer.from(arg.buffer, arg.byteOffset, arg.length) : arg,
    );
    return bytes ? this.#redis.callBuffer(name, ...sent) : this.#redis.call(name, ...sent);
  }

  async #measured(name: string, call: () => Promise<unknown>): Promise<unknown> {
    const begun = performance.now();
    try {
      return await call();
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble === null) throw error;
      this.troubles.set(trouble, (this.troubles.get(trouble) ?? 0) + 1);
      throw new SharedStoreUnavailableError('Redis', error);
    } finally {
      const figures = this.calls.get(name) ?? { calls: 0, seconds: 0 };
      figures.calls += 1;
      figures.seconds += (performance.now() - begun) / 1000;
      this.calls.set(name, figures);
    }
  }
}

function connectionOptions({ passwordFile, authorityFile, timeoutMilliseconds }: RedisAddress): RedisOptions {
  return {
    lazyConnect: true,
    protocol: 2,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: timeoutMilliseconds,
    commandTimeout: timeoutMilliseconds,
    socketTimeout: STALLED_TIMEOUTS * timeoutMilliseconds,
    retryStrategy: pauseAfter,
    // It has become a replica: the address may lead to the new primary by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    ...(passwordFile === null ? {} : { password: secretIn(passwordFile) }),
    ...(authorityFile === null ? {} : { tls: { ca: readFileSync(authorityFile) } }),
  };
}

/** @param hasConnected before that a sentinel without an answer ends the try, so that a node tells it and ends */
function sentinelOptions(address: RedisAddress, hasConnected: () => boolean): RedisOptions {
  const { url, sentinels, sentinelPasswordFile, authorityFile, timeoutMilliseconds } = address;
  if (sentinels.length === 0) return {};
  const tls = authorityFile === null ? {} : { ca: readFileSync(authorityFile) };
  return {
    name: new URL(url).hostname,
    sentinels: sentinels.map(({ host, port }) => ({ host, port })),
    sentinelCommandTimeout: timeoutMilliseconds,
    sentinelRetryStrategy: (times) => (hasConnected() ? pauseAfter(times) : null),
    // They tell when another has been promoted: the former primary is left at once, though it still answers.
    failoverDetector: true,
    ...(sentinelPasswordFile === null ? {} : { sentinelPassword: secretIn(sentinelPasswordFile) }),
    ...(new URL(url).protocol === 'rediss:' ? { tls, sentinelTLS: tls, enableTLSForSentinelMode: true } : {}),
  };
}

function pauseAfter(times: number): number {
  return Math.min(50 * times, CONNECT_PAUSE_MILLISECONDS_MAX);
}

function secretIn(file: string): string {
  return readFileSync(file, 'utf8').trim();
}
