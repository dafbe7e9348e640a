// The entry point `template-run/client` of the package for Node. Sources are files, bytes or streams; outputs become
// files.

import http from 'node:http';
import https from 'node:https';
import { type SucceededRun, TemplateRunError } from '../answers.ts';
import { resumedDownload } from '../retries.ts';
import {
  type ClientSettings,
  type DownloadedRun,
  type OutputName,
  type RunOptions,
  RunsClient,
  type TransferOptions,
} from '../runs-client.ts';
import { ConnectionLostError, type Transport, type TransportAnswer, type TransportRequest } from '../transport.ts';
import { FileSink } from './file-sink.ts';
import { type OpenForm, openForm, type Source } from './source.ts';

export type { FailedRun, Run, RunningRun, SucceededRun } from '../answers.ts';
export { type ErrorCode, RunFailedError, SourceError, TemplateRunError } from '../answers.ts';
// Public types and errors of the client.
export type { Ceilings, Quota, Report, RunError, RunOutput, Template, Usage } from '../api-schemas.ts';
export type { CallOptions, ClientSettings, OutputName, Progress, RunOptions, TransferOptions } from '../runs-client.ts';
export type { Source } from './source.ts';

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
