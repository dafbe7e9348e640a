// The process of a node: starts the server, listens to signals, and knows its exit statuses. What a server is, is in
// server.ts.
import { DirectoryInUseError, LedgerOpenError } from './admission/ledger-store.ts';
import { CatalogRefusedError } from './catalog/catalog-store.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, EXIT_USAGE } from './commands/command.ts';
import { FoldersMeetError } from './data-directory.ts';
import { paceCollections } from './heap-growth.ts';
import { ListenError } from './http/app.ts';
import { type Server, type ServerSettings, startServer } from './server.ts';

/** Serves until SIGTERM or SIGINT; resolves with the exit status. A second signal does not hurry it. */
export async function serveNode(settings: ServerSettings, io: CommandIo): Promise<number> {
  const { log } = settings;
  const dies = (fault: unknown): void => {
    log.fault('crash', fault);
    log.flushSync();
    process.exit(EXIT_FAILED);
  };
  process.on('uncaughtException', dies);
  process.on('unhandledRejection', dies);
  const ended = signalled();
  let server: Server | null = null;
  // From the beginning: it would end a node that starts. What changed since the catalog was read is found without it.
  process.on('SIGHUP', () => void server?.reload());
  try {
    server = await startServer(settings);
  } catch (error) {
    return refused(error, io);
  }
  // Not before its threads have started: under other flags V8 refuses what the build compiled for them.
  paceCollections(settings.config.memoryBudgetBytes);
  await ended;
  await server.stop();
  await log.end();
  return EXIT_OK;
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
  const isKnown = [CatalogRefusedError, LedgerOpenError, ListenError].some((known) => error instanceof known);
  if (isKnown || (error instanceof Error && 'code' in error)) {
    io.stderr.write(`template-run serve: ${(error as Error).message}\n`);
    return EXIT_FAILED;
  }
  throw error;
}
