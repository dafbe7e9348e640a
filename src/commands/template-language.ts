// `template schema` and `template docs`: the language itself, printed from the definitions that the checker uses.
import { templateLanguage } from '../../workers/plan/template-language.ts';
import { compactSchema } from '../../workers/template/compact-schema.ts';
import { templateReference } from '../../workers/template/reference.ts';
import { publishedSchema } from '../../workers/template/schema.ts';
import { type CommandIo, EXIT_OK, UsageError } from './command.ts';
import { parseFlags } from './flags.ts';

export const SCHEMA_FLAGS = {
  full: {
    kind: 'switch',
    purpose: 'also the parameters of the long form, {op: name, ...}: for programs that check Templates by it (off)',
  },
} as const;

/** For editors, unless it is asked for in full. */
export async function printSchema(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals, switches } = parseFlags(args, SCHEMA_FLAGS);
  if (positionals.length > 0) throw new UsageError('This takes no arguments.');
  const schema = switches.has('full')
    ? JSON.stringify(publishedSchema(templateLanguage), null, 2)
    : JSON.stringify(compactSchema(templateLanguage));
  io.stdout.write(`${schema}\n`);
  return EXIT_OK;
}

export async function printReference(args: readonly string[], io: CommandIo): Promise<number> {
  takesNothing(args);
  io.stdout.write(templateReference(templateLanguage));
  return EXIT_OK;
}

function takesNothing(args: readonly string[]): void {
  if (parseFlags(args, {}).positionals.length > 0) throw new UsageError('This takes no arguments.');
}
