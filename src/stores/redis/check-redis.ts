// What Redis has to be, looked at when a node starts.
import type { Log } from '../../telemetry/log.ts';
import { SharedStoreUnavailableError } from '../store-unavailable.ts';
import type { RedisLink } from './redis-link.ts';

/** Scripts with flags came with this version; Valkey says its Redis version too. */
const REDIS_MAJOR_MIN = 7;

/** Redis cannot be used: a line for the operator, without address and password. */
export class RedisOpenError extends Error {
  constructor(reason: unknown) {
    super(`Redis cannot be used: ${reason instanceof Error ? reason.message : reason}`, { cause: reason });
    this.name = 'RedisOpenError';
  }
}

/**
 * Rejects with RedisOpenError. Where it may not be asked, that is logged.
 * @param replicasWaitedFor that are to have what is acknowledged
 */
export async function checkRedis(link: RedisLink, replicasWaitedFor: number, log: Log): Promise<void> {
  const info = String(await unlessForbidden(link.command('INFO', 'server'), log));
  const [, major] = /^redis_version:(\d+)/m.exec(info) ?? [];
  if (major !== undefined && Number(major) < REDIS_MAJOR_MIN) {
    throw new RedisOpenError(`it is version ${major}, and ${REDIS_MAJOR_MIN} is the first one that will do`);
  }
  const [, mode = ''] = /^redis_mode:(\w+)/m.exec(info) ?? [];
  if (mode === 'cluster' || mode === 'sentinel') {
    throw new RedisOpenError(`it is a ${mode}: write the address of a primary, or one that follows it`);
  }
  const policy = await setting(link, 'maxmemory-policy', log);
  if (policy !== null && policy !== 'noeviction') {
    throw new RedisOpenError(`its maxmemory-policy is ${policy}, which drops charges: set it to noeviction`);
  }
  if ((await setting(link, 'appendonly', log)) === 'no') log.warn('redis_not_durable');
  if (replicasWaitedFor > 0) await checkReplicas(link, replicasWaitedFor, log);
}

/** They may come later: until then no Run is acknowledged. */
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
