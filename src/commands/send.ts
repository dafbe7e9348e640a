// `template-run send`: sends files to a running service, several at a time, and fetches the outputs. How a file gets there
// and back whatever happens on the way is the client's (src/client).
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { type Run, TemplateRunClient, TemplateRunError } from '../client/node/template-run-client.ts';
import { makeFolder } from '../runtime/make-folder.ts';
import { type Command, type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { delimiter } from './delimiter.ts';
import { type Flags, flagsHelp, parseFlags } from './flags.ts';
import { JSON_FLAGS } from './json-flag.ts';
import { Progress } from './progress.ts';
import { refuseOverwriting } from './refuse-overwriting.ts';

const URL_VARIABLE = 'TEMPLATE_RUN_URL';
const KEY_VARIABLE = 'TEMPLATE_RUN_API_KEY';

/** As many as the smallest plans let be in flight; those that are refused come again. */
const PARALLEL = 4;
const PARALLEL_MAX = 64;
/** 128 and the number of SIGINT, as shells have it. */
const INTERRUPTED_STATUS = 130;
const BYTES_PER_MB = 1_000_000;

const FLAGS = {
  url: { kind: 'value', placeholder: 'URL', purpose: `where the service is (the variable ${URL_VARIABLE})` },
  key: { kind: 'value', placeholder: 'FILE', purpose: `file with the API key (the variable ${KEY_VARIABLE})` },
  output: {
    kind: 'value',
    short: 'o',
    placeholder: 'PATH',
    purpose: 'file, or folder when it is one, ends in / or there are several inputs (required)',
  },
  parallel: { kind: 'value', placeholder: 'N', purpose: `files on their way at a time (${PARALLEL})` },
  retries: { kind: 'value', placeholder: 'N', purpose: 'how often a request is tried again (5)' },
  delimiter: { kind: 'value', placeholder: 'C', purpose: 'field delimiter (as the Template says, else detected)' },
  'header-row': {
    kind: 'value',
    placeholder: 'N',
    purpose: '0-based record of the header (as the Template says, else detected)',
  },
  ...JSON_FLAGS,
} as const;

export const command: Command = {
  name: 'send',
  usage: `template-run send TEMPLATE FILE... -o FILE or DIR --url URL [--key FILE]

Sends each file to the service under an Idempotency-Key of its own, follows its Run to the end and fetches the output. What
a bad connection or a restart of the service interrupts is tried again; a Run is charged once. An output is written whole,
or not at all; rows that the Template rejects go beside it, into NAME.rejects.csv. Prints a line for each file; failures are
on standard error, as CODE: message.

${flagsHelp(FLAGS)}

Exit status: 0 all succeeded, 1 a file failed, 2 usage.`,
  run: sendFiles,
};

interface Sending {
  readonly client: TemplateRunClient;
  readonly template: string;
  /** Where the output goes; a folder gets one file for each input. */
  readonly output: { readonly path: string; readonly isFolder: boolean };
  readonly delimiter: string | null;
  readonly headerRow: number | null;
  readonly signal: AbortSignal;
  readonly isJson: boolean;
}

async function sendFiles(args: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseFlags(args, FLAGS);
  const [template, ...files] = flags.positionals;
  if (template === undefined || files.length === 0) throw new UsageError('Write the id of a Template and a file.');
  const parallel = number(flags, 'parallel') ?? PARALLEL;
  if (parallel < 1 || parallel > PARALLEL_MAX) throw new UsageError(`--parallel takes 1 to ${PARALLEL_MAX}.`);
  const output = outputOf(flags.values.get('output'), files);
  const aborter = new AbortController();
  const sending: Sending = {
    client: clientOf(flags, io, aborter.signal),
    template,
    output,
    delimiter: delimiter(flags.values.get('delimiter')),
    headerRow: number(flags, 'header-row'),
    signal: aborter.signal,
    isJson: flags.switches.has('json'),
  };
  const interrupt = (): void => aborter.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const transfers = new Transfers(files.length);
  const progress = new Progress(io.stderr, (seconds) => transfers.line(seconds));
  let status = EXIT_OK;
  try {
    await inParallel(files, parallel, async (file) => {
      const isSent = await sendFile(sending, file, { io, progress, transfers });
      if (!isSent) status = EXIT_FAILED;
    });
    return aborter.signal.aborted ? INTERRUPTED_STATUS : status;
  } finally {
    progress.end();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    sending.client.close();
  }
}

interface Terminal {
  readonly io: CommandIo;
  readonly progress: Progress;
  readonly transfers: Transfers;
}

/** False: it failed, and was told. */
async function sendFile(sending: Sending, file: string, { io, progress, transfers }: Terminal): Promise<boolean> {
  const { client, template, output, signal, isJson } = sending;
  if (signal.aborted) return false;
  const tell = (line: string, stream: NodeJS.WritableStream): void => {
    progress.clear();
    stream.write(`${line}\n`);
  };
  try {
    const target = output.isFolder ? (run: Run) => join(output.path, outputName(file, run)) : output.path;
    const { run, path } = await client.transform(template, file, target, {
      signal,
      onProgress: ({ phase, bytes }) => transfers.moved(file, phase, bytes),
      ...(sending.delimiter === null ? {} : { delimiter: sending.delimiter }),
      ...(sending.headerRow === null ? {} : { headerRow: sending.headerRow }),
    });
    const rows = run.rows_written ?? null;
    const cut = run.truncated === true ? ', cut at the cap' : '';
    const rejects = run.rejects === undefined ? null : rejectsPath(path);
    if (rejects !== null) await client.download(run, rejects, { signal, file: 'rejects' });
    const rejected = rejects === null ? '' : `, rejected rows in ${rejects}`;
    if (isJson) tell(JSON.stringify({ file, output: path, ...(rejects === null ? {} : { rejects }), run }), io.stdout);
    else tell(`${file}: ${rows} rows in ${path}${cut}${rejected}`, io.stdout);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    tell(failureLine(file, error, isJson), isJson ? io.stdout : io.stderr);
    return false;
  } finally {
    transfers.ended();
  }
}

/** Faults of ours are thrown on. */
function failureLine(file: string, error: unknown, isJson: boolean): string {
  if (error instanceof TemplateRunError) {
    const { code, message, requestId } = error;
    if (isJson) return JSON.stringify({ file, error: { code, message, request_id: requestId } });
    return `${file}: ${code}: ${message}${requestId === null ? '' : ` (request ${requestId})`}`;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return isJson ? JSON.stringify({ file, error: { code, message, request_id: null } }) : `${file}: ${message}`;
}

/** Beside the output: they are CSV, whatever that is. */
function rejectsPath(output: string): string {
  return join(dirname(output), `${basename(output, extname(output))}.rejects.csv`);
}

/** The input's name with the output's ending. */
function outputName(file: string, run: Run): string {
  const name = basename(file).replace(/\.gz$/i, '');
  return basename(name, extname(name)) + extname(run.output?.name ?? '');
}

/** Checked before anything is sent, as the client looks whether it can write: a Run is charged, whatever becomes of its output. */
function outputOf(path: string | undefined, files: readonly string[]): Sending['output'] {
  if (path === undefined || path === '') throw new UsageError('Write with -o where the outputs go.');
  const known = statSync(path, { throwIfNoEntry: false });
  const isFolder = files.length > 1 || path.endsWith('/') || known?.isDirectory() === true;
  if (!isFolder) {
    refuseOverwriting([path], { files, folders: [] });
    return { path, isFolder };
  }
  if (known?.isDirectory() === false) throw new UsageError(`${path} is a file, not a folder.`);
  makeFolder(path);
  const folder = realpathSync(path);
  const beside = files.find((file) => realFolder(file) === folder);
  if (beside !== undefined) throw new UsageError(`${path} holds ${beside} too: choose a folder for outputs alone.`);
  const stems = files.map((file) => outputName(file, { id: '', status: 'running', template_id: '', created_at: '' }));
  const twice = stems.find((stem, index) => stems.indexOf(stem) !== index);
  if (twice !== undefined) throw new UsageError(`Two files would both be written as ${twice}: give them other names.`);
  return { path, isFolder };
}

/** null: there is no such folder, which the sending of the file tells. */
function realFolder(file: string): string | null {
  const folder = dirname(file);
  return statSync(folder, { throwIfNoEntry: false }) === undefined ? null : realpathSync(folder);
}

function clientOf(flags: Flags, io: CommandIo, signal: AbortSignal): TemplateRunClient {
  const baseUrl = flags.values.get('url') ?? io.env[URL_VARIABLE];
  if (baseUrl === undefined) throw new UsageError(`Write --url, or set ${URL_VARIABLE}.`);
  const keyFile = flags.values.get('key');
  const apiKey = keyFile === undefined ? io.env[KEY_VARIABLE] : readFileSync(keyFile, 'utf8').trim();
  if (apiKey === undefined) throw new UsageError(`Write --key FILE, or set ${KEY_VARIABLE}.`);
  const retries = number(flags, 'retries');
  try {
    return new TemplateRunClient({ baseUrl, apiKey, signal, ...(retries === null ? {} : { retries }) });
  } catch (error) {
    // What the client says of its settings: an address that is none, a key with a line end in it.
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

function number({ values }: Flags, flag: string): number | null {
  const text = values.get(flag);
  if (text === undefined) return null;
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${flag} takes a whole number.`);
  return Number(text);
}

/** What is on its way, for the line on the terminal. */
class Transfers {
  readonly #files: number;
  readonly #bytes = new Map<string, number>();
  #ended = 0;

  constructor(files: number) {
    this.#files = files;
  }

  moved(file: string, phase: string, bytes: number): void {
    this.#bytes.set(`${phase} ${file}`, bytes);
  }

  ended(): void {
    this.#ended += 1;
  }

  line(seconds: number): string {
    const sum = (phase: string): string => {
      const bytes = [...this.#bytes]
        .filter(([name]) => name.startsWith(phase))
        .reduce((all, [, each]) => all + each, 0);
      return (bytes / BYTES_PER_MB).toFixed(1);
    };
    return `${this.#ended} of ${this.#files} done, ${sum('upload')} MB sent, ${sum('download')} MB received, ${seconds} s`;
  }
}

async function inParallel(
  files: readonly string[],
  parallel: number,
  work: (file: string) => Promise<void>,
): Promise<void> {
  const left = files.values();
  const worker = async (): Promise<void> => {
    for (const file of left) await work(file);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, files.length) }, worker));
}
