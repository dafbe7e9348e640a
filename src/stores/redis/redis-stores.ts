// The stores of a fleet, put together: Redis, and a folder for outputs that are not small.
import { access, constants, mkdir } from 'node:fs/promises';
import { SharedOutputs } from '../../outputs/shared-outputs.ts';
import type { RunRecord } from '../../runs/run.ts';
import type { Log } from '../../telemetry/log.ts';
import { SharedStoreUnavailableError } from '../store-unavailable.ts';
import type { StoreFigure, Stores } from '../stores.ts';
import { accountCounters, outputKey } from './account-keys.ts';
import { checkRedis, RedisOpenError } from './check-redis.ts';
import { NodeClaims } from './claims.ts';
import { Membership, RedisFormatError } from './membership.ts';
import { Reaper } from './reaper.ts';
import { placeInRedis, RedisDesk } from './redis-desk.ts';
import { fleetFigures } from './redis-figures.ts';
import { type RedisAddress, RedisLink } from './redis-link.ts';
import { RedisRates } from './redis-rates.ts';
import { RedisRuns } from './redis-runs.ts';

export interface RedisStoresSettings extends RedisAddress {
  readonly outputsDirectory: string;
  readonly outputBytesInRedisMax: number;
  readonly uploadMilliseconds: number;
  readonly runMilliseconds: number;
  readonly retentionMilliseconds: number;
  /** Digest of the catalog in force here. */
  readonly catalogDigest: () => string;
  /** The record of a Run that was interrupted, now. */
  readonly interrupted: (running: RunRecord, now: number) => RunRecord;
  readonly log: Log;
}

/** Waits for a thread, and what clocks and stalls may add: beyond upload and Run a key is not claimed for longer. */
const CLAIM_SLACK_MILLISECONDS = 15 * 60_000;

/** Expired outputs are looked for. */
const SWEEP_MILLISECONDS = 10 * 60_000;

/** Rejects with RedisOpenError. */
export async function openRedisStores(settings: RedisStoresSettings): Promise<Stores> {
  const { log, runMilliseconds, retentionMilliseconds } = settings;
  const link = new RedisLink(settings, log);
  const membership: Membership = new Membership(link, log, {
    about: () => settings.catalogDigest(),
    onLost: (incarnations) => reaper.takeBack(incarnations),
    onForgotten: () => void claims.announceAgain().catch((fault) => reportUnlessGone(log, fault)),
  });
  const claims = new NodeClaims(link, membership);
  const interrupted = (running: RunRecord): RunRecord => settings.interrupted(running, membership.now());
  const reaper = new Reaper({ link, membership, claims, log, retentionMilliseconds, interrupted });
  const claimMilliseconds = settings.uploadMilliseconds + runMilliseconds + CLAIM_SLACK_MILLISECONDS;
  const desk = new RedisDesk({ link, membership, claims, claimMilliseconds, finishMilliseconds: runMilliseconds });
  const outputs = await openOutputs(settings, link, membership);
  try {
    await link.connect();
    await checkRedis(link, log);
    await membership.join();
  } catch (fault) {
    link.close();
    throw fault instanceof RedisFormatError || fault instanceof RedisOpenError ? fault : new RedisOpenError(fault);
  }
  link.onReady = () => reaper.settleDoubts();
  reaper.start();
  const sweeper = setInterval(
    () => void outputs.sweep().catch((fault) => log.fault('output_not_removed', fault)),
    SWEEP_MILLISECONDS,
  );
  return {
    desk,
    runs: new RedisRuns(link),
    rates: new RedisRates(link),
    outputs,
    gauges: {
      runsKept: () => claims.size,
      quotaUsed: async (account, { key }) => {
        const counts = await link.command('HMGET', accountCounters(account), `c:${key}`, `r:${key}`);
        return (counts as (string | null)[]).reduce((sum, count) => sum + Number(count ?? 0), 0);
      },
    },
    figures: (): readonly StoreFigure[] =>
      fleetFigures({ link, membership, claims, reaper, desk }, settings.catalogDigest()),
    trouble: () => membership.trouble,
    hurry: () => desk.hurry(),
    close: async () => {
      clearInterval(sweeper);
      await reaper.stop();
      await membership.leave().catch((fault) => reportUnlessGone(log, fault));
      link.close();
    },
  };
}

async function openOutputs(
  { outputsDirectory, outputBytesInRedisMax }: RedisStoresSettings,
  link: RedisLink,
  membership: Membership,
): Promise<SharedOutputs> {
  await mkdir(outputsDirectory, { recursive: true, mode: 0o700 });
  await access(outputsDirectory, constants.W_OK | constants.X_OK);
  return new SharedOutputs({
    directory: outputsDirectory,
    smallBytesMax: outputBytesInRedisMax,
    now: () => membership.now(),
    small: {
      read: (output, start, lengthBytes) => {
        const place = placeInRedis(output);
        if (place === null) return null;
        const key = outputKey(place.account, place.runId);
        const asked = link.commandForBytes('GETRANGE', key, start, start + lengthBytes - 1);
        return asked as Promise<Buffer>;
      },
    },
  });
}

/** While Redis is away, others give up what this node holds. */
function reportUnlessGone(log: Log, fault: unknown): void {
  if (!(fault instanceof SharedStoreUnavailableError)) log.fault('fault', fault);
}
