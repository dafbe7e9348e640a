// The composition root of a node: creates and connects the parts, listens, removes expired data periodically, and shuts
// everything down. Read this first for an overview. It makes no decisions about requests.

import { randomUUID } from 'node:crypto';
import { FailurePace } from './admission/authenticate.ts';
import { DiskFloor } from './admission/disk-floor.ts';
import { BUDGET_CHARGES, MemoryBudget } from './admission/memory-budget.ts';
import { RunMemories } from './admission/run-memory.ts';
import { type Catalog, CatalogDigests } from './catalog/catalog.ts';
import { CatalogStore } from './catalog/catalog-store.ts';
import { CheckThread } from './catalog/check-thread.ts';
import type { CheckTemplate } from './catalog/template-checker.ts';
import { TemplateGate } from './catalog/template-gate.ts';
import type { FleetConfig, ServeConfig } from './config.ts';
import type { Connections } from './http/connections.ts';
import type { Exchange, ExchangeSettings, FinishedExchange } from './http/exchange.ts';
import { type ChosenFrontEnd, chooseFrontEnd } from './http/front-end.ts';
import type { HttpServer } from './http/http-server.ts';
import { apiConnections, openPorts, type Routes } from './http/ports.ts';
import { ReadTurns } from './http/read-turns.ts';
import { WaitingAnswers } from './http/send-bytes.ts';
import { TaskOutputs } from './outputs/local-outputs.ts';
import { type CheckedTemplate, OutputMissingError, OutputNames } from './outputs/output-store.ts';
import { openPool } from './pool/pool.ts';
import { UPLOAD_PART_SIZES } from './pool/shared-run.ts';
import type { Gate } from './routes/endpoint.ts';
import {
  type ApiParts,
  apiRoutes,
  healthRoutes,
  metricsRoutes,
  type Pages,
  PROBES,
  pageRoutes,
} from './routes/index.ts';
import { type OperatorSources, operatorRoutes, templateCount } from './routes/operator.ts';
import { ActiveRuns } from './runs/active-runs.ts';
import { Drain, Readiness, type ReadinessParts } from './runs/drain.ts';
import { SlowUploads, TaskFrames } from './runs/engine-run.ts';
import { KeyClaims } from './runs/key-claims.ts';
import { type RunEnded, RunIds, type RunRecord, type RunTexts } from './runs/run.ts';
import { interruptedRun } from './runs/supervise-run.ts';
import { checkApart, type DataDirectory, dataDirectory, emptyFolders, makeRoot } from './runtime/data-directory.ts';
import { BillingPeriods } from './stores/billing-period.ts';
import { QuotaLedger } from './stores/leveldb/quota-ledger.ts';
import { openMemoryStores } from './stores/memory/memory-stores.ts';
import { openRedisStores } from './stores/redis/redis-stores.ts';
import { SharedStoreUnavailableError, type Stores, StoreUnavailableError, systemClock } from './stores/stores.ts';
import { type Log, requestFields, runFields, runLine } from './telemetry/log.ts';
import { type MetricSources, type Metrics, nodeMetricReader, openMetrics } from './telemetry/metrics.ts';
import { RecentCodes } from './telemetry/recent-codes.ts';
import { TimeTexts } from './telemetry/time-texts.ts';
import { IdleFiles } from './uploads/idle-files.ts';
import { MEMORY_FILE_BYTES_MAX, WriteBlocks } from './uploads/spooled-file.ts';

export interface ServerSettings {
  readonly config: ServeConfig;
  readonly log: Log;
  /** Called when the server listens, instead of the log line `listening`. */
  readonly onListening?: (listening: Listening) => void;
  /** By default the engine's check in a separate thread; tests use others. */
  readonly checkTemplate?: CheckTemplate<CheckedTemplate>;
  /** Module of the worker threads. By default the engine's; tests use others. */
  readonly workerEntry?: URL;
  /** Replaces the node's stores, in tests. */
  readonly storesInstead?: (stores: Stores) => Stores;
}

export interface Server {
  readonly port: number;
  readonly opsPort: number | null;
  /** Reads the catalog again. */
  reload(): Promise<boolean>;
  /**
   * Accepts nothing new, waits for or ends current work, and closes everything. Call it once. Resolves with the number
   * of threads that do not end: in that case the process must be ended by force.
   */
  stop(): Promise<number>;
}

/** Facts that the person who started the server needs. */
export interface Listening {
  readonly url: string;
  readonly accounts: number;
  readonly templates: number;
}

/** Everything that the parts of a node share. Each part declares an interface with the members that it needs. */
type NodeState = ApiParts & ReadinessParts & { readonly budget: MemoryBudget };

/** Time between the last response and closing its connection, so that the client can read it. */
const LAST_ANSWER_MILLISECONDS = 200;

/**
 * Rejects with HttpLibraryError, FoldersOverlapError, DirectoryInUseError, CatalogRefusedError, or a system error.
 * @param checks thread for Template checks, if the caller may have to end it early
 */
export async function startServer(settings: ServerSettings, checks = new CheckThread()): Promise<Server> {
  const { config, log } = settings;
  const directory = dataDirectory(config.dataDirectory);
  const undo: (() => Promise<void> | void)[] = [];
  try {
    const frontEnd = await chooseFrontEnd(config.httpLibrary);
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
      postponeTests: () => checks.postponeTests(),
      checked: () => checks.reset(),
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
    return await openServer(settings, frontEnd, directory, ledger, catalog, undo);
  } catch (fault) {
    for (const close of undo.reverse()) await close();
    throw fault;
  }
}

async function openServer(
  { config, log, onListening, workerEntry, storesInstead = (own) => own }: ServerSettings,
  chosen: ChosenFrontEnd,
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
    // Before the threads, because a thread in native code may not end. These files are not needed any more.
    () => emptyFolders(directory).catch((fault) => log.fault('output_not_removed', fault)),
  );
  const disk = new DiskFloor(directory, config.diskFloorBytes, undefined, ledger);
  const ids = new RunIds();
  const recent = { refusals: new RecentCodes(), failures: new RecentCodes() };
  const node: NodeState = {
    name: randomUUID(),
    ...storesOf(stores),
    taskOutputs: new TaskOutputs(directory.outputs, budget),
    keyClaims: new KeyClaims(() => ids.next()),
    pool,
    frames: new TaskFrames(),
    sharing: sharingOf(config),
    ids,
    outputNames: new OutputNames(),
    templateLists: new WeakMap(),
    periods: new BillingPeriods(),
    ...memoryOf(budget),
    disk,
    drain: new Drain(),
    activeRuns: new ActiveRuns(),
    idleFiles: openIdleFiles(disk, log, undo),
    blocks: new WriteBlocks(budget),
    ...texts,
    paths: pathsIn(directory),
    ...timesOf(config),
    onRunEnded: (run, details, exchange) => {
      metrics.runEnded(run, details);
      logEnd(log, recent.failures, run, details, exchange);
    },
    onFault: (fault, requestId) => reportFault(log, metrics, fault, requestId),
  };
  const connections = await apiConnections(config, log);
  const readiness = new Readiness(node, log);
  const answers = openAnswers(budget);
  const sources = sourcesOf(node, stores, catalog, connections.all, answers, readiness, log, chosen.frontEnd.name);
  const metrics = openMetrics(sources);
  const exchanges = exchangeSettings(config, log, metrics, recent.refusals, node.blocks, answers);
  const gate = { catalog: () => catalog.current, rates: stores.rates, failures: new FailurePace() };
  await pool.firstReady();
  const routes = routesOf({ node, stores, sources, catalog, readiness, recent }, gate, metrics, config.pages);
  const { server, opsServer } = await openPorts(chosen.frontEnd, config, routes, connections, exchanges, undo, log);
  if (baseUrl === '') baseUrl = originOf(config.host, server.port);
  catalog.watch();
  undo.push(readiness.watch());
  const ports = announce({ config, log, onListening }, chosen, server, opsServer, listeningAt(baseUrl, catalog));
  const stop = (): Promise<number> => stopServer(node, stores, config, [server, opsServer], undo, log);
  return { ...ports, reload: () => catalog.reload(), stop };
}

function routesOf(
  parts: OperatorSources & { readonly node: NodeState },
  gate: Gate,
  metrics: Metrics,
  pages: Pages,
): Routes {
  return {
    api: [...apiRoutes(gate, parts.node), ...pageRoutes(pages, gate)],
    health: healthRoutes(parts.readiness),
    metrics: metricsRoutes(metrics),
    operator: operatorRoutes(parts),
  };
}

function originOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function announce(
  { config: { host, workers }, log, onListening }: Pick<ServerSettings, 'config' | 'log' | 'onListening'>,
  { frontEnd, slowBecause }: ChosenFrontEnd,
  { port }: HttpServer,
  opsServer: HttpServer | null,
  listening: Listening,
): Pick<Server, 'port' | 'opsPort'> {
  const opsPort = opsServer?.port ?? null;
  if (slowBecause !== null) log.warn('slow_http_library', { http_library: frontEnd.name, reason: slowBecause });
  if (onListening !== undefined) onListening(listening);
  else log.always('listening', { host, port, ops_port: opsPort, workers, http_library: frontEnd.name });
  return { port, opsPort };
}

function listeningAt(url: string, { current }: CatalogStore<CheckedTemplate>): Listening {
  return { url, accounts: current.accounts.size, templates: templateCount(current) };
}

/** The line of the request reports the end of its Run, unless it has been written already. */
function logEnd(log: Log, failures: RecentCodes, run: RunRecord, details: RunEnded, exchange: Exchange): void {
  const { account, templateId: template, errorCode: code } = run;
  if (code !== null) failures.add({ code, account, template });
  const fields = runFields(run, details);
  if (exchange.isFinished) log.rendered('run', 'info', () => runLine(run, exchange.requestId, fields));
  else exchange.runFields = fields;
}

/**
 * An unavailable shared store has already been logged when it became unavailable, so the requests that it affects are
 * not logged again.
 */
function reportFault(log: Log, metrics: Metrics, fault: unknown, requestId: string): void {
  if (fault instanceof OutputMissingError) {
    metrics.outputMissing();
    log.fault('output_missing', fault, { request_id: requestId });
  } else if (!(fault instanceof SharedStoreUnavailableError)) log.fault('fault', fault, { request_id: requestId });
}

function openAnswers(budget: MemoryBudget): WaitingAnswers {
  const charge = (bytes: number): void => {
    if (bytes > 0) budget.charge(bytes, 'answers');
    else budget.release(-bytes, 'answers');
  };
  return new WaitingAnswers({ budgetBytes: budget.limitBytes, charge });
}

function openIdleFiles(disk: DiskFloor, log: Log, undo: (() => Promise<void> | void)[]): IdleFiles {
  const files = new IdleFiles(disk, (fault) => log.fault('upload_not_removed', fault));
  undo.push(() => files.close());
  return files;
}

function storesOf(
  stores: Stores,
): Pick<NodeState, 'admissions' | 'runs' | 'outputs' | 'storeUnreadyReason' | 'mayKeepRun'> {
  const { admissions, runs, outputs } = stores;
  return {
    admissions,
    runs,
    outputs,
    storeUnreadyReason: () => stores.unreadyReason(),
    mayKeepRun: (account) => stores.mayKeepRun(account),
  };
}

function timesOf(
  config: ServeConfig,
): Pick<NodeState, 'waitMilliseconds' | 'runMilliseconds' | 'retentionMilliseconds'> {
  const { waitMilliseconds, runTimeoutMilliseconds, retentionMilliseconds } = config;
  return { waitMilliseconds, runMilliseconds: runTimeoutMilliseconds, retentionMilliseconds };
}

function sharingOf({ workers, runThreads }: ServeConfig): NodeState['sharing'] {
  const threadsMax = Math.min(workers, runThreads);
  return threadsMax < 2 ? null : { sizes: UPLOAD_PART_SIZES, threadsMax };
}

/** A Run with a slow upload keeps as much memory as a short upload may occupy. */
function memoryOf(budget: MemoryBudget): Pick<NodeState, 'budget' | 'memories' | 'slowUploads'> {
  return { budget, memories: new RunMemories(budget, MEMORY_FILE_BYTES_MAX), slowUploads: new SlowUploads() };
}

/** Called for each Run. String concatenation takes a tenth of the time of path.join. */
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

function exchangeSettings(
  config: ServeConfig,
  log: Log,
  metrics: Metrics,
  refusals: RecentCodes,
  blocks: WriteBlocks,
  answers: WaitingAnswers,
): ExchangeSettings {
  const turns = new ReadTurns(() => blocks.hasCapacity);
  blocks.onCapacity = () => turns.memoryFreed();
  return {
    uploadMilliseconds: config.uploadTimeoutMilliseconds,
    turns,
    answers,
    onFinished: (exchange: FinishedExchange) => {
      metrics.requestFinished(exchange);
      const { account, templateId: template, code } = exchange;
      if (code !== null) refusals.add({ code, account, template });
      log.rendered('request', PROBES.has(exchange.endpoint) ? 'debug' : 'info', () => requestFields(exchange));
    },
    onFault: (fault, requestId) => reportFault(log, metrics, fault, requestId),
  };
}

function sourcesOf(
  node: NodeState,
  { gauges, metricValues }: Stores,
  catalog: CatalogStore<CheckedTemplate>,
  connections: Connections,
  answers: WaitingAnswers,
  readiness: Readiness,
  log: Log,
  httpLibrary: string,
): MetricSources {
  const { budget, pool } = node;
  const ofNode = nodeMetricReader();
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
    runsSuspended: () => node.memories.suspended,
    runsKept: () => gauges.runsKept(),
    liveThreads: () => pool.liveThreads,
    stuckThreads: () => pool.stuckThreads,
    isReady: async () => (await readiness.reasons()).length === 0,
    catalog: () => ({ readings: catalog.readings, tests: catalog.tests, isLive: catalog.isLive }),
    metricValues: async () => {
      const { times } = pool;
      const { freeBytes, error } = await node.disk.space();
      const diskFreeBytes = error === null ? freeBytes : null;
      const oldestRunSeconds = times.oldestSeconds();
      return [
        ...metricValues(),
        ...ofNode({
          diskFreeBytes,
          oldestRunSeconds,
          waited: times.waited,
          logLinesLost: log.lostLines,
          answersClosed: answers.closed,
          httpLibrary,
        }),
      ];
    },
    quotas: async () => {
      const accounts = [...catalog.current.accounts.values()];
      const quotas = await Promise.all(
        accounts.map(async ({ id, subscription }) => {
          if (subscription === null) return [];
          const period = node.periods.of(subscription, node.admissions.now());
          const usage = await unlessUnavailable(async () => node.admissions.usage(id, period));
          return usage === null ? [] : [{ account: id, used: usage.used, limit: subscription.plan.runsPerPeriod }];
        }),
      );
      return quotas.flat();
    },
  };
}

/** A counter that cannot be read now is left out, because the operator then needs the other metrics. */
async function unlessUnavailable<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (fault) {
    if (fault instanceof StoreUnavailableError) return null;
    throw fault;
  }
}

/** Opens the stores of a node that is one of several. Rejects with RedisOpenError, RedisFormatError, SharedStoreUnavailableError or a system error. */
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
