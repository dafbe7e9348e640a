// `template-run templates`, `usage`, `get` and `wait`: ask a service about an account's Templates, its usage and one
// Run. `get` and `wait` also fetch the output of the Run.
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Run, TemplateRunClient, Usage } from '../client/node/template-run-client.ts';
import {
  type Command,
  type CommandIo,
  EXIT_FAILED,
  EXIT_INTERRUPTED,
  EXIT_OK,
  type Flag,
  type Flags,
  flagsHelp,
  JSON_FLAGS,
  onInterrupt,
  parseFlags,
  QUIET_FLAG,
  UsageError,
} from './command.ts';
import { withTemporaryFolder } from './local-input.ts';
import { SERVICE_FLAGS, serviceClient, serviceFailure, serviceSettings } from './service-client.ts';
import { Progress, painted, printable, printTable } from './terminal.ts';

const QUERY_FLAGS = { ...SERVICE_FLAGS, ...JSON_FLAGS } as const;

const RUN_FLAGS = {
  ...SERVICE_FLAGS,
  output: {
    kind: 'value',
    short: 'o',
    placeholder: 'PATH',
    purpose: 'file for the output of the Run; "-" is standard output (it is not fetched)',
  },
  rejects: {
    kind: 'value',
    placeholder: 'PATH',
    purpose: 'file for the rejected rows of the Run; "-" is standard output (they are not fetched)',
  },
  quiet: { ...QUIET_FLAG, purpose: 'no progress, and no state of a Run that succeeded or is running (off)' },
  ...JSON_FLAGS,
} as const;

const EXIT_TEXT = 'Exit status: 0 success, 1 the service cannot be reached or refuses';

export const templates: Command = {
  name: 'templates',
  usage: `template-run templates --url URL [--key FILE]

Lists the Templates that the account of the key may use.

${flagsHelp(QUERY_FLAGS)}

${EXIT_TEXT}, 2 usage.`,
  run: (args, io) =>
    asking(args, io, { known: QUERY_FLAGS, words: [] }, async (client, { isJson }) => {
      const list = await client.templates();
      if (isJson) return writeJson(io, list);
      const rows = list.map(({ id, name, output_format, description }) =>
        [id, name ?? '', output_format ?? '', firstLine(description)].map(printable),
      );
      printTable(io, ['TEMPLATE', 'NAME', 'OUTPUT', 'DESCRIPTION'], rows);
      return EXIT_OK;
    }),
};

export const usage: Command = {
  name: 'usage',
  usage: `template-run usage --url URL [--key FILE]

Shows how much of its plan the account of the key has used, and the limits of the plan.

${flagsHelp(QUERY_FLAGS)}

${EXIT_TEXT}, 2 usage.`,
  run: (args, io) =>
    asking(args, io, { known: QUERY_FLAGS, words: [] }, async (client, { isJson }) => {
      const found = await client.usage();
      if (isJson) return writeJson(io, found);
      printTable(io, ['LIMIT', 'VALUE'], usageRows(found));
      return EXIT_OK;
    }),
};

export const get: Command = {
  name: 'get',
  usage: `template-run get RUN --url URL [--key FILE] [-o FILE]

Shows the state of a Run. With -o the output of a Run that has succeeded is written to a file, completely or not at all.

${flagsHelp(RUN_FLAGS)}

${EXIT_TEXT}, 2 usage.`,
  run: (args, io) => showRun(args, io, (client, id) => client.get(id)),
};

export const wait: Command = {
  name: 'wait',
  usage: `template-run wait RUN --url URL [--key FILE] [-o FILE]

Waits until a Run has ended, and shows its state. With -o its output is written to a file, completely or not at all.

${flagsHelp(RUN_FLAGS)}

${EXIT_TEXT}, or the Run failed, 2 usage.`,
  run: (args, io) => showRun(args, io, (client, id) => client.wait(id), true),
};

interface Question {
  readonly known: Readonly<Record<string, Flag>>;
  /** Names of the arguments. */
  readonly words: readonly string[];
}

interface Asked {
  readonly flags: Flags;
  readonly isJson: boolean;
}

/** Runs the question with a client, and prints its failure. */
async function asking(
  args: readonly string[],
  io: CommandIo,
  { known, words }: Question,
  ask: (client: TemplateRunClient, asked: Asked) => Promise<number>,
): Promise<number> {
  const flags = parseFlags(args, known);
  if (flags.positionals.length < words.length) throw new UsageError(`Write ${words.join(' ')}.`);
  const more = flags.positionals[words.length];
  if (more !== undefined) throw new UsageError(`${JSON.stringify(more)} is one argument more than this command takes.`);
  const aborter = new AbortController();
  const client = serviceClient(serviceSettings(flags, io, aborter.signal));
  const interrupt = (): void => aborter.abort();
  const endInterrupts = onInterrupt(interrupt);
  try {
    return await ask(client, { flags, isJson: flags.switches.has('json') });
  } catch (error) {
    if (aborter.signal.aborted) return EXIT_INTERRUPTED;
    io.stderr.write(`${painted(io, 'stderr', 'error', printable(serviceFailure(error).line))}\n`);
    return EXIT_FAILED;
  } finally {
    endInterrupts();
    client.close();
  }
}

function showRun(
  args: readonly string[],
  io: CommandIo,
  ask: (client: TemplateRunClient, id: string) => Promise<Run>,
  isFailureCounted = false,
): Promise<number> {
  return asking(args, io, { known: RUN_FLAGS, words: ['RUN'] }, async (client, { flags, isJson }) => {
    const [output, rejects] = [flags.values.get('output'), flags.values.get('rejects')];
    if (output === '-' && rejects === '-')
      throw new UsageError('Output and rejected rows would both be written to standard output: write -o FILE.');
    const [id, isQuiet] = [flags.positionals[0]!, flags.switches.has('quiet')];
    const run = await withProgress(`${id}: waiting`, isQuiet, io, () => ask(client, id));
    // Standard output carries either a file or the state of the Run.
    const stream = output === '-' || rejects === '-' ? io.stderr : io.stdout;
    if (isJson || run.status === 'failed' || !isQuiet)
      stream.write(`${printable(isJson ? JSON.stringify(run) : runLine(run))}\n`);
    const wantsFile = output !== undefined || rejects !== undefined;
    if (run.status !== 'succeeded')
      return wantsFile || (isFailureCounted && run.status === 'failed') ? EXIT_FAILED : EXIT_OK;
    if (output !== undefined)
      await withProgress(`${id}: fetching the output`, isQuiet, io, () =>
        output === '-' ? printFile(client, run, 'output', io) : client.download(run, output),
      );
    if (rejects === undefined) return EXIT_OK;
    if (run.rejects === undefined)
      throw Object.assign(new Error('The Run has no rejected rows.'), { code: 'NO_REJECTS' });
    if (rejects === '-') await printFile(client, run, 'rejects', io);
    else await client.download(run, rejects, { file: 'rejects' });
    return EXIT_OK;
  });
}

/** Calls `body` while a progress line says what the command does. */
async function withProgress<T>(what: string, isQuiet: boolean, io: CommandIo, body: () => Promise<T>): Promise<T> {
  const progress = new Progress(io.stderr, (seconds) => `${printable(what)}, ${seconds} s`, isQuiet ? 'never' : 'auto');
  try {
    return await body();
  } finally {
    progress.end();
  }
}

/** Fetches into a temporary file first, so that an incomplete file is never printed. */
async function printFile(
  client: TemplateRunClient,
  run: Run,
  file: 'output' | 'rejects',
  io: CommandIo,
): Promise<void> {
  await withTemporaryFolder('template-run-get-', async (folder) => {
    const path = join(folder, file);
    await client.download(run, path, { file });
    await pipeline(createReadStream(path), io.stdout, { end: false });
  });
}

function runLine({ id, status, created_at, error, rows_written, truncated, output, rejects, expires_at }: Run): string {
  if (status === 'running') return `${id}: running since ${created_at}`;
  if (status === 'failed') return `${id}: failed, ${error?.code ?? 'INTERNAL_ERROR'}: ${error?.message ?? ''}`;
  return [
    `${id}: succeeded`,
    ...(rows_written == null
      ? []
      : [`${rows_written} rows written${truncated === true ? ', truncated at the row or size limit' : ''}`]),
    ...(output == null ? [] : [`output ${output.name} (${output.size_bytes} bytes)`]),
    ...(rejects === undefined ? [] : [`rejected rows ${rejects.name} (${rejects.size_bytes} bytes)`]),
    ...(expires_at == null ? [] : [`kept until ${expires_at}`]),
  ].join(', ');
}

function usageRows({ used, limit, resets_at, runs_in_flight, ceilings }: Usage): readonly (readonly string[])[] {
  const ofLimit = (value: number, limit: number | null): string =>
    limit === null ? `${value}` : `${value} of ${limit}`;
  return [
    ['Runs in this period', ofLimit(used, limit)],
    ['next period begins', resets_at],
    ['Runs in flight', ofLimit(runs_in_flight, ceilings.runs_in_flight_max)],
    ['bytes of an upload', limitText(ceilings.upload_bytes_max)],
    ['bytes after decompression', limitText(ceilings.inflated_bytes_max)],
    ['rows of a file', limitText(ceilings.rows_max)],
    ['rows of an output', limitText(ceilings.output_rows_max)],
    ['bytes of an output', limitText(ceilings.output_bytes_max)],
  ];
}

function limitText(limit: number | null): string {
  return limit === null ? 'no limit' : `at most ${limit}`;
}

function firstLine(text: string | null | undefined): string {
  return (text ?? '').split('\n')[0]!;
}

function writeJson(io: CommandIo, value: unknown): number {
  io.stdout.write(`${JSON.stringify(value)}\n`);
  return EXIT_OK;
}
