// `template check`: every problem of Template files, with its place and what to write instead.
import { type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { parseFlags } from './flags.ts';
import { problemLines, readTemplateFile } from './template-file.ts';

/** Problems go to standard output, one line each; with --json one line for each file. */
export async function checkFiles(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals, switches } = parseFlags(args, { json: { kind: 'switch' } });
  if (positionals.length === 0) throw new UsageError('Write one or more Template files.');
  let status = EXIT_OK;
  for (const path of positionals) {
    const file = await readTemplateFile(path);
    if (file.problems.length > 0) status = EXIT_FAILED;
    if (switches.has('json')) io.stdout.write(`${JSON.stringify({ file: path, problems: file.problems })}\n`);
    else io.stdout.write(file.problems.length === 0 ? `${path}: sound\n` : problemLines(file));
  }
  return status;
}
