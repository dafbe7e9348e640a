// The composition root of a node: puts the parts together, listens, sweeps what expires, and takes everything down again.
// Read this first to see what there is. It decides nothing about requests.
import { randomUUID } from 'node:crypto';
import { DiskFloor } from './admission/disk-floor.ts';
import { FailurePace } from './admission/failure-pace.ts';
import { BUDGET_CHARGES, MemoryBudget } from './admission/memory-budget.ts';
import { RunMemories } from './admission/run-memory.ts';
import { CatalogStore } from './catalog/catalog-store.ts';
import { CheckThread } from './catalog/check-thread.ts';
import type { CheckTemplate } from './catalog/template-checker.ts';
import { TemplateGate } from './catalog/template-gate.ts';
import type { ServeConfig } from './config.ts';
import { openFleetStores } from './fleet-stores.ts';
import { type HttpServer, loadHttpLibrary } from './http/app.ts';
import type { Connections } from './http/connections.ts';
import type { ExchangeSettings } from './http/exchange.ts';
import type { FinishedExchange } from './http/finished-exchange.ts';
import { apiConnections, openPorts } from './http/ports.ts';
import { ReadTurns } from './http/read-turns.ts';
import { type CheckedTemplate, OutputNames } from './outputs/output-name.ts';
import { TaskOutputs } from './outputs/task-outputs.ts';
import { openPool } from './pool/open-pool.ts';
import { TaskFrames } from './pool/task-frames.ts';
import { apiRoutes, healthRoutes, metricsRoutes, PROBES, pageRoutes } from './routes/index.ts';
import { Drain } from './runs/drain.ts';
import { KeyClaims } from './runs/key-claims.ts';
import type { NodeState } from './runs/node-state.ts';
import { Readiness } from './runs/readiness.ts';
import { RunIds } from './runs/run-ids.ts';
import { SlowUploads } from './runs/slow-uploads.ts';
import { checkApart, type DataDirectory, dataDirectory, emptyFolders, makeRoot } from './runtime/data-directory.ts';
import { BillingPeriods } from './stores/billing-period.ts';
import { systemClock } from './stores/clock.ts';
import { QuotaLedger } from './stores/leveldb/quota-ledger.ts';
import { openMemoryStores } from './stores/memory/memory-stores.ts';
import { SharedStoreUnavailableError, StoreUnavailableError } from './stores/store-unavailable.ts';
import type { Stores } from './stores/stores.ts';
import type { Log } from './telemetry/log.ts';
import { requestLine, runLine } from './telemetry/log-fields.ts';
import { type MetricSources, type Metrics, openMetrics } from './telemetry/metrics.ts';
import { nodeFigures } from './telemetry/node-figures.ts';
import { TimeTexts } from './telemetry/time-texts.ts';
import { IdleFiles } from './uploads/idle-files.ts';
import { MEMORY_FILE_BYTES_MAX } from './uploads/spooled-file.ts';
import { WriteBlocks } from './uploads/write-blocks.ts';

export interface ServerSettings {
  readonly config: ServeConfig;
  readonly log: Log;
  /** The engine's, in a thread of its own, unless a test says otherwise. */
  readonly checkTemplate?: CheckTemplate<CheckedTemplate>;
  /** Module of the worker threads; the engine's unless a test says otherwise. */
  readonly workerEntry?: URL;
  /** Puts other stores in the place of the node's own; as they are unless a test says otherwise. */
  readonly storesInstead?: (stores: Stores) => Stores;
}

export interface Server {
  readonly port: number;
  readonly opsPort: number | null;
  /** Reads the catalog again. */
  reload(): Promise<boolean>;
  /**
   * Takes nothing new, lets what is under way end or ends it, and closes everything. Once. Resolves with the number of
   * threads that do not end: the process does not either, unless by force.
   */
  stop(): Promise<number>;
}

/** Between the last answer and the end of its connection, so that its client can read it. */
const LAST_ANSWER_MILLISECONDS = 200;

/**
 * Rejects with HttpLibraryError, FoldersMeetError, DirectoryInUseError, CatalogRefusedError, or what the system says.
 * @param checks its own, unless who starts it may have to end it before
 */
export async function startServer(settings: ServerSettings, checks = new CheckThread()): Promise<Server> {
  const { config, log } = settings;
  const directory = dataDirectory(config.dataDirectory);
  const undo: (() => Promise<void> | void)[] = [];
  try {
    await loadHttpLibrary();
    checkApart(directory, config.catalogDirectory);
    makeRoot(directory);
    const ledger = await QuotaLedger.open(directory.ledger, systemClock);
    undo.push(() => ledger.close());
    await emptyFolders(directory);
    undo.push(() => checks.close());
    const gate = config.catalogTests ? new TemplateGate(checks.test) : undefined;
    const catalog = await CatalogStore.open(config.catalogDirectory, {
      checkTemplate: settings.checkTemplate ?? checks.check,
      gate,
      checked: () => checks.rest(),
      log: ({ event, ...fields }) => {
        if ('fault' in fields) log.fault(event, fields.fault);
        else if (event === 'catalog_refused') log.warn(event, fields);
        else log.info(event, fields);
      },
    });
    undo.push(() => {
      checks.close();
      return catalog.close();
    });
    return await openServer(settings, directory, ledger, catalog, undo);
  } catch (fault) {
    for (const close of undo.reverse()) await close();
    throw fault;
  }
}

async function openServer(
  { config, log, workerEntry, storesInstead = (own) => own }: ServerSettings,
  directory: DataDirectory,
  ledger: QuotaLedger,
  catalog: CatalogStore<CheckedTemplate>,
  undo: (() => Promise<void> | void)[],
): Promise<Server> {
  const budget = new MemoryBudget(config.memoryBudgetBytes, config.workers, 'service');
  let baseUrl = config.baseUrl ?? '';
  const texts = { baseUrl: () => baseUrl, times: new TimeTexts() };
  const own =
    config.fleet === null
      ? openMemoryStores(ledger, budget, systemClock, log)
      : await openFleetStores(config, config.fleet, () => catalog.current, texts, log);
  const stores = storesInstead(own);
  undo.push(() => stores.close());
  const pool = openPool(config, workerEntry, budget, log, () => metrics.threadLost());
  undo.push(
    () => pool.close(),
    // Before the threads, of which one in native code may not end: nobody asks for these files any more.
    () => emptyFolders(directory).catch((fault) => log.fault('output_not_removed', fault)),
  );
  const disk = new DiskFloor(directory, config.diskFloorBytes, undefined, ledger);
  const ids = new RunIds();
  const node: NodeState = {
    name: randomUUID(),
    desk: stores.desk,
    runs: stores.runs,
    outputs: stores.outputs,
    storeTrouble: () => stores.trouble(),
    taskOutputs: new TaskOutputs(directory.outputs, budget),
    keyClaims: new KeyClaims(() => ids.next()),
    pool,
    frames: new TaskFrames(),
    ids,
    outputNames: new OutputNames(),
    periods: new BillingPeriods(),
    ...memoryOf(budget),
    disk,
    drain: new Drain(),
    idleFiles: openIdleFiles(disk, log, undo),
    blocks: new WriteBlocks(budget),
    ...texts,
    paths: pathsIn(directory),
    waitMilliseconds: config.waitMilliseconds,
    runMilliseconds: config.runTimeoutMilliseconds,
    retentionMilliseconds: config.retentionMilliseconds,
    onRunEnded: (run, details) => {
      log.info('run', runLine(run, details));
      metrics.runEnded(run, details);
    },
    onFault: (fault, requestId) => reportFault(log, fault, requestId),
  };
  const connections = await apiConnections(config, log);
  const readiness = new Readiness(node, log);
  const metrics = openMetrics(sourcesOf(node, stores, catalog, connections.all, readiness, log));
  const exchanges = exchangeSettings(config, log, metrics, node.blocks);
  const gate = { catalog: () => catalog.current, rates: stores.rates, failures: new FailurePace() };
  await pool.firstReady();
  const api = [...apiRoutes(gate, node), ...pageRoutes(config.pages)];
  const routes = { api, health: healthRoutes(readiness), metrics: metricsRoutes(metrics) };
  const { server, opsServer } = await openPorts(config, routes, connections, exchanges, undo, log);
  if (baseUrl === '') baseUrl = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`;
  catalog.watch();
  undo.push(readiness.watch());
  const opsPort = opsServer?.port ?? null;
  log.always('listening', { host: config.host, port: server.port, ops_port: opsPort, workers: config.workers });
  const stop = (): Promise<number> => stopServer(node, stores, config, [server, opsServer], undo, log);
  return { port: server.port, opsPort, reload: () => catalog.reload(), stop };
}

/** Its stores logged it when they went away: a line for each request that meets it would say nothing new. */
function reportFault(log: Log, fault: unknown, requestId: string): void {
  if (!(fault instanceof SharedStoreUnavailableError)) log.fault('fault', fault, { request_id: requestId });
}

function openIdleFiles(disk: DiskFloor, log: Log, undo: (() => Promise<void> | void)[]): IdleFiles {
  const files = new IdleFiles(disk, (fault) => log.fault('upload_not_removed', fault));
  undo.push(() => files.close());
  return files;
}

/** A Run whose upload is slow keeps what a short one has in memory. */
function memoryOf(budget: MemoryBudget): Pick<NodeState, 'budget' | 'memories' | 'slowUploads'> {
  return { budget, memories: new RunMemories(budget, MEMORY_FILE_BYTES_MAX), slowUploads: new SlowUploads() };
}

/** For each Run: joined by hand, which is a tenth of what normalising them costs. */
function pathsIn({ spool, spill }: DataDirectory): NodeState['paths'] {
  return { spoolFor: (upload) => `${spool}/${upload}.upload`, spillFor: (task) => `${spill}/${task}` };
}

async function stopServer(
  node: NodeState,
  stores: Stores,
  { drainDelayMilliseconds, drainMilliseconds }: ServeConfig,
  servers: readonly (HttpServer | null)[],
  undo: readonly (() => Promise<void> | void)[],
  log: Log,
): Promise<number> {
  log.info('draining', { under_way: node.drain.underWay });
  await node.drain.announce(drainDelayMilliseconds);
  node.drain.onDeadline(() => {
    node.pool.hurry();
    stores.hurry();
  });
  await node.drain.run(drainMilliseconds);
  for (const server of servers) server?.stopListening();
  await new Promise((resolve) => setTimeout(resolve, LAST_ANSWER_MILLISECONDS));
  for (const close of [...undo].reverse()) await close();
  log.info('stopped');
  return node.pool.size;
}

function exchangeSettings(config: ServeConfig, log: Log, metrics: Metrics, blocks: WriteBlocks): ExchangeSettings {
  const turns = new ReadTurns(() => blocks.room);
  blocks.onRoom = () => turns.look();
  return {
    uploadMilliseconds: config.uploadTimeoutMilliseconds,
    turns,
    onFinished: (exchange: FinishedExchange) => {
      metrics.requestFinished(exchange);
      if (PROBES.has(exchange.endpoint)) log.debug('request', requestLine(exchange));
      else log.info('request', requestLine(exchange));
    },
    onFault: (fault, requestId) => reportFault(log, fault, requestId),
  };
}

function sourcesOf(
  node: NodeState,
  { gauges, figures }: Stores,
  catalog: CatalogStore<CheckedTemplate>,
  connections: Connections,
  readiness: Readiness,
  log: Log,
): MetricSources {
  const { budget, pool } = node;
  const ofNode = nodeFigures();
  return {
    connectionsOpen: () => connections.open,
    connectionsRefused: () => connections.refused,
    budget: () => ({
      limitBytes: budget.limitBytes,
      heldBytes: {
        ...Object.fromEntries(BUDGET_CHARGES.map((charge) => [charge, budget.usedBytes(charge)])),
        threads: budget.borrowedBytes(),
      },
    }),
    runsInPool: () => pool.runs,
    runsAside: () => node.memories.aside,
    runsKept: () => gauges.runsKept(),
    liveThreads: () => pool.liveThreads,
    stuckThreads: () => pool.stuckThreads,
    isReady: async () => (await readiness.reasons()).length === 0,
    catalog: () => ({ readings: catalog.readings, tests: catalog.tests, isInForce: catalog.isInForce }),
    figures: async () => {
      const { times } = pool;
      const { freeBytes, trouble } = await node.disk.space();
      const diskFreeBytes = trouble === null ? freeBytes : null;
      const oldestRunSeconds = times.oldestSeconds();
      return [
        ...figures(),
        ...ofNode({ diskFreeBytes, oldestRunSeconds, waited: times.waited, logLinesLost: log.lostLines }),
      ];
    },
    quotas: async () => {
      const accounts = [...catalog.current.accounts.values()];
      const quotas = await Promise.all(
        accounts.map(async ({ id, subscription }) => {
          if (subscription === null) return [];
          const period = node.periods.of(subscription, node.desk.now());
          const usage = await unlessUnavailable(async () => node.desk.usage(id, period));
          return usage === null ? [] : [{ account: id, used: usage.used, limit: subscription.plan.runsPerPeriod }];
        }),
      );
      return quotas.flat();
    },
  };
}

/** A counter that cannot be read now is left out: the other metrics are what the operator needs then. */
async function unlessUnavailable<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (fault) {
    if (fault instanceof StoreUnavailableError) return null;
    throw fault;
  }
}
