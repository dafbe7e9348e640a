// The process of a node: starts the server, handles signals, and decides the exit status. server.ts defines what a
// server consists of.
import { CatalogRefusedError } from './catalog/catalog-store.ts';
import { CheckThread } from './catalog/check-thread.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, EXIT_USAGE } from './commands/command.ts';
import { systemErrorText } from './commands/local-input.ts';
import { ListenError } from './http/http-server.ts';
import { HttpLibraryError } from './http/uws-front-end.ts';
import { FolderPlaceError } from './outputs/folder-place.ts';
import { FoldersOverlapError } from './runtime/data-directory.ts';
import { endProcess, paceCollections } from './runtime/process-settings.ts';
import { type Server, type ServerSettings, startServer } from './server.ts';
import { DirectoryInUseError, LedgerOpenError } from './stores/leveldb/ledger-store.ts';
import { FolderMarkError, RedisOpenError } from './stores/redis/check-redis.ts';
import { RedisFormatError } from './stores/redis/membership.ts';
import { SharedStoreUnavailableError } from './stores/stores.ts';
import type { Log } from './telemetry/log.ts';

/**
 * Maximum time after the drain deadline for abandoning all work and closing everything. The threads have up to 4 s of
 * it, and the rest is for the stores. If the process still exists then, a disk or a server does not respond. The time
 * is not shorter because threads that end late, on a busy machine, would end the process by a signal.
 */
const CLOSE_MILLISECONDS_MAX = 10_000;

/**
 * Serves until SIGTERM or SIGINT, and then ends the process with status 0, at most CLOSE_MILLISECONDS_MAX after the
 * drain deadline. Resolves with a status if the node could not be started. Further signals are ignored.
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
  // Registered first, because the signal would otherwise end a starting node. Changes since the catalog was read are
  // detected anyway.
  process.on('SIGHUP', () => void server?.reload());
  const checks = new CheckThread();
  const starting = startServer(settings, checks);
  let isEnding = false;
  void ended.then(() => {
    isEnding = true;
    const { drainDelayMilliseconds, drainMilliseconds } = settings.config;
    endByForceAfter(drainDelayMilliseconds + drainMilliseconds + CLOSE_MILLISECONDS_MAX, log);
    // Template checks may take minutes more. Ending them stops the start, and everything already opened is closed
    // again.
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
  // The flags of V8 are set only after the threads have started. Otherwise, V8 would reject the code cache of the
  // build.
  paceCollections(settings.config.memoryBudgetBytes);
  await ended;
  const threads = await server.stop();
  // `process.exit` would wait for a thread that is still checking a Template, and no timer could end it.
  await checks.ended();
  return await end(threads, log);
}

/** @param threads number of threads that do not end */
async function end(threads: number, log: Log): Promise<never> {
  if (threads > 0) log.warn('stopped_by_force', { threads });
  await log.end();
  if (threads > 0) endProcess(EXIT_OK);
  // Called explicitly: if the process ended by itself, a further signal would find no handler during the shutdown and
  // kill it.
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

/**
 * An error that the operator can correct is reported in one line. Any other error is a fault of the service and is
 * reported with its stack.
 */
function refused(error: unknown, io: CommandIo): number {
  if (error instanceof DirectoryInUseError || error instanceof FoldersOverlapError) {
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
    FolderMarkError,
    FolderPlaceError,
    SharedStoreUnavailableError,
  ].some((known) => error instanceof known);
  if (isKnown || (error instanceof Error && 'code' in error)) {
    io.stderr.write(`template-run serve: ${systemErrorText(error as Error)}\n`);
    return EXIT_FAILED;
  }
  throw error;
}
