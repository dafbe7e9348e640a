// What a client does, whatever carries its requests: makes Runs, follows them to their end, and tries again what may be
// tried again. Node and browsers add how files are opened and kept (node/, browser/).
import { type RunAnswer, readRun, readTemplates, readUsage, refuseErrors } from './answers.ts';
import type { Run, Template, Usage } from './api-schemas.ts';
import { RunFailedError } from './errors.ts';
import { delayMilliseconds, retrying, wait } from './retries.ts';
import type { Transport, TransportAnswer, Upload } from './transport.ts';

/** Six tries in about 8 s, or more where the service asks for it: a restart of the service lies within. */
const RETRIES = 5;
/** A POST waits 30 s for its Run before the first byte of its answer comes. */
const IDLE_MILLISECONDS = 90_000;
/** Between two looks at a Run whose answer does not say when to come again. */
const POLL_SECONDS = 1;
/** As long as a repeat may have to wait. Beyond 24 days a timer does not wait at all. */
const POLL_SECONDS_MAX = 300;

export interface ClientSettings {
  /** Origin of the service, with a path where it lies behind one: https://runs.example.com */
  readonly baseUrl: string | URL;
  readonly apiKey: string;
  /** How often a request is tried again; 5 unless set. */
  readonly retries?: number;
  /** Ends everything that the client does. */
  readonly signal?: AbortSignal;
  /** A connection on which nothing moves for so long is lost; 90 s unless set, and more than the service's --wait-ms. */
  readonly idleMilliseconds?: number;
}

export interface Progress {
  readonly phase: 'upload' | 'download';
  /** Of this try: it begins at 0 again when an upload is tried again. */
  readonly bytes: number;
  /** null: not known before the end. */
  readonly totalBytes: number | null;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface TransferOptions extends CallOptions {
  readonly onProgress?: (progress: Progress) => void;
}

export interface RunOptions extends TransferOptions {
  /** In place of the one that is detected. */
  readonly delimiter?: string;
  /** The record of the header, counted from 0, in place of the one that is detected. */
  readonly headerRow?: number;
  /** Made by the client unless given. Whoever repeats a call after a crash of its own process gives the same one again. */
  readonly idempotencyKey?: string;
}

/** Which file of a Run. */
export type OutputName = 'output' | 'rejects';

export abstract class RunsClient<Source> {
  protected readonly retries: number;
  readonly #base: string;
  readonly #apiKey: string;
  readonly #signal: AbortSignal | null;
  readonly #idleMilliseconds: number;
  readonly #transport: Transport<Source>;

  constructor(settings: ClientSettings, transport: Transport<Source>) {
    const { protocol, origin, pathname } = new URL(settings.baseUrl);
    if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError('baseUrl begins with http: or https:.');
    if (!/^[\x21-\x7e]+$/.test(settings.apiKey)) throw new TypeError('apiKey is not an API key.');
    this.retries = settings.retries ?? RETRIES;
    this.#base = `${origin}${pathname.replace(/\/+$/, '')}/api/v1`;
    this.#apiKey = settings.apiKey;
    this.#signal = settings.signal ?? null;
    this.#idleMilliseconds = settings.idleMilliseconds ?? IDLE_MILLISECONDS;
    this.#transport = transport;
  }

  /** The account's Templates. */
  templates(options: CallOptions = {}): Promise<readonly Template[]> {
    return this.#read('/templates', this.signalOf(options), readTemplates);
  }

  /** What the account has used of its plan, and the plan's ceilings. */
  usage(options: CallOptions = {}): Promise<Usage> {
    return this.#read('/usage', this.signalOf(options), readUsage);
  }

  /** The Run as it stands now. */
  async get(id: string, options: CallOptions = {}): Promise<Run> {
    return (await this.#look(id, this.signalOf(options))).run;
  }

  /**
   * Applies a Template to a file, and resolves with the Run that succeeded. All tries send the same bytes under one
   * Idempotency-Key, so that one Run is charged. Rejects with RunFailedError when the Run fails.
   */
  async run(template: string, source: Source, options: RunOptions = {}): Promise<Run> {
    const { delimiter, headerRow, onProgress, idempotencyKey = crypto.randomUUID() } = options;
    const signal = this.signalOf(options);
    const fields = new Map<string, string>();
    if (delimiter !== undefined) fields.set('delimiter', delimiter);
    if (headerRow !== undefined) fields.set('header_row', String(headerRow));
    const onSent = (bytes: number, totalBytes: number | null): void => {
      onProgress?.({ phase: 'upload', bytes, totalBytes });
    };
    // The Run of a service that was started anew is lost; the repeat makes it again.
    const alsoRetried = ({ code }: { readonly code: string }): boolean => code === 'RUN_NOT_FOUND';
    return retrying({ retries: this.retries, signal, alsoRetried }, async () => {
      const answer = await this.#post(template, idempotencyKey, { source, fields, onSent }, signal);
      await refuseErrors(answer);
      const run = await this.#ended(await readRun(answer), signal);
      if (run.status === 'failed') throw new RunFailedError(run);
      return run;
    });
  }

  protected signalOf({ signal }: CallOptions): AbortSignal {
    const signals = [this.#signal, signal].filter((each) => each != null);
    return signals.length === 1 ? signals[0]! : AbortSignal.any(signals);
  }

  /** One GET. */
  protected ask(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<TransportAnswer> {
    return this.#send('GET', path, headers, null, signal);
  }

  protected askOutput(
    run: Pick<Run, 'id'>,
    name: OutputName,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<TransportAnswer> {
    // Not by its download_url: the key goes to no other origin than the one that it was given for.
    return this.ask(`/runs/${encodeURIComponent(run.id)}/${name}`, headers, signal);
  }

  #look(id: string, signal: AbortSignal): Promise<RunAnswer> {
    return this.#read(`/runs/${encodeURIComponent(id)}`, signal, readRun);
  }

  #read<T>(path: string, signal: AbortSignal, read: (answer: TransportAnswer) => Promise<T>): Promise<T> {
    return retrying({ retries: this.retries, signal }, async () => {
      const answer = await this.ask(path, {}, signal);
      await refuseErrors(answer);
      return read(answer);
    });
  }

  async #ended(answer: RunAnswer, signal: AbortSignal): Promise<Run> {
    let { run, retryAfter } = answer;
    while (run.status === 'running') {
      await wait(delayMilliseconds(1, Math.min(retryAfter ?? POLL_SECONDS, POLL_SECONDS_MAX)), signal);
      ({ run, retryAfter } = await this.#look(run.id, signal));
    }
    return run;
  }

  #post(template: string, key: string, upload: Upload<Source>, signal: AbortSignal): Promise<TransportAnswer> {
    const path = `/templates/${encodeURIComponent(template)}/runs`;
    return this.#send('POST', path, { 'idempotency-key': key }, upload, signal);
  }

  #send(
    method: 'GET' | 'POST',
    path: string,
    headers: Readonly<Record<string, string>>,
    upload: Upload<Source> | null,
    signal: AbortSignal,
  ): Promise<TransportAnswer> {
    return this.#transport.send({
      method,
      url: new URL(this.#base + path),
      headers: { authorization: `Bearer ${this.#apiKey}`, ...headers },
      upload,
      signal,
      idleMilliseconds: this.#idleMilliseconds,
    });
  }
}
