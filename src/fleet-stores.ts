// Opens the stores of a node that is one of several, with the settings of the node, its catalog and its Runs.

import { type Catalog, CatalogDigests } from './catalog/catalog.ts';
import type { ServeConfig } from './config.ts';
import type { FleetConfig } from './fleet-config.ts';
import type { RunTexts } from './runs/run.ts';
import { interruptedRun } from './runs/supervise-run.ts';
import { openRedisStores } from './stores/redis/redis-stores.ts';
import type { Stores } from './stores/stores.ts';
import type { Log } from './telemetry/log.ts';

/** Rejects with RedisOpenError, RedisFormatError, SharedStoreUnavailableError or a system error. */
export function openFleetStores(
  config: ServeConfig,
  fleet: FleetConfig,
  catalog: () => Catalog<unknown>,
  texts: RunTexts,
  log: Log,
): Promise<Stores> {
  const digests = new CatalogDigests();
  const { retentionMilliseconds } = config;
  return openRedisStores({
    url: fleet.redisUrl,
    sentinels: fleet.sentinels,
    passwordFile: fleet.passwordFile,
    sentinelPasswordFile: fleet.sentinelPasswordFile,
    authorityFile: fleet.authorityFile,
    timeoutMilliseconds: fleet.timeoutMilliseconds,
    outputs: fleet.outputs,
    outputBytesInRedisMax: fleet.outputBytesInRedisMax,
    replicasWaitedFor: fleet.replicasWaitedFor,
    uploadMilliseconds: config.uploadTimeoutMilliseconds,
    runMilliseconds: config.runTimeoutMilliseconds,
    retentionMilliseconds,
    catalogDigest: () => digests.of(catalog()),
    interrupted: (running, now) => interruptedRun(running, now, retentionMilliseconds, texts),
    log,
  });
}
