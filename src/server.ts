// The composition root of a node: puts the parts together, listens, sweeps what expires, and takes everything down again.
// Read this first to see what there is. It decides nothing about requests.
import { BillingPeriods } from './admission/billing-period.ts';
import { DiskFloor } from './admission/disk-floor.ts';
import { BUDGET_CHARGES, MemoryBudget } from './admission/memory-budget.ts';
import { QuotaLedger } from './admission/quota-ledger.ts';
import { MemoryRateLimiter } from './admission/rate-limiter.ts';
import { RunSlots } from './admission/run-slots.ts';
import { CatalogStore } from './catalog/catalog-store.ts';
import type { CheckTemplate } from './catalog/template-checker.ts';
import type { ServeConfig } from './config.ts';
import { checkApart, type DataDirectory, dataDirectory, emptyFolders, makeRoot } from './data-directory.ts';
import { type HttpServer, listen } from './http/app.ts';
import type { ExchangeSettings, FinishedExchange } from './http/exchange.ts';
import { ReadTurns } from './http/read-turns.ts';
import { boundReceiveBuffer } from './http/receive-buffer.ts';
import { type Route, Router } from './http/router.ts';
import type { Log } from './log.ts';
import { type Metrics, openMetrics } from './metrics.ts';
import { OutputStore } from './outputs/output-store.ts';
import { ThreadPool } from './pool.ts';
import { apiRoutes, opsRoutes } from './routes/index.ts';
import { Drain } from './runs/drain.ts';
import { IdempotencyKeys } from './runs/idempotency.ts';
import type { NodeState, RunEnded } from './runs/node-state.ts';
import { type CheckedTemplate, OutputNames } from './runs/output-name.ts';
import { MemoryRunStore } from './runs/registry.ts';
import type { RunRecord } from './runs/run.ts';
import { RunIds } from './runs/run-ids.ts';
import { TaskFrames } from './runs/task-frames.ts';
import { IdleFiles } from './spool/idle-files.ts';
import { WriteBlocks } from './spool/write-blocks.ts';
import { startSweeper } from './sweeper.ts';
import { TimeTexts } from './time-texts.ts';

export interface ServerSettings {
  readonly config: ServeConfig;
  readonly log: Log;
  readonly checkTemplate: CheckTemplate<CheckedTemplate>;
  /** Module of the worker threads; the engine's unless a test says otherwise. */
  readonly workerEntry?: URL;
}

export interface Server {
  readonly port: number;
  readonly opsPort: number | null;
  /** Reads the catalog again. */
  reload(): Promise<boolean>;
  /** Takes nothing new, lets what is under way end or ends it, and closes everything. Once. */
  stop(): Promise<void>;
}

/** Between the last answer and the end of its connection, so that its client can read it. */
const LAST_ANSWER_MILLISECONDS = 200;

/** Rejects with FoldersMeetError, DirectoryInUseError, CatalogRefusedError, or what the system says. */
export async function startServer(settings: ServerSettings): Promise<Server> {
  const { config, log, checkTemplate } = settings;
  const directory = dataDirectory(config.dataDirectory);
  const undo: (() => Promise<void> | void)[] = [];
  try {
    checkApart(directory, config.catalogDirectory);
    makeRoot(directory);
    const ledger = await QuotaLedger.open(directory.ledger);
    undo.push(() => ledger.close());
    await emptyFolders(directory);
    const catalog = await CatalogStore.open(config.catalogDirectory, {
      checkTemplate,
      log: ({ event, ...fields }) => {
        if ('fault' in fields) log.fault(event, fields.fault);
        else if (event === 'catalog_refused') log.warn(event, fields);
        else log.info(event, fields);
      },
    });
    undo.push(() => catalog.close());
    return await openServer(settings, directory, ledger, catalog, undo);
  } catch (fault) {
    for (const close of undo.reverse()) await close();
    throw fault;
  }
}

async function openServer(
  { config, log, workerEntry }: ServerSettings,
  directory: DataDirectory,
  ledger: QuotaLedger,
  catalog: CatalogStore<CheckedTemplate>,
  undo: (() => Promise<void> | void)[],
): Promise<Server> {
  const budget = new MemoryBudget(config.memoryBudgetBytes, config.workers);
  const outputs = new OutputStore(directory.outputs, budget);
  const runs = new MemoryRunStore(budget, (output) => {
    outputs.remove(output)?.catch((fault) => log.fault('output_not_removed', fault));
  });
  const keys = new IdempotencyKeys(budget);
  const pool = new ThreadPool({
    ...(workerEntry === undefined ? {} : { entry: workerEntry }),
    threads: config.workers,
    budget: budget.buffer,
    onThreadLost: (thread, fault) => {
      budget.forgetThread(thread);
      metrics.threadLost();
      log.fault('thread_lost', fault, { thread });
    },
    onLoadFault: (fault) => log.fault('thread_not_loaded', fault, {}),
  });
  undo.push(() => pool.close());
  const disk = new DiskFloor(directory, config.diskFloorBytes);
  let baseUrl = config.baseUrl ?? '';
  const node: NodeState = {
    runs,
    keys,
    outputs,
    pool,
    frames: new TaskFrames(),
    ids: new RunIds(),
    outputNames: new OutputNames(),
    periods: new BillingPeriods(),
    budget,
    ledger,
    slots: new RunSlots(),
    disk,
    drain: new Drain(),
    idleFiles: openIdleFiles(disk, log, undo),
    blocks: new WriteBlocks(budget),
    times: new TimeTexts(),
    paths: pathsIn(directory),
    baseUrl: () => baseUrl,
    waitMilliseconds: config.waitMilliseconds,
    runMilliseconds: config.runTimeoutMilliseconds,
    retentionMilliseconds: config.retentionMilliseconds,
    onRunEnded: (run, details) => {
      log.info('run', runLine(run, details));
      metrics.runEnded(run, details);
    },
    onFault: (fault, requestId) => log.fault('fault', fault, { request_id: requestId }),
  };
  const metrics = openMetrics(sourcesOf(node, runs, catalog));
  const exchanges = exchangeSettings(config, log, metrics, node.blocks);
  const gate = { catalog: () => catalog.current, rates: new MemoryRateLimiter() };
  undo.push(startSweeper(runs, keys, ledger, log).stop);
  await pool.firstReady();
  const ops = opsRoutes(node, metrics);
  const { server, opsServer } = await openPorts(config, apiRoutes(gate, node), ops, exchanges, undo, log);
  if (baseUrl === '') baseUrl = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`;
  catalog.watch();
  const opsPort = opsServer?.port ?? null;
  log.always('listening', { host: config.host, port: server.port, ops_port: opsPort, workers: config.workers });
  const stop = (): Promise<void> => stopServer(node, config.drainMilliseconds, [server, opsServer], undo, log);
  return { port: server.port, opsPort, reload: () => catalog.reload(), stop };
}

function openIdleFiles(disk: DiskFloor, log: Log, undo: (() => Promise<void> | void)[]): IdleFiles {
  const files = new IdleFiles(disk, (fault) => log.fault('upload_not_removed', fault));
  undo.push(() => files.close());
  return files;
}

/** For each Run: joined by hand, which is a tenth of what normalising them costs. */
function pathsIn({ spool, spill }: DataDirectory): NodeState['paths'] {
  return { spoolFor: (upload) => `${spool}/${upload}.upload`, spillFor: (task) => `${spill}/${task}` };
}

async function openPorts(
  { host, port, opsPort }: ServeConfig,
  api: readonly Route[],
  ops: readonly Route[],
  exchanges: ExchangeSettings,
  undo: (() => Promise<void> | void)[],
  log: Log,
): Promise<{ readonly server: HttpServer; readonly opsServer: HttpServer | null }> {
  const opsServer = opsPort === null ? null : await listen(host, opsPort, new Router(ops), exchanges);
  if (opsServer !== null) undo.push(() => opsServer.close());
  const routes = opsServer === null ? [...api, ...ops] : api;
  const server = await listen(host, port, new Router(routes), exchanges);
  undo.push(() => server.close());
  if (!(await boundReceiveBuffer(server.port))) log.info('receive_buffer_unbounded', { port: server.port });
  return { server, opsServer };
}

async function stopServer(
  node: NodeState,
  drainMilliseconds: number,
  servers: readonly (HttpServer | null)[],
  undo: readonly (() => Promise<void> | void)[],
  log: Log,
): Promise<void> {
  log.info('draining', { under_way: node.drain.underWay });
  await node.drain.run(drainMilliseconds);
  for (const server of servers) server?.stopListening();
  await new Promise((resolve) => setTimeout(resolve, LAST_ANSWER_MILLISECONDS));
  for (const close of [...undo].reverse()) await close();
  log.info('stopped');
}

function exchangeSettings(config: ServeConfig, log: Log, metrics: Metrics, blocks: WriteBlocks): ExchangeSettings {
  const turns = new ReadTurns(() => blocks.room);
  blocks.onRoom = () => turns.look();
  return {
    uploadMilliseconds: config.uploadTimeoutMilliseconds,
    turns,
    onFinished: (exchange: FinishedExchange) => {
      const { requestId, method, operation, account, runId, status, code, receivedBytes, sentBytes } = exchange;
      metrics.requestFinished(exchange);
      log.info('request', {
        request_id: requestId,
        method: LOGGED_METHODS.has(method) ? method : 'other',
        operation,
        account,
        run: runId,
        status,
        code,
        ms: rounded(exchange.milliseconds),
        received_bytes: receivedBytes,
        sent_bytes: sentBytes,
      });
    },
    onFault: (fault, requestId) => log.fault('fault', fault, { request_id: requestId }),
  };
}

/** Fields of the log line of a Run that has ended, named as those of a request's. */
function runLine(run: RunRecord, details: RunEnded): object {
  const { requestId, milliseconds, busyMilliseconds, fileBytes, rowsRead, rowsWritten, charged } = details;
  return {
    request_id: requestId,
    account: run.account,
    run: run.id,
    template: run.templateId,
    status: run.status,
    code: run.errorCode,
    ms: milliseconds,
    busy_ms: busyMilliseconds === null ? null : rounded(busyMilliseconds),
    file_bytes: fileBytes,
    rows_read: rowsRead,
    rows_written: rowsWritten,
    charged,
  };
}

/** To a thousandth: what follows is noise. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

/** Others are the client's own words. */
const LOGGED_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function sourcesOf(node: NodeState, runs: MemoryRunStore, catalog: CatalogStore<CheckedTemplate>) {
  const { budget, pool, ledger } = node;
  return {
    budget: () => ({
      limitBytes: budget.limitBytes,
      heldBytes: {
        ...Object.fromEntries(BUDGET_CHARGES.map((charge) => [charge, budget.usedBytes(charge)])),
        threads: budget.borrowedBytes(),
      },
    }),
    runsInPool: () => pool.runs,
    runsKept: () => runs.size,
    liveThreads: () => pool.liveThreads,
    quotas: async () => {
      const quotas = [];
      for (const { id, subscription } of catalog.current.accounts.values()) {
        if (subscription === null) continue;
        const used = await ledger.used(id, node.periods.of(subscription, Date.now()));
        quotas.push({ account: id, used, limit: subscription.plan.runsPerPeriod });
      }
      return quotas;
    },
  };
}
