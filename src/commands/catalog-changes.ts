// What commands that change the catalog share: the flag for its folder, and the message if the catalog refuses a
// change.

import { AccountEditError, FileBusyError } from '../catalog/account-editor.ts';
import { environmentName } from '../setting-reader.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, type Flag, type Flags, UsageError } from './command.ts';
import { systemErrorText } from './local-input.ts';

// The catalog folder of a command: --catalog, or the environment variable that `serve` reads too.

export const CATALOG_FLAG = {
  kind: 'value',
  placeholder: 'DIR',
  purpose: `the catalog's folder (${environmentName('catalog')} of the environment)`,
} as const satisfies Flag;

/** Throws a UsageError if neither is given. */
export function catalogDirectory(flags: Flags, io: CommandIo): string {
  const directory = flags.values.get('catalog') ?? io.env[environmentName('catalog')];
  if (directory === undefined || directory === '') {
    throw new UsageError(`Write --catalog DIR, or set ${environmentName('catalog')}.`);
  }
  return directory;
}

/** The positional arguments by name. Throws a UsageError if an argument is missing or superfluous. */
export function positionals<Name extends string>(flags: Flags, names: readonly Name[]): Record<Name, string> {
  const missing = names[flags.positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  const extra = flags.positionals[names.length];
  if (extra !== undefined)
    throw new UsageError(`${JSON.stringify(extra)} is one argument more than this command takes.`);
  return Object.fromEntries(names.map((name, index) => [name, flags.positionals[index]])) as Record<Name, string>;
}

/** Prints a message about success, unless -q is given. */
export function note(io: CommandIo, flags: Flags, text: string): void {
  if (!flags.switches.has('quiet')) io.stderr.write(text);
}

// Runs the body of a command that changes the catalog. If the catalog refuses the change, prints the reason and
// returns status 1.

/** Rethrows faults of the program and usage errors. */
export async function withCatalogFailures(io: CommandIo, body: () => Promise<void>): Promise<number> {
  try {
    await body();
    return EXIT_OK;
  } catch (error) {
    const isRefusal = error instanceof AccountEditError || error instanceof FileBusyError;
    const system = (error as NodeJS.ErrnoException).syscall === undefined ? null : (error as Error).message;
    if (!isRefusal && system === null) throw error;
    io.stderr.write(`${systemErrorText(error as Error)}\n`);
    return EXIT_FAILED;
  }
}
