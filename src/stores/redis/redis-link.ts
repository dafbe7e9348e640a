// The connection to Redis: one, on which every step is one call with a deadline. It tries again to connect and never to
// call: what a call that got no answer means is for who made it. The only importer of ioredis.
// States: connecting → ready → connecting (the connection was lost) → …; closed.
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import type { Log } from '../../telemetry/log.ts';
import { SharedStoreUnavailableError } from '../store-unavailable.ts';
import { isInDoubt, isUnknownScript, type RedisTrouble, troubleOf } from './redis-trouble.ts';
import type { Script } from './scripts/script.ts';

export interface RedisAddress {
  /** redis: or rediss:, with a user and the number of a database if need be. */
  readonly url: string;
  /** Files with the password and with the certificates that are trusted; null = as the URL and the system say. */
  readonly passwordFile: string | null;
  readonly authorityFile: string | null;
  /** Deadline of a call. */
  readonly timeoutMilliseconds: number;
}

export type Argument = string | number | Uint8Array;

/** Between two tries to connect, at most. */
const CONNECT_PAUSE_MILLISECONDS_MAX = 500;

/** So many deadlines without a byte, and the connection is given up: what stalls it does not end by waiting. */
const STALLED_TIMEOUTS = 2;

/** Of the calls of one script. */
export interface CallFigures {
  calls: number;
  seconds: number;
}

export class RedisLink {
  /** By name of the script. */
  readonly calls = new Map<string, CallFigures>();
  readonly troubles = new Map<RedisTrouble, number>();
  /** Called each time that it can be used again. */
  onReady: () => void = () => {};
  readonly #redis: Redis;
  readonly #log: Log;
  #isClosed = false;
  #isLost = false;

  /** @throws what the system says where a file cannot be read */
  constructor({ url, passwordFile, authorityFile, timeoutMilliseconds }: RedisAddress, log: Log) {
    this.#log = log;
    this.#redis = new Redis(url, {
      lazyConnect: true,
      protocol: 2,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: timeoutMilliseconds,
      commandTimeout: timeoutMilliseconds,
      socketTimeout: STALLED_TIMEOUTS * timeoutMilliseconds,
      retryStrategy: (times) => Math.min(50 * times, CONNECT_PAUSE_MILLISECONDS_MAX),
      // It has become a replica: the address may lead to the new primary by now.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
      ...(passwordFile === null ? {} : { password: readFileSync(passwordFile, 'utf8').trim() }),
      ...(authorityFile === null ? {} : { tls: { ca: readFileSync(authorityFile) } }),
    });
    // Each try that fails; what matters is told by `close` and by the calls.
    this.#redis.on('error', (error: Error) => this.#log.debug('redis_error', { message: error.message }));
    this.#redis.on('ready', () => {
      if (this.#isLost) this.#log.info('redis_back');
      this.#isLost = false;
      this.onReady();
    });
    this.#redis.on('close', () => {
      if (!this.#isClosed && !this.#isLost) this.#log.warn('redis_lost');
      this.#isLost = true;
    });
  }

  /** Rejects where the first try fails. */
  async connect(): Promise<void> {
    await this.#redis.connect();
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

  close(): void {
    this.#isClosed = true;
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
      throw new SharedStoreUnavailableError('Redis', error, isInDoubt(trouble));
    } finally {
      const figures = this.calls.get(name) ?? { calls: 0, seconds: 0 };
      figures.calls += 1;
      figures.seconds += (performance.now() - begun) / 1000;
      this.calls.set(name, figures);
    }
  }
}
