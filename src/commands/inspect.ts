// `template-run inspect`: one JSON line per file, as the engine reads it when nothing is told.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failed } from '../../workers/failure.ts';
import { inspectFile } from '../../workers/inspect.ts';
import { type Command, type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { parseFlags } from './flags.ts';
import { localInput } from './local-input.ts';

export const command: Command = {
  name: 'inspect',
  usage: `template-run inspect FILE...

Prints one JSON line per file ("-" is standard input): {file, type, encoding, delimiter, quote, header_row, columns,
rows}, or {file, error, message}. header_row counts records from 0 and is null when there is none; columns are
{count, names}.

Exit status: 0 all were read, 1 a file was not, 2 usage.`,
  run: inspectFiles,
};

async function inspectFiles(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals } = parseFlags(args, {});
  if (positionals.length === 0) throw new UsageError('Write a file to inspect.');
  const folder = mkdtempSync(join(tmpdir(), 'template-run-'));
  let status = EXIT_OK;
  try {
    for (const [index, file] of positionals.entries()) {
      const line = await inspectOne(file, join(folder, `${index}.input`));
      if ('error' in line) status = EXIT_FAILED;
      io.stdout.write(`${JSON.stringify(line)}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return status;
}

async function inspectOne(file: string, copyPath: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const { head, rows } = await inspectFile(await localInput(file, copyPath));
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
