// `template-run send`: sends files to a running service, several in parallel, and downloads the outputs.

import { randomUUID } from 'node:crypto';
import { accessSync, constants, createReadStream, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  type ClientSettings,
  type Run,
  type Target,
  type TemplateRunClient,
  TemplateRunError,
} from '../client/node/template-run-client.ts';
import { makeFolder } from '../runtime/data-directory.ts';
import {
  type Command,
  type CommandIo,
  delimiter,
  EXIT_FAILED,
  EXIT_INTERRUPTED,
  EXIT_OK,
  type Flags,
  flagsHelp,
  JSON_FLAGS,
  onInterrupt,
  parseFlags,
  QUIET_FLAG,
  UsageError,
} from './command.ts';
import { localInput, refuseSecondStandardInput, TemporaryFolder } from './local-input.ts';
import { refuseOverwriting } from './output-targets.ts';
import { SERVICE_FLAGS, serviceClient, serviceFailure, serviceSettings, wholeNumber } from './service-client.ts';
import { Progress, printable } from './terminal.ts';

// Sends files in parallel, and reduces the parallelism if the service has no free slots. The caller sends the files and
// prints the results.

/** Result of sending one file. */
export interface SendEnding {
  readonly isSent: boolean;
  /** The file was refused because the account had as many Runs in flight as its plan allows. */
  readonly lacksSlot: boolean;
  /** Prints the result for the user. Not called for an attempt that will be repeated. */
  report(): void;
}

export interface SendQueue<Item> {
  readonly items: readonly Item[];
  readonly parallel: number;
  /** Sends one file. Throws faults of the program. */
  readonly send: (item: Item) => Promise<SendEnding>;
  /** Cancels sends in progress after a fault. */
  readonly abort: () => void;
}

/**
 * Returns false if a file failed. A file that was refused for lack of a slot is retried as long as other Runs of this
 * queue may hold the slots: it goes back to the queue, and one worker ends. Throws the first fault, after all sends
 * have ended.
 */
export async function sendQueued<Item>({ items, parallel, send, abort }: SendQueue<Item>): Promise<boolean> {
  const left = [...items];
  const faults: unknown[] = [];
  let working = Math.min(parallel, items.length);
  let isAllSent = true;
  const worker = async (): Promise<void> => {
    try {
      for (let item = left.shift(); item !== undefined; ) {
        const hadCompany = working > 1;
        const ending = await send(item);
        // No `await` separates this check from the return, so another worker is still active and will take the file.
        if (ending.lacksSlot && working > 1) return void left.push(item);
        // The Runs that held the slots have ended in the meantime, so this worker retries the file itself.
        if (ending.lacksSlot && hadCompany) continue;
        ending.report();
        isAllSent &&= ending.isSent;
        item = left.shift();
      }
    } catch (fault) {
      faults.push(fault);
      abort();
    } finally {
      working -= 1;
    }
  };
  await Promise.all(Array.from({ length: working }, worker));
  if (faults.length > 0) throw faults[0];
  return isAllSent;
}

// Destinations of the outputs and rejected rows of `send`: a file, or a folder with files for each input. Checked
// before anything is sent, because a Run is charged even if its output cannot be stored. The client writes the files.

/** Suffix of the file name, after the stem. Rejected rows are CSV, independent of the output format. */
const REJECTS = '.rejects';
const REJECTS_ENDING = `${REJECTS}.csv`;

/** Stem of the output's name in a folder if the input is standard input. */
const STANDARD_INPUT_STEM = 'stdin';

interface SendTargets {
  /** Destination of an input's output. In a folder, the extension is that of the Run's output. */
  readonly output: (file: string) => Target;
  /** The output goes to standard output; `output` then returns a temporary file. */
  readonly isStandardOutput: boolean;
  /** Path of an input's rejected rows, beside the output; null: not written. */
  readonly rejects: (file: string) => string | null;
}

/**
 * @param path the value of -o; `-` is standard output
 * @param temporary creates the path of a temporary file for standard output
 * @throws UsageError if files would overwrite each other or a file that is sent, a system error if they cannot be
 * written
 */
function sendTargets(path: string | undefined, files: readonly string[], temporary: () => string): SendTargets {
  if (path === undefined || path === '') throw new UsageError('Write -o FILE or -o DIR for the outputs.');
  if (path === '-') {
    if (files.length > 1) throw new UsageError('Several files need a folder: write -o DIR.');
    refuseOverwriting([null], { files, folders: [] });
    const file = temporary();
    return { output: () => file, rejects: () => null, isStandardOutput: true };
  }
  const known = statSync(path, { throwIfNoEntry: false });
  if (files.length > 1 || path.endsWith('/') || known?.isDirectory() === true) {
    if (known?.isDirectory() === false) throw new UsageError(`${path} is a file, not a folder.`);
    return folderTargets(path, files);
  }
  if (known?.isFile() === false) return { output: () => path, rejects: () => null, isStandardOutput: false };
  const rejects = join(dirname(path), basename(path, extname(path)) + REJECTS_ENDING);
  refuseWrittenOver([path, rejects], files);
  return { output: () => path, rejects: () => rejects, isStandardOutput: false };
}

function folderTargets(folder: string, files: readonly string[]): SendTargets {
  makeFolder(folder);
  const real = realpathSync(folder);
  const beside = files.find((file) => file !== '-' && realFolder(file) === real);
  if (beside !== undefined)
    throw new UsageError(`${folder} contains the input ${beside}: choose a folder that contains only outputs.`);
  const stems = files.map(stemOf);
  refuseSameName(stems);
  const there = targetsThere(folder, new Set(stems));
  refuseWrittenOver(there, files);
  for (const path of there) refuseUnwritable(path);
  return {
    output: (file) => (run) => join(folder, stemOf(file) + endingOf(run.output?.name ?? '')),
    rejects: (file) => join(folder, stemOf(file) + REJECTS_ENDING),
    isStandardOutput: false,
  };
}

/**
 * The extension of a name given by the service. Extensions with anything but letters and digits are dropped, because
 * the result becomes part of a local file name.
 */
function endingOf(name: string): string {
  const ending = extname(name);
  return /^\.[A-Za-z0-9]{1,16}$/.test(ending) ? ending : '';
}

/** The input's name without its extensions. */
function stemOf(file: string): string {
  if (file === '-') return STANDARD_INPUT_STEM;
  const name = basename(file).replace(/\.gz$/i, '');
  return basename(name, extname(name));
}

function refuseSameName(stems: readonly string[]): void {
  const twice = stems.find((stem, index) => stems.indexOf(stem) !== index);
  if (twice !== undefined) throw new UsageError(`Two files would both be written as ${twice}: give them other names.`);
  // The extensions of outputs are not known yet, so any output whose name could equal that of a file with rejected
  // rows is refused.
  const met = stems.find((stem) => stems.includes(stem + REJECTS));
  if (met !== undefined)
    throw new UsageError(
      `An output and rejected rows could both be written as ${met}${REJECTS_ENDING}: give the files other names.`,
    );
}

/** Existing files in the folder whose names outputs (with any extension) or rejected rows could get. */
function targetsThere(folder: string, stems: ReadonlySet<string>): string[] {
  const isTarget = (name: string): boolean =>
    stems.has(basename(name, extname(name))) ||
    (name.endsWith(REJECTS_ENDING) && stems.has(basename(name, REJECTS_ENDING)));
  return readdirSync(folder)
    .filter(isTarget)
    .map((name) => join(folder, name));
}

function refuseWrittenOver(targets: readonly string[], files: readonly string[]): void {
  refuseOverwriting(targets, { files, folders: [] });
  // Two names may be links to the same file.
  const names = new Map<string, string>();
  for (const path of targets) {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) continue;
    const real = realpathSync(path);
    const other = names.get(real);
    if (other !== undefined)
      throw new UsageError(`${other} and ${path} are the same file: each output needs its own file.`);
    names.set(real, path);
  }
}

function refuseUnwritable(path: string): void {
  const known = statSync(path, { throwIfNoEntry: false });
  if (known?.isDirectory() === true && extname(path) !== '')
    throw new UsageError(`${path} is a folder with the name of an output: choose a folder that contains only outputs.`);
  if (known?.isFile() === true) accessSync(path, constants.W_OK);
}

/** Null: the folder does not exist, which is reported when the file is sent. */
function realFolder(file: string): string | null {
  const folder = dirname(file);
  return statSync(folder, { throwIfNoEntry: false }) === undefined ? null : realpathSync(folder);
}

// Transfers of `send` in progress, for the progress line.

const BYTES_PER_MB = 1_000_000;

class SendTransfers {
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

// `template-run send`: sends files to a running service, several in parallel, and downloads the outputs. Transfers
// and retries are the client's (src/client).

/** Default parallelism. On most connections, more transfers would only compete with each other. */
const PARALLEL = 4;
const PARALLEL_MAX = 64;
const FLAGS = {
  ...SERVICE_FLAGS,
  output: {
    kind: 'value',
    short: 'o',
    placeholder: 'PATH',
    purpose:
      'file, or a folder if it exists, ends with / or there are several inputs; "-" is standard output (required)',
  },
  parallel: {
    kind: 'value',
    placeholder: 'N',
    purpose: `number of files that are sent at the same time (${PARALLEL}, or as many Runs as the plan allows in flight)`,
  },
  delimiter: { kind: 'value', placeholder: 'C', purpose: 'field delimiter (as in the Template, otherwise detected)' },
  'header-row': {
    kind: 'value',
    placeholder: 'N',
    purpose: '0-based record of the header (as in the Template, otherwise detected)',
  },
  quiet: QUIET_FLAG,
  ...JSON_FLAGS,
} as const;

export const command: Command = {
  name: 'send',
  usage: `template-run send TEMPLATE FILE... -o FILE or DIR --url URL [--key FILE]

Sends each file ("-" is standard input) to the service with a separate Idempotency-Key, waits for the end of its Run and
downloads the output. Requests that fail because of the connection or a restart of the service are repeated; a Run is
charged once. An output is written completely or not at all. Rows that the Template rejects are written next to it, to
NAME.rejects.csv. Prints a line for each file; failures are on standard error, as CODE: message.

${flagsHelp(FLAGS)}

Exit status: 0 all succeeded, 1 a file failed, 2 usage.`,
  run: sendFiles,
};

interface Sending {
  readonly client: TemplateRunClient;
  readonly template: string;
  readonly targets: SendTargets;
  readonly delimiter: string | null;
  readonly headerRow: number | null;
  readonly signal: AbortSignal;
  readonly isJson: boolean;
  /** No lines about files that succeeded, except with isJson. */
  readonly isQuiet: boolean;
}

/** One file of the command line. */
interface SentFile {
  /** Path as the user wrote it. */
  readonly path: string;
  /** Path that is sent: the file, or a copy of standard input, because every attempt must send the same bytes. */
  readonly source: string;
  /** Unique per file, and reused if the file is sent again. */
  readonly idempotencyKey: string;
}

async function sendFiles(args: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseFlags(args, FLAGS);
  const [template, ...files] = flags.positionals;
  if (template === undefined || files.length === 0) throw new UsageError('Write the id of a Template and a file.');
  const asked = wholeNumber(flags, 'parallel');
  if (asked !== null && (asked < 1 || asked > PARALLEL_MAX))
    throw new UsageError(`--parallel takes 1 to ${PARALLEL_MAX}.`);
  refuseSecondStandardInput([...files, flags.values.get('key')]);
  const folder =
    files.includes('-') || flags.values.get('output') === '-' ? new TemporaryFolder('template-run-send-') : null;
  try {
    return await sendAll(template, files, flags, { io, folder: folder?.path ?? null, parallel: asked });
  } finally {
    folder?.remove();
  }
}

interface SendSurroundings {
  readonly io: CommandIo;
  /** Folder for copies of standard input and for outputs that go to standard output; null: not needed. */
  readonly folder: string | null;
  readonly parallel: number | null;
}

async function sendAll(
  template: string,
  files: readonly string[],
  flags: Flags,
  { io, folder, parallel }: SendSurroundings,
): Promise<number> {
  const targets = sendTargets(flags.values.get('output'), files, () => join(folder!, 'output'));
  const aborter = new AbortController();
  const settings = serviceSettings(flags, io, aborter.signal);
  const sending: Sending = {
    client: serviceClient(settings),
    template,
    targets,
    delimiter: delimiter(flags.values.get('delimiter')),
    headerRow: wholeNumber(flags, 'header-row'),
    signal: aborter.signal,
    isJson: flags.switches.has('json'),
    isQuiet: flags.switches.has('quiet'),
  };
  const sent: SentFile[] = [];
  for (const path of files) {
    const source = path === '-' ? await localInput(path, join(folder!, STANDARD_INPUT_STEM)) : path;
    sent.push({ path, source, idempotencyKey: randomUUID() });
  }
  const interrupt = (): void => aborter.abort();
  const endInterrupts = onInterrupt(interrupt);
  const transfers = new SendTransfers(files.length);
  const shows = flags.switches.has('quiet') ? 'never' : 'auto';
  const progress = new Progress(io.stderr, (seconds) => transfers.line(seconds), shows);
  try {
    const isAllSent = await sendQueued({
      items: sent,
      parallel: parallel ?? (files.length === 1 ? 1 : await parallelOf(settings)),
      send: (file) => sendFile(sending, file, { io, progress, transfers }),
      abort: interrupt,
    });
    if (aborter.signal.aborted) return EXIT_INTERRUPTED;
    return isAllSent ? EXIT_OK : EXIT_FAILED;
  } finally {
    progress.end();
    endInterrupts();
    sending.client.close();
  }
}

/**
 * The service refuses more Runs in flight than the plan allows. If usage cannot be queried (the key lacks the scope,
 * or the service is old), the default applies. Other errors occur again when the files are sent, and are reported
 * then.
 */
async function parallelOf(settings: ClientSettings): Promise<number> {
  const client = serviceClient({ ...settings, retries: 0 });
  try {
    const { ceilings } = await client.usage();
    return Math.max(1, Math.min(PARALLEL, ceilings?.runs_in_flight_max ?? PARALLEL));
  } catch {
    return PARALLEL;
  } finally {
    client.close();
  }
}

interface Terminal {
  readonly io: CommandIo;
  readonly progress: Progress;
  readonly transfers: SendTransfers;
}

async function sendFile(sending: Sending, file: SentFile, { io, progress, transfers }: Terminal): Promise<SendEnding> {
  const { client, template, targets, signal, isJson, isQuiet } = sending;
  const lineUnlessQuiet = (line: string): string | null => (isQuiet && !isJson ? null : line);
  const { path: input, source, idempotencyKey } = file;
  const ending = (isSent: boolean, line: string | null, stream: NodeJS.WritableStream, lacksSlot = false) => ({
    isSent,
    lacksSlot,
    report: (): void => {
      transfers.ended();
      progress.clear();
      if (line !== null) stream.write(`${printable(line)}\n`);
    },
  });
  if (signal.aborted) return ending(false, null, io.stderr);
  try {
    const rejects = targets.rejects(input);
    const { run, ...written } = await client.transform(template, source, targets.output(input), {
      signal,
      idempotencyKey,
      onProgress: ({ phase, bytes }) => transfers.moved(input, phase, bytes),
      ...(rejects === null ? {} : { rejects }),
      ...(sending.delimiter === null ? {} : { delimiter: sending.delimiter }),
      ...(sending.headerRow === null ? {} : { headerRow: sending.headerRow }),
    });
    if (!targets.isStandardOutput)
      return ending(true, lineUnlessQuiet(sentLine(input, run, written, isJson)), io.stdout);
    progress.clear();
    await pipeline(createReadStream(written.path), io.stdout, { end: false });
    return ending(true, lineUnlessQuiet(sentLine(input, run, { path: '-', rejects: null }, isJson)), io.stderr);
  } catch (error) {
    if (signal.aborted) return ending(false, null, io.stderr);
    const lacksSlot = error instanceof TemplateRunError && error.code === 'CONCURRENCY_LIMIT_REACHED';
    return ending(false, failureLine(input, error, isJson), isJson ? io.stdout : io.stderr, lacksSlot);
  }
}

interface Written {
  readonly path: string;
  readonly rejects: string | null;
}

function sentLine(input: string, run: Run, { path, rejects }: Written, isJson: boolean): string {
  if (isJson) return JSON.stringify({ file: input, output: path, ...(rejects === null ? {} : { rejects }), run });
  const cut = run.truncated === true ? ', truncated at the row or size limit' : '';
  const unfetched =
    run.rejects === undefined
      ? ''
      : `, rejected rows not downloaded: they are written next to the output, and ${path} is not a file`;
  const rejected = rejects === null ? unfetched : `, rejected rows in ${rejects}`;
  return `${input}: ${run.rows_written ?? null} rows in ${path}${cut}${rejected}`;
}

/** Faults of the program are rethrown. */
function failureLine(file: string, error: unknown, isJson: boolean): string {
  const { code, message, requestId, line } = serviceFailure(error);
  return isJson ? JSON.stringify({ file, error: { code, message, request_id: requestId } }) : `${file}: ${line}`;
}
