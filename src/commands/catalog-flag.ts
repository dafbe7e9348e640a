// Where the commands find the catalog: --catalog, or the variable that `serve` reads too.
import { environmentName } from '../setting-reader.ts';
import { type CommandIo, UsageError } from './command.ts';
import type { Flag, Flags } from './flags.ts';

export const CATALOG_FLAG = {
  kind: 'value',
  placeholder: 'DIR',
  purpose: `the catalog's folder (${environmentName('catalog')} of the environment)`,
} as const satisfies Flag;

/** Throws a UsageError when neither is given. */
export function catalogDirectory(flags: Flags, io: CommandIo): string {
  const directory = flags.values.get('catalog') ?? io.env[environmentName('catalog')];
  if (directory === undefined || directory === '') {
    throw new UsageError(`Write --catalog DIR, or set ${environmentName('catalog')}.`);
  }
  return directory;
}

/** The positional arguments, by name. Throws a UsageError when one is missing or there are more. */
export function positionals<Name extends string>(flags: Flags, names: readonly Name[]): Record<Name, string> {
  const missing = names[flags.positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  const extra = flags.positionals[names.length];
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one argument too many.`);
  return Object.fromEntries(names.map((name, index) => [name, flags.positionals[index]])) as Record<Name, string>;
}
