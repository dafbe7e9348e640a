// The process of a node: starts the server, listens to signals, and knows its exit statuses. What a server is, is in
// server.ts.
import { CatalogRefusedError } from './catalog/catalog-store.ts';
import { CheckThread } from './catalog/check-thread.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, EXIT_USAGE } from './commands/command.ts';
import { HttpLibraryError } from './http/app.ts';
import { ListenError } from './http/listen-error.ts';
import { FoldersMeetError } from './runtime/data-directory.ts';
import { endProcess } from './runtime/end-process.ts';
import { paceCollections } from './runtime/heap-growth.ts';
import { type Server, type ServerSettings, startServer } from './server.ts';
import { DirectoryInUseError, LedgerOpenError } from './stores/leveldb/ledger-store.ts';
import { RedisOpenError } from './stores/redis/check-redis.ts';
import { RedisFormatError } from './stores/redis/membership.ts';
import { SharedStoreUnavailableError } from './stores/store-unavailable.ts';
import type { Log } from './telemetry/log.ts';

/**
 * How long after the deadline of the drain everything has been given up that was under way, and is closed. What holds the
 * process then is a thread that does not end, or a disk that does not answer.
 */
const CLOSE_MILLISECONDS_MAX = 1_000;

/**
 * Serves until SIGTERM or SIGINT, and then ends the process with status 0, at the latest CLOSE_MILLISECONDS_MAX after the
 * deadline of the drain. Resolves with the status of a node that could not be started. Further signals do nothing.
 */
export async function serveNode(settings: ServerSettings, io: CommandIo): Promise<number> {
  const { log } = settings;
  const dies = (fault: unknown): void => {
    log.fault('crash', fault);
    log.flushSync();
    endProcess(EXIT_FAILED);
  };
  process.on('uncaughtException', dies);
  process.on('unhandledRejection', dies);
  const ended = signalled();
  let server: Server | null = null;
  // From the beginning: it would end a node that starts. What changed since the catalog was read is found without it.
  process.on('SIGHUP', () => void server?.reload());
  const checks = new CheckThread();
  const starting = startServer(settings, checks);
  let isEnding = false;
  void ended.then(() => {
    isEnding = true;
    const { drainDelayMilliseconds, drainMilliseconds } = settings.config;
    endByForceAfter(drainDelayMilliseconds + drainMilliseconds + CLOSE_MILLISECONDS_MAX, log);
    // It may still check Templates for minutes: without them it does not start, and what it has opened is closed again.
    if (server === null) checks.close();
  });
  try {
    server = await starting;
  } catch (error) {
    if (!isEnding) return refused(error, io);
    await checks.ended();
    log.info('stopped');
    return await end(0, log);
  }
  // Not before its threads have started: under other flags V8 refuses what the build compiled for them.
  paceCollections(settings.config.memoryBudgetBytes);
  await ended;
  const threads = await server.stop();
  // `process.exit` would wait for a thread that still checks a Template, and no timer would end that.
  await checks.ended();
  return await end(threads, log);
}

/** @param threads those that do not end */
async function end(threads: number, log: Log): Promise<never> {
  if (threads > 0) log.warn('stopped_by_force', { threads });
  await log.end();
  if (threads > 0) endProcess(EXIT_OK);
  // Here: while the process is taken down on its own, a further signal would find nobody who listens, and kill it.
  process.exit(process.exitCode ?? EXIT_OK);
}

function endByForceAfter(milliseconds: number, log: Log): void {
  setTimeout(() => {
    log.warn('stopped_by_force');
    log.flushSync();
    endProcess(EXIT_OK);
  }, milliseconds);
}

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => resolve());
  });
}

/** What the operator can mend is said in a line; everything else is a fault of ours, with its stack. */
function refused(error: unknown, io: CommandIo): number {
  if (error instanceof DirectoryInUseError || error instanceof FoldersMeetError) {
    io.stderr.write(`template-run serve: ${error.message}\n`);
    return EXIT_USAGE;
  }
  const isKnown = [
    CatalogRefusedError,
    HttpLibraryError,
    LedgerOpenError,
    ListenError,
    RedisOpenError,
    RedisFormatError,
    SharedStoreUnavailableError,
  ].some((known) => error instanceof known);
  if (isKnown || (error instanceof Error && 'code' in error)) {
    io.stderr.write(`template-run serve: ${(error as Error).message}\n`);
    return EXIT_FAILED;
  }
  throw error;
}
