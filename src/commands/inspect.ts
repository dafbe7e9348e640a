// `template-run inspect`: one JSON line per file, as the engine reads it when nothing is told.
import { Failed } from '../../workers/failure.ts';
import { inspectFile } from '../../workers/inspect.ts';
import { type Command, type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { parseFlags } from './flags.ts';

export const command: Command = {
  name: 'inspect',
  usage: `template-run inspect FILE...

Prints one JSON line per file: {file, type, encoding, delimiter, quote, header_row, columns, rows}, or
{file, error, message}. header_row counts records from 0 and is null when there is none; columns are {count, names}.

Exit status: 0 all were read, 1 a file was not, 2 usage.`,
  run: inspectFiles,
};

async function inspectFiles(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals } = parseFlags(args, {});
  if (positionals.length === 0) throw new UsageError('Write a file to inspect.');
  let status = EXIT_OK;
  for (const file of positionals) {
    const line = await inspectOne(file);
    if ('error' in line) status = EXIT_FAILED;
    io.stdout.write(`${JSON.stringify(line)}\n`);
  }
  return status;
}

async function inspectOne(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const { head, rows } = await inspectFile(file);
    return {
      file,
      type: head.type,
      encoding: head.encoding,
      delimiter: head.delimiter,
      quote: head.quote,
      header_row: head.headerRow,
      columns: { count: head.headers.length, names: head.headerRow === null ? [] : head.headers },
      rows,
    };
  } catch (error) {
    if (error instanceof Failed) return { file, error: error.failure.code, message: error.failure.message };
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { file, error: code, message };
  }
}
