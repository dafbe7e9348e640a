// Checks when a node starts: the requirements on Redis, and the folder that all nodes share.

import { randomUUID } from 'node:crypto';
import { FOLDER_MARK, type FolderPlace } from '../../outputs/folder-place.ts';
import type { Log } from '../../telemetry/log.ts';
import { SharedStoreUnavailableError } from '../stores.ts';
import type { RedisLink } from './redis-link.ts';
import { OUTPUTS_KEY } from './run-codec.ts';

// Checks the requirements on Redis when a node starts.

/** First version that supports script flags. Valkey reports a compatible Redis version too. */
const REDIS_MAJOR_MIN = 7;

/** Redis cannot be used. The message is one line for the operator, without address and password. */
export class RedisOpenError extends Error {
  constructor(reason: unknown) {
    super(`Redis cannot be used: ${reason instanceof Error ? reason.message : reason}`, { cause: reason });
    this.name = 'RedisOpenError';
  }
}

/**
 * Rejects with RedisOpenError. If the user may not query the server, this is only logged.
 * @param replicasWaitedFor number of replicas that must have acknowledged data
 */
export async function checkRedis(link: RedisLink, replicasWaitedFor: number, log: Log): Promise<void> {
  const info = String(await unlessForbidden(link.command('INFO', 'server'), log));
  const [, major] = /^redis_version:(\d+)/m.exec(info) ?? [];
  if (major !== undefined && Number(major) < REDIS_MAJOR_MIN) {
    throw new RedisOpenError(`it is version ${major}, but version ${REDIS_MAJOR_MIN} or later is required`);
  }
  const [, mode = ''] = /^redis_mode:(\w+)/m.exec(info) ?? [];
  if (mode === 'cluster' || mode === 'sentinel') {
    throw new RedisOpenError(`it is a ${mode}: write the address of a primary server or of a replica`);
  }
  const policy = await setting(link, 'maxmemory-policy', log);
  if (policy !== null && policy !== 'noeviction') {
    throw new RedisOpenError(
      `its maxmemory-policy is ${policy}, with which Redis could delete charges: set it to noeviction`,
    );
  }
  if ((await setting(link, 'appendonly', log)) === 'no') log.warn('redis_not_durable');
  if (replicasWaitedFor > 0) await checkReplicas(link, replicasWaitedFor, log);
}

/** Replicas may connect later; until then no Run is acknowledged. */
async function checkReplicas(link: RedisLink, wanted: number, log: Log): Promise<void> {
  const info = String(await unlessForbidden(link.command('INFO', 'replication'), log));
  const [, replicas] = /^connected_slaves:(\d+)/m.exec(info) ?? [];
  if (replicas !== undefined && Number(replicas) < wanted) {
    log.warn('redis_too_few_replicas', { replicas: Number(replicas), wanted });
  }
}

async function setting(link: RedisLink, name: string, log: Log): Promise<string | null> {
  const answer = await unlessForbidden(link.command('CONFIG', 'GET', name), log);
  return Array.isArray(answer) ? ((answer[1] as string | undefined) ?? null) : null;
}

async function unlessForbidden(asked: Promise<unknown>, log: Log): Promise<unknown> {
  try {
    return await asked;
  } catch (fault) {
    const isForbidden =
      (fault instanceof SharedStoreUnavailableError && /NOPERM/.test(fault.message)) ||
      (fault instanceof Error && /unknown command/i.test(fault.message));
    if (!isForbidden) throw fault;
    log.warn('redis_not_checked');
    return null;
  }
}

// Checks that the folder of larger outputs is the one shared by all nodes of the fleet. Redis stores the id of the
// fleet, and the folder contains a mark with the same id. The first node of a fleet writes both. Every other node
// compares them at start and then regularly, because a folder can be unmounted while a node runs.

/** Interval between comparisons. */
const COMPARE_MILLISECONDS = 10_000;

/** Time that a starting node waits for the first node, which writes the id to Redis and then marks the folder. */
const FIRST_NODE_MILLISECONDS = 5_000;
const POLL_MILLISECONDS = 100;

/** The node must not start with this folder. The message is one line for the operator. */
export class FolderMarkError extends Error {
  constructor(mark: string | null, fleet: string) {
    const what =
      mark === null ? `has no file ${FOLDER_MARK}` : `belongs to another fleet (see its file ${FOLDER_MARK})`;
    super(
      `--outputs ${what}: it is not the folder where the other nodes keep their outputs. Mount or name that folder. ` +
        `To move the outputs of the whole fleet, stop all nodes and write ${fleet} into ${FOLDER_MARK} in the new folder.`,
    );
    this.name = 'FolderMarkError';
  }
}

export class FolderMark {
  /** Reason why the node should get no Runs; null: the folder is that of the fleet. */
  unreadyReason: string | null = null;
  readonly #link: RedisLink;
  readonly #folder: FolderPlace;
  readonly #log: Log;
  #fleet = '';
  #isComparing = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(link: RedisLink, folder: FolderPlace, log: Log) {
    this.#link = link;
    this.#folder = folder;
    this.#log = log;
  }

  /** Rejects with FolderMarkError, or if Redis or the folder cannot be used. */
  async join(): Promise<void> {
    const [mark, known] = [await this.#folder.mark(), await this.#fleetInRedis()];
    const own = mark ?? randomUUID();
    if (known === null && (await this.#link.command('SET', OUTPUTS_KEY, own, 'NX')) !== null) {
      if (mark === null) await this.#folder.setMark(own);
      this.#fleet = own;
    } else {
      this.#fleet = (await this.#fleetInRedis()) ?? own;
      await this.#expectMark(this.#fleet);
    }
    this.#timer = setInterval(() => void this.#compare(), COMPARE_MILLISECONDS);
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #expectMark(fleet: string): Promise<void> {
    for (const end = performance.now() + FIRST_NODE_MILLISECONDS; ; ) {
      const mark = await this.#folder.mark();
      if (mark === fleet) return;
      if (performance.now() >= end) throw new FolderMarkError(mark, fleet);
      await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
    }
  }

  /**
   * Compares the marks. If Redis or the folder does not answer, nothing is known about the mark, and other checks
   * report the failure.
   */
  async #compare(): Promise<void> {
    if (this.#isComparing) return;
    this.#isComparing = true;
    try {
      // Redis may have lost all data, so the id is written again.
      await this.#link.command('SET', OUTPUTS_KEY, this.#fleet, 'NX');
      const isSame = (await this.#fleetInRedis()) === this.#fleet && (await this.#folder.mark()) === this.#fleet;
      this.unreadyReason = isSame ? null : 'the folder of outputs is not that of the fleet';
    } catch (fault) {
      if (!(fault instanceof SharedStoreUnavailableError)) this.#log.fault('fault', fault);
    } finally {
      this.#isComparing = false;
    }
  }

  async #fleetInRedis(): Promise<string | null> {
    const known = await this.#link.command('GET', OUTPUTS_KEY);
    return known === null ? null : String(known);
  }
}
