// The entry point `template-run/client` of the package for Node. Sources are files, bytes or streams; outputs become
// files.

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import {
  ConnectionLostError,
  SourceError,
  type SucceededRun,
  TemplateRunError,
  type Transport,
  type TransportAnswer,
  type TransportRequest,
  type Upload,
} from '../answers.ts';
import { resumedDownload } from '../retries.ts';
import {
  type ClientSettings,
  type DownloadedRun,
  type OutputName,
  type RunOptions,
  RunsClient,
  type TransferOptions,
} from '../runs-client.ts';
import { FileSink } from './file-sink.ts';

export type { FailedRun, Run, RunningRun, SucceededRun } from '../answers.ts';
export { type ErrorCode, RunFailedError, SourceError, TemplateRunError } from '../answers.ts';
// Public types and errors of the client.
export type { Ceilings, Quota, Report, RunError, RunOutput, Template, Usage } from '../api-schemas.ts';
export type { CallOptions, ClientSettings, OutputName, Progress, RunOptions, TransferOptions } from '../runs-client.ts';

export interface DownloadOptions extends TransferOptions {
  /** 'rejects': the rows that the Template rejected; 'output' by default. */
  readonly file?: OutputName;
}

export interface TransformOptions extends RunOptions {
  /** Target for rejected rows, like the target of the output. Without it, rejected rows are not downloaded. */
  readonly rejects?: Target;
}

/** A path, or a function that returns it for the Run. */
export type Target = string | ((run: SucceededRun) => string);

export class TemplateRunClient extends RunsClient<Source> {
  readonly #transport: HttpTransport;

  constructor(settings: ClientSettings) {
    const transport = new HttpTransport();
    super(settings, transport);
    this.#transport = transport;
  }

  /**
   * Writes the Run's output to `path`, complete and verified against the service's digest, or not at all. An existing
   * file is replaced, also behind a link, and keeps its permissions. Pipes and devices are written directly.
   */
  async download(run: DownloadedRun, path: string, options: DownloadOptions = {}): Promise<void> {
    const { file = 'output', onProgress } = options;
    const signal = this.signalOf(options);
    signal.throwIfAborted();
    const sink = await FileSink.open(path);
    let isKept = false;
    try {
      await resumedDownload(
        { retries: this.retries, signal },
        {
          sink,
          reportedBytes: run[file]?.size_bytes ?? null,
          ask: (headers) => this.askOutput(run, file, headers, signal),
          onReceived: (bytes, totalBytes) => onProgress?.({ phase: 'download', bytes, totalBytes }),
        },
      );
      await sink.keep(signal);
      isKept = true;
    } finally {
      if (!isKept) await sink.remove();
    }
  }

  /**
   * Combines `run` and `download`. If the service loses the Run before its output was downloaded, the Run is repeated
   * with the same Idempotency-Key and is not charged again.
   * @param target target of the output; if it is a path, it is checked before anything is sent
   * @returns the paths of both files; `rejects` is null if no rejected rows were downloaded
   */
  async transform(
    template: string,
    source: Source,
    target: Target,
    options: TransformOptions = {},
  ): Promise<{ readonly run: SucceededRun; readonly path: string; readonly rejects: string | null }> {
    const withKey = { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
    // Checks the targets before the Run, because a Run is charged even if its output cannot be written.
    for (const path of [target, options.rejects])
      if (typeof path === 'string') await (await FileSink.open(path)).remove();
    for (let losses = 0; ; losses += 1) {
      const run = await this.run(template, source, withKey);
      const path = pathOf(target, run);
      const rejects = options.rejects === undefined || run.rejects === undefined ? null : pathOf(options.rejects, run);
      try {
        await this.download(run, path, withKey);
        if (rejects !== null) await this.download(run, rejects, { ...withKey, file: 'rejects', onProgress: undefined });
        return { run, path, rejects };
      } catch (error) {
        const isLost = error instanceof TemplateRunError && error.code === 'RUN_NOT_FOUND';
        if (!isLost || losses >= this.retries) throw error;
      }
    }
  }

  /** Closes idle connections. Calling it is optional, because idle connections do not keep the process alive. */
  close(): void {
    this.#transport.close();
  }
}

function pathOf(target: Target, run: SucceededRun): string {
  return typeof target === 'string' ? target : target(run);
}

// Explains errors of a connection in plain words. Errors that would occur again in the next attempt stay errors of the
// system; all others become a ConnectionLostError, which is retried.

/** Errors of the server's certificate. */
const CERTIFICATE_ERROR = /^(?:CERT_|ERR_TLS_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/;

/** The server does not speak TLS, or none of the client's versions. */
const PROTOCOL_ERROR = /^(?:EPROTO|ERR_SSL_)/;

const LOST: Readonly<Record<string, (host: string) => string>> = {
  ECONNREFUSED: (host) => `No service listens at ${host}: the connection was refused. Check the address and the port.`,
  ENOTFOUND: (host) => `The host name in ${host} is unknown. Check the address.`,
  EAI_AGAIN: (host) => `The host name in ${host} cannot be looked up now. Check the network.`,
  EHOSTUNREACH: (host) => `${host} cannot be reached from this network.`,
  ENETUNREACH: (host) => `${host} cannot be reached from this network.`,
  ETIMEDOUT: (host) => `${host} does not answer. Check the address, and whether a firewall is in between.`,
  ECONNRESET: (host) => `The connection was lost: ${host} closed it before it answered.`,
};

/** @param url the address of the request; only its host and port are named */
export function connectionFailure(error: NodeJS.ErrnoException, { protocol, host }: URL): Error {
  if (error instanceof ConnectionLostError) return error;
  const { code = '', message } = error;
  if (CERTIFICATE_ERROR.test(code)) {
    const advice =
      'If your own authority issued it, set NODE_EXTRA_CA_CERTS to a file with the certificate of that authority.';
    return permanent(error, `The certificate of ${host} is not accepted: ${message}. ${advice}`);
  }
  if (protocol === 'https:' && PROTOCOL_ERROR.test(code)) {
    return permanent(
      error,
      `${host} does not speak TLS. If the service does not use TLS, write http:// in the address.`,
    );
  }
  if (code.startsWith('HPE_')) {
    const advice = protocol === 'http:' ? ' If the service uses TLS, write https:// in the address.' : '';
    return permanent(error, `${host} does not answer in HTTP.${advice}`);
  }
  return new ConnectionLostError(LOST[code]?.(host) ?? `The connection was lost: ${message}`, error);
}

/** The error with its code, which is not retried, and a message for people. */
function permanent(error: NodeJS.ErrnoException, message: string): Error {
  return Object.assign(new Error(message, { cause: error }), { code: error.code });
}

// Transport for Node that uses node:http. Uploads are read only as fast as the connection accepts them; fetch would
// hold the whole body in memory.

export class HttpTransport implements Transport<Source> {
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true }),
    'https:': new https.Agent({ keepAlive: true }),
  };

  async send(request: TransportRequest<Source>): Promise<TransportAnswer> {
    const form = request.upload === null ? null : await openForm(request.upload, request.signal);
    let outgoing: http.ClientRequest;
    try {
      outgoing = this.#open(request, form);
    } catch (error) {
      // Thrown for a header that cannot be sent, such as a key that contains a line break.
      form?.close();
      throw error;
    }
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      outgoing.on('timeout', () => {
        outgoing.destroy(
          new ConnectionLostError(`Nothing moved on the connection for ${request.idleMilliseconds} ms.`),
        );
      });
      outgoing.on('error', (error) => reject(connectionFailure(error, request.url)));
      outgoing.on('close', () => form?.close());
      outgoing.on('response', (response) => {
        isAnswered = true;
        resolve(answerOf(outgoing, response, request.url));
      });
      if (form === null) outgoing.end();
      else
        sendPieces(outgoing, form, () => isAnswered).catch((error: Error) => {
          // Errors of the source are reported to the caller, whatever happens to the connection afterwards.
          reject(error);
          outgoing.destroy();
        });
    });
  }

  /** Closes idle connections. Requests in progress continue. */
  close(): void {
    for (const agent of Object.values(this.#agents)) {
      // Connections in use are closed when their request is done, because no free slot remains for them.
      agent.maxFreeSockets = 0;
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    }
  }

  #open({ method, url, headers, signal, idleMilliseconds }: TransportRequest<Source>, form: OpenForm | null) {
    const isSecure = url.protocol === 'https:';
    const formHeaders: http.OutgoingHttpHeaders = form === null ? {} : { 'content-type': form.contentType };
    if (form !== null && form.lengthBytes !== null) formHeaders['content-length'] = form.lengthBytes;
    return (isSecure ? https : http).request(url, {
      method,
      headers: { ...headers, ...formHeaders },
      agent: this.#agents[isSecure ? 'https:' : 'http:'],
      signal,
      timeout: idleMilliseconds,
    });
  }
}

/** Rejects with errors of the source. A lost connection is reported by the request itself. */
async function sendPieces(outgoing: http.ClientRequest, form: OpenForm, isAnswered: () => boolean): Promise<void> {
  for await (const piece of form.pieces) {
    // A refusal can arrive during the upload; the service does not read the rest then.
    if (outgoing.destroyed || isAnswered()) return;
    if (!outgoing.write(piece)) await drained(outgoing);
  }
  outgoing.end();
}

function drained(outgoing: http.ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const events = ['drain', 'close', 'response'];
    const go = (): void => {
      for (const event of events) outgoing.off(event, go);
      resolve();
    };
    for (const event of events) outgoing.on(event, go);
    if (outgoing.destroyed) go();
  });
}

function answerOf(outgoing: http.ClientRequest, response: http.IncomingMessage, url: URL): TransportAnswer {
  return {
    status: response.statusCode ?? 0,
    header: (name) => {
      const value = response.headers[name];
      return value === undefined ? null : String(value);
    },
    body: bodyOf(outgoing, response, url),
    cancel: () => void outgoing.destroy(),
  };
}

async function* bodyOf(
  outgoing: http.ClientRequest,
  response: http.IncomingMessage,
  url: URL,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of response) yield piece as Uint8Array;
    if (!response.complete) throw new ConnectionLostError('The connection was lost before the end of the answer.');
  } catch (error) {
    throw connectionFailure(error as Error, url);
  } finally {
    // A connection cannot be reused in the middle of a request or response.
    if (!outgoing.writableFinished || !response.complete) outgoing.destroy();
  }
}

// Opens a file to be sent and builds the multipart form around it. Each attempt opens the source again.

/** A path, bytes, or a function that returns a new stream of the same bytes for each attempt. */
export type Source = string | Uint8Array | (() => Readable | Promise<Readable>);

/** Size of the pieces of a body, large enough that the overhead of each piece is small. */
const PIECE_BYTES = 256 * 1024;

export interface OpenForm {
  readonly contentType: string;
  /** Null: unknown before the end of the source. */
  readonly lengthBytes: number | null;
  /** Iterable once. The source is closed at the end, and also if the iteration stops early. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Closes the source, even if it never yields a piece. */
  close(): void;
}

interface OpenSource {
  readonly name: string;
  readonly lengthBytes: number | null;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Stream that must be closed if the pieces are not read; null: nothing stays open. */
  readonly stream: Readable | null;
}

/**
 * Rejects with a system error or a SourceError if the file cannot be opened, and with the signal's reason even if the
 * source never opens.
 */
export async function openForm({ source, fields, onSent }: Upload<Source>, signal: AbortSignal): Promise<OpenForm> {
  const boundary = `template-run-${crypto.randomUUID()}`;
  const opened = await unlessAborted(openSource(source), signal, close);
  const head = Buffer.from(
    [...fields]
      .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join('') +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${escaped(opened.name)}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    onSent(bytes, opened.lengthBytes);
    yield head;
    for await (const piece of opened.pieces) {
      yield piece;
      bytes += piece.length;
      onSent(bytes, opened.lengthBytes);
    }
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    lengthBytes: opened.lengthBytes === null ? null : head.length + opened.lengthBytes + tail.length,
    pieces: pieces(),
    close: () => close(opened),
  };
}

/** Errors of a stream no longer matter once it is closed, so they are ignored. */
function close({ stream }: OpenSource): void {
  stream?.on('error', () => {}).destroy();
}

/** @param closeLate receives the opened source if it opens only after the abort */
function unlessAborted<T>(opening: Promise<T>, signal: AbortSignal, closeLate: (late: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      reject(signal.reason);
      opening.then(closeLate, () => {});
    };
    const settled = (): void => signal.removeEventListener('abort', aborted);
    signal.addEventListener('abort', aborted, { once: true });
    opening.then(resolve, reject).then(settled);
    if (signal.aborted) aborted();
  });
}

async function openSource(source: Source): Promise<OpenSource> {
  if (typeof source === 'string') return openFile(source);
  if (typeof source !== 'function')
    return { name: 'upload', lengthBytes: source.length, pieces: bytesOf([source]), stream: null };
  const stream = await source();
  return { name: 'upload', lengthBytes: null, pieces: bytesOf(stream), stream };
}

/**
 * Checks the file and closes it again, so that an unread source leaves nothing open. The file is reopened when the
 * first piece is requested.
 */
async function openFile(path: string): Promise<OpenSource> {
  const { handle, lengthBytes } = await openRegular(path);
  await handle.close();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    if (lengthBytes === 0) return;
    const { handle: again } = await openRegular(path);
    let bytes = 0;
    // The stream closes the file, also if the iteration stops early.
    for await (const piece of again.createReadStream({ end: lengthBytes - 1, highWaterMark: PIECE_BYTES })) {
      bytes += (piece as Uint8Array).length;
      yield piece as Uint8Array;
    }
    if (bytes !== lengthBytes)
      throw new SourceError('SOURCE_SHORTENED', `${path} became shorter while it was being sent.`);
  }
  return { name: basename(path), lengthBytes, pieces: pieces(), stream: null };
}

/**
 * Opens without blocking. A blocking open of a pipe without a writer would occupy a thread and prevent the process
 * from ending.
 */
async function openRegular(path: string): Promise<{ readonly handle: FileHandle; readonly lengthBytes: number }> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  let isKept = false;
  try {
    const stats = await handle.stat();
    if (!stats.isFile())
      throw new SourceError(
        'SOURCE_NOT_A_FILE',
        `${path} is not a regular file, so it cannot be read again if the request is repeated.`,
      );
    isKept = true;
    return { handle, lengthBytes: stats.size };
  } finally {
    if (!isKept) await handle.close();
  }
}

async function* bytesOf(pieces: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

/** Escapes a file name the way browsers do in forms. */
function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
