// Assembles the stores of a fleet: Redis, and a shared place for larger outputs.

import { FolderPlace } from '../../outputs/folder-place.ts';
import { BucketPlace } from '../../outputs/s3/bucket-place.ts';
import type { S3Address } from '../../outputs/s3/s3-requests.ts';
import { SharedOutputs, type SharedPlace } from '../../outputs/shared-outputs.ts';
import type { RunRecord } from '../../runs/run.ts';
import type { Log } from '../../telemetry/log.ts';
import { readMetrics, type ScrapedMetricDefinition } from '../../telemetry/metric-definition.ts';
import { SharedStoreUnavailableError, type Stores } from '../stores.ts';
import { checkRedis, FolderMark, FolderMarkError, RedisOpenError } from './check-redis.ts';
import { Membership, NodeClaims, Reaper, RedisFormatError } from './membership.ts';
import {
  placeInRedis,
  RedisAdmissionStore,
  RedisRates,
  RedisRuns,
  ReplicatedSteps,
  type StepCaller,
} from './redis-admission-store.ts';
import { type CallTotals, REDIS_ERROR_KINDS, type RedisAddress, RedisLink } from './redis-link.ts';
import { outputKey } from './run-codec.ts';

// Metrics about Redis and the fleet.

export interface FleetParts {
  readonly links: readonly RedisLink[];
  readonly membership: Membership;
  readonly claims: NodeClaims;
  readonly reaper: Reaper;
  readonly admissions: RedisAdmissionStore;
  readonly place: SharedPlace;
  /** Digest of the live catalog of this node. */
  readonly catalogDigest: string;
}

const ERROR_KINDS = REDIS_ERROR_KINDS.map((kind) => `\`${kind}\``).join(', ');

export const FLEET_METRICS: readonly ScrapedMetricDefinition<FleetParts>[] = [
  {
    name: 'template_run_redis_calls_total',
    kind: 'counter',
    help: 'Calls to Redis by script or command.',
    labels: ['script'],
    read: ({ links }) => byScript(links, ({ calls }) => calls),
  },
  {
    name: 'template_run_redis_call_seconds_total',
    kind: 'counter',
    help: 'Total time of calls to Redis, including the network, by script or command.',
    labels: ['script'],
    read: ({ links }) => byScript(links, ({ seconds }) => seconds),
  },
  {
    name: 'template_run_redis_errors_total',
    kind: 'counter',
    help: `Failed calls to Redis, by kind: ${ERROR_KINDS}.`,
    labels: ['kind'],
    read: ({ links }) => sums(links.flatMap(({ errorCounts }) => [...errorCounts])),
  },
  {
    name: 'template_run_redis_in_doubt_total',
    kind: 'counter',
    help: 'Claims in an unknown state after a lost response; they are taken back.',
    labels: [],
    read: ({ claims }) => claims.doubts,
  },
  {
    name: 'template_run_redis_emptied_total',
    kind: 'counter',
    help: 'Number of times that Redis had lost all data.',
    labels: [],
    read: ({ membership }) => membership.epochsLost,
  },
  {
    name: 'template_run_outputs_errors_total',
    kind: 'counter',
    help: 'Failed operations on the storage of larger outputs, by kind: `timeout` for a folder; `unreachable` or the error code of the bucket, such as `AccessDenied`.',
    labels: ['kind'],
    read: ({ place }) => place.errorCounts,
  },
  {
    name: 'template_run_fleet_nodes',
    kind: 'gauge',
    help: 'Live nodes.',
    labels: [],
    read: ({ membership }) => membership.published.length,
  },
  {
    name: 'template_run_fleet_catalogs_differ',
    kind: 'gauge',
    help: 'Live nodes whose catalog differs from that of this node.',
    labels: [],
    read: ({ membership, catalogDigest }) => membership.published.filter((other) => other !== catalogDigest).length,
  },
  {
    name: 'template_run_fleet_lease_age_seconds',
    kind: 'gauge',
    help: 'Time since the last acknowledged heartbeat.',
    labels: [],
    read: ({ membership }) => membership.leaseAgeMilliseconds / 1000,
  },
  {
    name: 'template_run_fleet_clock_offset_seconds',
    kind: 'gauge',
    help: 'Clock of Redis minus the clock of this node.',
    labels: [],
    read: ({ membership }) => membership.offsetMilliseconds / 1000,
  },
  {
    name: 'template_run_fleet_given_up_total',
    kind: 'counter',
    help: 'Number of times that other nodes gave up this node.',
    labels: [],
    read: ({ membership }) => membership.timesLost,
  },
  {
    name: 'template_run_fleet_runs_lost_total',
    kind: 'counter',
    help: 'Ends of Runs that were refused because other nodes had given up the Run.',
    labels: [],
    read: ({ admissions }) => admissions.lost,
  },
  {
    name: 'template_run_fleet_runs_taken_back_total',
    kind: 'counter',
    help: 'Claims of any node that this node has taken back.',
    labels: [],
    read: ({ reaper }) => reaper.reaped,
  },
];

function byScript(links: readonly RedisLink[], value: (totals: CallTotals) => number): ReadonlyMap<string, number> {
  return sums(links.flatMap(({ calls }) => [...calls].map(([script, totals]) => [script, value(totals)] as const)));
}

/** Sums the counts by name. */
function sums(counts: readonly (readonly [string, number])[]): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const [name, count] of counts) all.set(name, (all.get(name) ?? 0) + count);
  return all;
}

export interface RedisStoresSettings extends RedisAddress {
  /** A folder, or a bucket. */
  readonly outputs: string | S3Address;
  readonly outputBytesInRedisMax: number;
  /** Number of replicas that must have a step before its success is reported to a client; 0: the primary is enough. */
  readonly replicasWaitedFor: number;
  readonly uploadMilliseconds: number;
  readonly runMilliseconds: number;
  readonly retentionMilliseconds: number;
  /** Digest of the live catalog of this node. */
  readonly catalogDigest: () => string;
  /** Creates the record of an interrupted Run, given the current time. */
  readonly interrupted: (running: RunRecord, now: number) => RunRecord;
  readonly log: Log;
}

/** Allowance for the wait for a thread, and for clock differences and stalls. */
const CLAIM_SLACK_MILLISECONDS = 15 * 60_000;

/** The Run, the output, the rejected rows and the record may each take as long as a Run may. */
const RUN_TIMES_MAX = 4;

/** Interval of the search for expired outputs. */
const SWEEP_MILLISECONDS = 10 * 60_000;

/**
 * Rejects with RedisOpenError, RedisFormatError, FolderMarkError or FolderPlaceError, and if outputs cannot be
 * stored.
 */
export async function openRedisStores(settings: RedisStoresSettings): Promise<Stores> {
  const { log, runMilliseconds, retentionMilliseconds } = settings;
  const { link, waiting, links, lasting, replicas } = connections(settings);
  const membership: Membership = new Membership(link, log, {
    about: () => settings.catalogDigest(),
    onLost: (incarnations) => reaper.reclaim(incarnations),
    onForgotten: () => void claims.announceAgain().catch((fault) => reportUnlessGone(log, fault)),
  });
  const claims = new NodeClaims(link, membership);
  const interrupted = (running: RunRecord): RunRecord => settings.interrupted(running, membership.now());
  const reaper = new Reaper({ link, membership, claims, log, retentionMilliseconds, interrupted });
  const claimMilliseconds = settings.uploadMilliseconds + RUN_TIMES_MAX * runMilliseconds + CLAIM_SLACK_MILLISECONDS;
  const admissions = new RedisAdmissionStore({
    link,
    lasting,
    replicas,
    membership,
    claims,
    claimMilliseconds,
    finishMilliseconds: runMilliseconds,
  });
  const place = await openPlace(settings);
  const mark = place instanceof FolderPlace ? new FolderMark(link, place, log) : null;
  const outputs = sharedOutputs(settings, place, link, membership);
  const disconnect = (): void => {
    for (const part of [mark, link, waiting, place]) part?.close();
  };
  try {
    await link.connect();
    await checkRedis(link, settings.replicasWaitedFor, log);
    await waiting?.connect();
    await mark?.join();
    await membership.join();
  } catch (fault) {
    disconnect();
    throw openError(fault);
  }
  link.onReady = () => {
    // A promoted replica may lack the announced accounts.
    void claims.announceAgain().catch((fault) => reportUnlessGone(log, fault));
    reaper.settleDoubts();
  };
  reaper.start();
  const sweeper = sweeping(outputs, log);
  return {
    admissions,
    runs: new RedisRuns(link),
    rates: new RedisRates(link),
    outputs,
    // Records are kept in Redis, and not in the memory of the node.
    mayKeepRun: () => true,
    gauges: { runsKept: () => claims.size },
    metricValues: () => {
      const catalogDigest = settings.catalogDigest();
      return readMetrics(FLEET_METRICS, { links, membership, claims, reaper, admissions, place, catalogDigest });
    },
    nodes: () => membership.nodes(),
    unreadyReason: () => membership.unreadyReason ?? mark?.unreadyReason ?? null,
    hurry: () => {
      admissions.hurry();
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

/** An error that tells the operator why the node cannot start. */
function openError(fault: unknown): Error {
  const isKnown = [RedisFormatError, RedisOpenError, FolderMarkError].some((known) => fault instanceof known);
  return isKnown ? (fault as Error) : new RedisOpenError(fault);
}

/** `waiting` is the connection for steps that wait for replicas; null: replicas are not awaited. */
function connections(settings: RedisStoresSettings): {
  readonly link: RedisLink;
  readonly waiting: RedisLink | null;
  readonly links: readonly RedisLink[];
  readonly lasting: StepCaller;
  readonly replicas: ReplicatedSteps | null;
} {
  const { replicasWaitedFor, timeoutMilliseconds, log } = settings;
  const link = new RedisLink(settings, log);
  if (replicasWaitedFor === 0) return { link, waiting: null, links: [link], lasting: link, replicas: null };
  const waiting = new RedisLink(settings, log);
  const replicas = new ReplicatedSteps(waiting, replicasWaitedFor, timeoutMilliseconds);
  return { link, waiting, links: [link, waiting], lasting: replicas, replicas };
}

/** Sweeps never overlap, because the place may hang. */
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

/** While Redis is away, other nodes give up the claims of this node, so that error is not reported. */
function reportUnlessGone(log: Log, fault: unknown): void {
  if (!(fault instanceof SharedStoreUnavailableError)) log.fault('fault', fault);
}
