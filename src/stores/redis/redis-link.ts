// The connection to Redis, and the classification of its errors.
import { readFileSync } from 'node:fs';
import { Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../../telemetry/log.ts';
import { SharedStoreUnavailableError } from '../stores.ts';
import type { Script } from './scripts/scripts.ts';

// Classifies errors of Redis: problems of Redis or the connection, for which the request may succeed later. All other
// errors are faults of the program.

/** After `timeout`, `lost` and `too_few_replicas` it is unknown whether the call was executed and is durable. */
export const REDIS_ERROR_KINDS = [
  'timeout',
  'lost',
  'closed',
  'out_of_memory',
  'read_only',
  'too_few_replicas',
  'loading',
  'not_permitted',
  'disk',
  'busy',
] as const;
type RedisErrorKind = (typeof REDIS_ERROR_KINDS)[number];

/** Keyed by the first word of the error response. */
const BY_WORD: Readonly<Record<string, RedisErrorKind>> = {
  OOM: 'out_of_memory',
  READONLY: 'read_only',
  NOREPLICAS: 'too_few_replicas',
  NOGOODSLAVE: 'too_few_replicas',
  LOADING: 'loading',
  MASTERDOWN: 'loading',
  NOAUTH: 'not_permitted',
  WRONGPASS: 'not_permitted',
  NOPERM: 'not_permitted',
  MISCONF: 'disk',
  BUSY: 'busy',
  TRYAGAIN: 'busy',
  CLUSTERDOWN: 'busy',
  // Response to a WAIT if the primary becomes a replica during it.
  UNBLOCKED: 'lost',
};

/**
 * Patterns of messages for errors of the client library, which have no codes, and for errors of Redis whose first
 * word is not specific.
 */
const BY_MESSAGE: readonly (readonly [RegExp, RedisErrorKind])[] = [
  [/^Command timed out/, 'timeout'],
  [/^Connection is closed|^Socket timeout|^Command aborted|^Reached the max retries/, 'lost'],
  [/^ERR WAIT cannot be used with replica/, 'lost'],
  [/isn't writeable and enableOfflineQueue/, 'closed'],
];

/** Null: a fault of the program. */
function errorKindOf(error: unknown): RedisErrorKind | null {
  if (!(error instanceof Error)) return null;
  const word = error.message.split(' ', 1)[0]!;
  if (Object.hasOwn(BY_WORD, word)) return BY_WORD[word]!;
  const [, kind] = BY_MESSAGE.find(([pattern]) => pattern.test(error.message)) ?? [];
  // System errors such as ECONNRESET, EPIPE and ECONNREFUSED.
  return kind ?? ('syscall' in error ? 'lost' : null);
}

/** The script is unknown, because Redis was restarted or its scripts were flushed. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

// The connection to Redis. Every step is one call with a deadline. Reconnects automatically, but never repeats a
// call: the caller decides what a missing response means. The only importer of ioredis.
//
// States: connecting → ready → connecting (the connection was lost) → …; closed.

export interface RedisAddress {
  /** redis: or rediss: URL, optionally with a user and a database number. */
  readonly url: string;
  /**
   * Sentinels that know the address of the primary, whose name is the host of the URL; empty: the host is the address
   * of the primary.
   */
  readonly sentinels: readonly SentinelAddress[];
  /** Files with passwords and trusted certificates; null: taken from the URL and the system. */
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

/** Maximum delay between attempts to connect. */
const CONNECT_PAUSE_MILLISECONDS_MAX = 500;

/** The connection is given up after this many deadlines without a byte, because waiting does not end a stall. */
const STALLED_TIMEOUTS = 2;

/** Message of the client library if no sentinel answers. */
const NO_SENTINEL = /^All sentinels are unreachable/;

/** Metrics of the calls of one script. */
export interface CallTotals {
  calls: number;
  seconds: number;
}

export class RedisLink {
  /** Keyed by the name of the script. */
  readonly calls = new Map<string, CallTotals>();
  readonly errorCounts = new Map<RedisErrorKind, number>();
  /** Number of the current connection, or of the last one; 0 before the first. */
  connection = 0;
  /** Called each time the connection becomes usable again. */
  onReady: () => void = () => {};
  readonly #redis: Redis;
  readonly #log: Log;
  #isClosed = false;
  #isLost = false;
  #again: NodeJS.Timeout | undefined;

  /** @throws the system error if a file cannot be read */
  constructor(address: RedisAddress, log: Log) {
    this.#log = log;
    this.#redis = new Redis(address.url, {
      ...connectionOptions(address),
      ...sentinelOptions(address, () => this.connection > 0),
    });
    // Emitted for each failed attempt; relevant failures are reported by `close` and by the calls.
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
   * The client library reconnects by itself, with one exception: if a sentinel announces a promotion while the
   * library queries another sentinel for the primary, that query is aborted, and the library stops reconnecting.
   */
  #connectAgain(): void {
    if (this.#isClosed || this.connection === 0) return;
    this.#again = setTimeout(() => {
      // A failure is reported by `error`, and leads here again.
      this.#redis.connect().catch(() => {});
    }, CONNECT_PAUSE_MILLISECONDS_MAX);
  }

  /** Rejects if the first attempt fails. */
  async connect(): Promise<void> {
    try {
      await this.#redis.connect();
    } catch (error) {
      if (!NO_SENTINEL.test(error instanceof Error ? error.message : '')) throw error;
      throw new Error('no reachable sentinel knows a primary of that name', { cause: error });
    }
  }

  /** Rejects with SharedStoreUnavailableError, or with a fault. Strings in the response are decoded as text. */
  async call(script: Script, key: string, args: readonly Argument[]): Promise<unknown> {
    return this.#measured(script.name, () => this.#evaluate(script, key, args, false));
  }

  /** Like `call`, but strings in the response stay bytes. */
  async callForBytes(script: Script, key: string, args: readonly Argument[]): Promise<unknown> {
    return this.#measured(script.name, () => this.#evaluate(script, key, args, true));
  }

  async command(name: string, ...args: readonly Argument[]): Promise<unknown> {
    return this.#measured(name.toLowerCase(), () => this.#send(name, args, false));
  }

  async commandForBytes(name: string, ...args: readonly Argument[]): Promise<unknown> {
    return this.#measured(name.toLowerCase(), () => this.#send(name, args, true));
  }

  /** An error for a problem that Redis did not report itself. */
  refusal(kind: RedisErrorKind, reason: string): SharedStoreUnavailableError {
    this.errorCounts.set(kind, (this.errorCounts.get(kind) ?? 0) + 1);
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
      const kind = errorKindOf(error);
      if (kind === null) throw error;
      this.errorCounts.set(kind, (this.errorCounts.get(kind) ?? 0) + 1);
      throw new SharedStoreUnavailableError('Redis', error);
    } finally {
      const totals = this.calls.get(name) ?? { calls: 0, seconds: 0 };
      totals.calls += 1;
      totals.seconds += (performance.now() - begun) / 1000;
      this.calls.set(name, totals);
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
    // The server has become a replica; the address may lead to the new primary by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    ...(passwordFile === null ? {} : { password: secretIn(passwordFile) }),
    ...(authorityFile === null ? {} : { tls: { ca: readFileSync(authorityFile) } }),
  };
}

/**
 * @param hasConnected false until the first connection. Until then, an unreachable sentinel ends the attempt, so that
 * the node reports it and ends.
 */
function sentinelOptions(address: RedisAddress, hasConnected: () => boolean): RedisOptions {
  const { url, sentinels, sentinelPasswordFile, authorityFile, timeoutMilliseconds } = address;
  if (sentinels.length === 0) return {};
  const tls = authorityFile === null ? {} : { ca: readFileSync(authorityFile) };
  return {
    name: new URL(url).hostname,
    sentinels: sentinels.map(({ host, port }) => ({ host, port })),
    sentinelCommandTimeout: timeoutMilliseconds,
    sentinelRetryStrategy: (times) => (hasConnected() ? pauseAfter(times) : null),
    // Sentinels announce promotions, so that the former primary is left at once even if it still answers.
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
