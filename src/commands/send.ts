// `template-run send`: sends files to a running service, several at a time, and fetches the outputs. How a file gets there
// and back whatever happens on the way is the client's (src/client).
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type ClientSettings,
  type Run,
  TemplateRunClient,
  TemplateRunError,
} from '../client/node/template-run-client.ts';
import { type Command, type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { delimiter } from './delimiter.ts';
import { type Flags, flagsHelp, parseFlags } from './flags.ts';
import { JSON_FLAGS } from './json-flag.ts';
import { Progress } from './progress.ts';
import { type SendEnding, sendQueued } from './send-queue.ts';
import { type SendTargets, sendTargets } from './send-targets.ts';
import { SendTransfers } from './send-transfers.ts';

const URL_VARIABLE = 'TEMPLATE_RUN_URL';
const KEY_VARIABLE = 'TEMPLATE_RUN_API_KEY';

/** More would wait for each other on most ways to a service. */
const PARALLEL = 4;
const PARALLEL_MAX = 64;
/** 128 and the number of SIGINT, as shells have it. */
const INTERRUPTED_STATUS = 130;
/** What API keys begin with. */
const KEY_PREFIX = 'trs_';

const FLAGS = {
  url: { kind: 'value', placeholder: 'URL', purpose: `where the service is (the variable ${URL_VARIABLE})` },
  key: { kind: 'value', placeholder: 'FILE', purpose: `file with the API key (the variable ${KEY_VARIABLE})` },
  output: {
    kind: 'value',
    short: 'o',
    placeholder: 'PATH',
    purpose: 'file, or folder when it is one, ends in / or there are several inputs (required)',
  },
  parallel: {
    kind: 'value',
    placeholder: 'N',
    purpose: `files on their way at a time (${PARALLEL}, or as many Runs as the plan allows in flight)`,
  },
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
  readonly targets: SendTargets;
  readonly delimiter: string | null;
  readonly headerRow: number | null;
  readonly signal: AbortSignal;
  readonly isJson: boolean;
}

/** One of the command line. */
interface SentFile {
  readonly path: string;
  /** Its own also where it is sent once more. */
  readonly idempotencyKey: string;
}

async function sendFiles(args: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseFlags(args, FLAGS);
  const [template, ...files] = flags.positionals;
  if (template === undefined || files.length === 0) throw new UsageError('Write the id of a Template and a file.');
  const asked = number(flags, 'parallel');
  if (asked !== null && (asked < 1 || asked > PARALLEL_MAX))
    throw new UsageError(`--parallel takes 1 to ${PARALLEL_MAX}.`);
  const targets = sendTargets(flags.values.get('output'), files);
  const aborter = new AbortController();
  const settings = settingsOf(flags, io, aborter.signal);
  const sending: Sending = {
    client: clientOf(settings),
    template,
    targets,
    delimiter: delimiter(flags.values.get('delimiter')),
    headerRow: number(flags, 'header-row'),
    signal: aborter.signal,
    isJson: flags.switches.has('json'),
  };
  const interrupt = (): void => aborter.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const transfers = new SendTransfers(files.length);
  const progress = new Progress(io.stderr, (seconds) => transfers.line(seconds));
  try {
    const isAllSent = await sendQueued({
      items: files.map((path): SentFile => ({ path, idempotencyKey: randomUUID() })),
      parallel: asked ?? (files.length === 1 ? 1 : await parallelOf(settings)),
      send: (file) => sendFile(sending, file, { io, progress, transfers }),
      abort: interrupt,
    });
    if (aborter.signal.aborted) return INTERRUPTED_STATUS;
    return isAllSent ? EXIT_OK : EXIT_FAILED;
  } finally {
    progress.end();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    sending.client.close();
  }
}

/**
 * More than the plan lets be in flight would be refused. A key may lack the scope to ask, and a service be an old one; what
 * else goes wrong is waited for, and told, with each file.
 */
async function parallelOf(settings: ClientSettings): Promise<number> {
  const client = clientOf({ ...settings, retries: 0 });
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
  const { client, template, targets, signal, isJson } = sending;
  const { path: input, idempotencyKey } = file;
  const ending = (isSent: boolean, line: string | null, stream: NodeJS.WritableStream, lacksSlot = false) => ({
    isSent,
    lacksSlot,
    tell: (): void => {
      transfers.ended();
      progress.clear();
      if (line !== null) stream.write(`${line}\n`);
    },
  });
  if (signal.aborted) return ending(false, null, io.stderr);
  try {
    const rejects = targets.rejects(input);
    const { run, ...written } = await client.transform(template, input, targets.output(input), {
      signal,
      idempotencyKey,
      onProgress: ({ phase, bytes }) => transfers.moved(input, phase, bytes),
      ...(rejects === null ? {} : { rejects }),
      ...(sending.delimiter === null ? {} : { delimiter: sending.delimiter }),
      ...(sending.headerRow === null ? {} : { headerRow: sending.headerRow }),
    });
    return ending(true, sentLine(input, run, written, isJson), io.stdout);
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
  const cut = run.truncated === true ? ', cut at the cap' : '';
  const unfetched = run.rejects === undefined ? '' : `, rejected rows not fetched: ${path} is no file to lie beside`;
  const rejected = rejects === null ? unfetched : `, rejected rows in ${rejects}`;
  return `${input}: ${run.rows_written ?? null} rows in ${path}${cut}${rejected}`;
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

function settingsOf(flags: Flags, io: CommandIo, signal: AbortSignal): ClientSettings {
  const baseUrl = flags.values.get('url') ?? io.env[URL_VARIABLE];
  if (baseUrl === undefined) throw new UsageError(`Write --url, or set ${URL_VARIABLE}.`);
  const keyFile = flags.values.get('key');
  const apiKey = keyFile === undefined ? io.env[KEY_VARIABLE] : keyIn(keyFile);
  if (apiKey === undefined) throw new UsageError(`Write --key FILE, or set ${KEY_VARIABLE}.`);
  const retries = number(flags, 'retries');
  return { baseUrl, apiKey, signal, ...(retries === null ? {} : { retries }) };
}

function keyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    // The system's message would hold it: on a terminal, in a log.
    if (!file.includes(KEY_PREFIX)) throw error;
    throw new UsageError('--key takes a file with the API key, and not the key: no such file can be read.');
  }
}

function clientOf(settings: ClientSettings): TemplateRunClient {
  try {
    return new TemplateRunClient(settings);
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
