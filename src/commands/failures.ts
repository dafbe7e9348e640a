// Runs the body of a command that changes the catalog: what the catalog refuses is printed and ends with status 1.
import { AccountEditError } from '../catalog/account-editor.ts';
import { FileBusyError } from '../catalog/locked-file.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK } from './command.ts';

/** Faults of ours, and usage errors, go through. */
export async function withCatalogFailures(io: CommandIo, body: () => Promise<void>): Promise<number> {
  try {
    await body();
    return EXIT_OK;
  } catch (error) {
    const isRefusal = error instanceof AccountEditError || error instanceof FileBusyError;
    const system = (error as NodeJS.ErrnoException).syscall === undefined ? null : (error as Error).message;
    if (!isRefusal && system === null) throw error;
    io.stderr.write(`${(error as Error).message}\n`);
    return EXIT_FAILED;
  }
}
