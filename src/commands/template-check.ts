// `template check`: every problem of Template files, with its place and what to write instead; and what is no mistake but
// may not be meant, as notes.
import { undeclaredNotes } from '../../workers/template/undeclared-columns.ts';
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
    const notes = file.template === null ? [] : undeclaredNotes(file.template);
    if (switches.has('json')) io.stdout.write(`${JSON.stringify({ file: path, problems: file.problems, notes })}\n`);
    else if (file.problems.length > 0) io.stdout.write(problemLines(file));
    else io.stdout.write(`${path}: sound\n${notes.map((note) => `  note: ${note}\n`).join('')}`);
  }
  return status;
}
