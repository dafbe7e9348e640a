// The stores of a fleet, put together: Redis, and a place for outputs that are not small.
import { FolderPlace } from '../../outputs/folder-place.ts';
import { BucketPlace } from '../../outputs/s3/bucket-place.ts';
import type { S3Address } from '../../outputs/s3/s3-address.ts';
import { SharedOutputs } from '../../outputs/shared-outputs.ts';
import type { SharedPlace } from '../../outputs/shared-place.ts';
import type { RunRecord } from '../../runs/run.ts';
import type { Log } from '../../telemetry/log.ts';
import { readFigures } from '../../telemetry/read-figures.ts';
import { SharedStoreUnavailableError } from '../store-unavailable.ts';
import type { Stores } from '../stores.ts';
import { outputKey } from './account-keys.ts';
import { checkRedis, RedisOpenError } from './check-redis.ts';
import { NodeClaims } from './claims.ts';
import { Membership, RedisFormatError } from './membership.ts';
import { Reaper } from './reaper.ts';
import { placeInRedis, RedisDesk } from './redis-desk.ts';
import { FLEET_FIGURES } from './redis-figures.ts';
import { type RedisAddress, RedisLink } from './redis-link.ts';
import { RedisRates } from './redis-rates.ts';
import { RedisRuns } from './redis-runs.ts';
import { ReplicatedSteps, type StepCaller } from './replicated-steps.ts';

export interface RedisStoresSettings extends RedisAddress {
  /** A folder, or a bucket. */
  readonly outputs: string | S3Address;
  readonly outputBytesInRedisMax: number;
  /** So many must have what a client is told as done; 0: Redis itself will do. */
  readonly replicasWaitedFor: number;
  readonly uploadMilliseconds: number;
  readonly runMilliseconds: number;
  readonly retentionMilliseconds: number;
  /** Digest of the catalog in force here. */
  readonly catalogDigest: () => string;
  /** The record of a Run that was interrupted, now. */
  readonly interrupted: (running: RunRecord, now: number) => RunRecord;
  readonly log: Log;
}

/** Waits for a thread, and what clocks and stalls may add. */
const CLAIM_SLACK_MILLISECONDS = 15 * 60_000;

/** Run, output, rejected rows and record may each take as long as a Run may. */
const RUN_TIMES_MAX = 4;

/** Expired outputs are looked for. */
const SWEEP_MILLISECONDS = 10 * 60_000;

/** Rejects with RedisOpenError, RedisFormatError, and where outputs cannot be kept. */
export async function openRedisStores(settings: RedisStoresSettings): Promise<Stores> {
  const { log, runMilliseconds, retentionMilliseconds } = settings;
  const { link, waiting, lasting, replicas } = connections(settings);
  const membership: Membership = new Membership(link, log, {
    about: () => settings.catalogDigest(),
    onLost: (incarnations) => reaper.takeBack(incarnations),
    onForgotten: () => void claims.announceAgain().catch((fault) => reportUnlessGone(log, fault)),
  });
  const claims = new NodeClaims(link, membership);
  const interrupted = (running: RunRecord): RunRecord => settings.interrupted(running, membership.now());
  const reaper = new Reaper({ link, membership, claims, log, retentionMilliseconds, interrupted });
  const claimMilliseconds = settings.uploadMilliseconds + RUN_TIMES_MAX * runMilliseconds + CLAIM_SLACK_MILLISECONDS;
  const desk = new RedisDesk({
    link,
    lasting,
    replicas,
    membership,
    claims,
    claimMilliseconds,
    finishMilliseconds: runMilliseconds,
  });
  const place = await openPlace(settings);
  const outputs = sharedOutputs(settings, place, link, membership);
  const disconnect = (): void => {
    link.close();
    waiting?.close();
    place.close();
  };
  try {
    await link.connect();
    await checkRedis(link, settings.replicasWaitedFor, log);
    await waiting?.connect();
    await membership.join();
  } catch (fault) {
    disconnect();
    throw fault instanceof RedisFormatError || fault instanceof RedisOpenError ? fault : new RedisOpenError(fault);
  }
  link.onReady = () => {
    // A replica that has been promoted may lack it.
    void claims.announceAgain().catch((fault) => reportUnlessGone(log, fault));
    reaper.settleDoubts();
  };
  reaper.start();
  const sweeper = sweeping(outputs, log);
  return {
    desk,
    runs: new RedisRuns(link),
    rates: new RedisRates(link),
    outputs,
    gauges: { runsKept: () => claims.size },
    figures: () => {
      const links = waiting === null ? [link] : [link, waiting];
      const catalogDigest = settings.catalogDigest();
      return readFigures(FLEET_FIGURES, { links, membership, claims, reaper, desk, place, catalogDigest });
    },
    trouble: () => membership.trouble,
    hurry: () => {
      desk.hurry();
      place.hurry();
    },
    close: async () => {
      clearInterval(sweeper);
      await reaper.stop();
      await membership.leave(claims.areCertain).catch((fault) => reportUnlessGone(log, fault));
      disconnect();
    },
  };
}

/** `waiting` has what replicas are waited for; null: they are not. */
function connections(settings: RedisStoresSettings): {
  readonly link: RedisLink;
  readonly waiting: RedisLink | null;
  readonly lasting: StepCaller;
  readonly replicas: ReplicatedSteps | null;
} {
  const { replicasWaitedFor, timeoutMilliseconds, log } = settings;
  const link = new RedisLink(settings, log);
  if (replicasWaitedFor === 0) return { link, waiting: null, lasting: link, replicas: null };
  const waiting = new RedisLink(settings, log);
  const replicas = new ReplicatedSteps(waiting, replicasWaitedFor, timeoutMilliseconds);
  return { link, waiting, lasting: replicas, replicas };
}

/** One after the other: the place may hang. */
function sweeping(outputs: SharedOutputs, log: Log): NodeJS.Timeout {
  let isUnderWay = false;
  const sweep = async (): Promise<void> => {
    if (isUnderWay) return;
    isUnderWay = true;
    try {
      await outputs.sweep();
    } catch (fault) {
      if (!(fault instanceof SharedStoreUnavailableError)) log.fault('output_not_removed', fault);
    }
    isUnderWay = false;
  };
  return setInterval(() => void sweep(), SWEEP_MILLISECONDS);
}

function openPlace({ outputs, log }: RedisStoresSettings): Promise<SharedPlace> {
  return typeof outputs === 'string' ? FolderPlace.open(outputs) : BucketPlace.open(outputs, log);
}

function sharedOutputs(
  { outputBytesInRedisMax, runMilliseconds }: RedisStoresSettings,
  place: SharedPlace,
  link: RedisLink,
  membership: Membership,
): SharedOutputs {
  return new SharedOutputs({
    place,
    keepMillisecondsMax: runMilliseconds,
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
