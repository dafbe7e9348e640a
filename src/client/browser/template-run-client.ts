// The entry point `template-run/client` of the package for browsers. Sources and outputs are Blobs. Imports nothing
// from Node.

import {
  ConnectionLostError,
  type Run,
  redirected,
  refuseErrors,
  TemplateRunError,
  type Transport,
  type TransportAnswer,
  type TransportRequest,
} from '../answers.ts';
import { type OutputSink, resumedDownload, retrying } from '../retries.ts';
import {
  type CallOptions,
  type ClientSettings,
  type DownloadedRun,
  type OutputName,
  RunsClient,
  type TransferOptions,
} from '../runs-client.ts';

// Collects an output in a browser's memory.

class BlobSink implements OutputSink {
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  async append(piece: Uint8Array): Promise<void> {
    this.#pieces.push(new Uint8Array(piece));
    this.#bytes += piece.length;
  }

  async clear(): Promise<void> {
    this.#pieces = [];
    this.#bytes = 0;
  }

  async sha256(): Promise<string> {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await this.blob().arrayBuffer()));
    return btoa(String.fromCharCode(...digest));
  }

  blob(): Blob {
    return new Blob(this.#pieces);
  }
}

export type { FailedRun, Run, RunningRun, SucceededRun } from '../answers.ts';
export { type ErrorCode, RunFailedError, TemplateRunError } from '../answers.ts';
// Public types and errors of the client.
export type { Ceilings, Quota, Report, RunError, RunOutput, Template, Usage } from '../api-schemas.ts';
export type { CallOptions, ClientSettings, OutputName, Progress, RunOptions, TransferOptions } from '../runs-client.ts';

export interface DownloadOptions extends TransferOptions {
  /** 'rejects': the rows that the Template rejected; 'output' by default. */
  readonly file?: OutputName;
}

export interface PreviewOptions extends CallOptions {
  /** First byte that is downloaded; 0 by default. */
  readonly offsetBytes?: number;
}

export class TemplateRunClient extends RunsClient<Blob> {
  constructor(settings: ClientSettings) {
    super(settings, new FetchTransport());
  }

  /** Downloads the complete output of a Run into memory and verifies the service's digest. */
  async download(run: DownloadedRun, options: DownloadOptions = {}): Promise<Blob> {
    const { file = 'output', onProgress } = options;
    const signal = this.signalOf(options);
    const sink = new BlobSink();
    await resumedDownload(
      { retries: this.retries, signal },
      {
        sink,
        reportedBytes: run[file]?.size_bytes ?? null,
        ask: (headers) => this.askOutput(run, file, headers, signal),
        onReceived: (bytes, totalBytes) => onProgress?.({ phase: 'download', bytes, totalBytes }),
      },
    );
    return sink.blob();
  }

  /** Downloads at most `bytesMax` bytes of the Run's output, the first ones by default. The digest is not verified. */
  async preview(run: Pick<Run, 'id'>, bytesMax: number, options: PreviewOptions = {}): Promise<Blob> {
    const { offsetBytes = 0 } = options;
    const signal = this.signalOf(options);
    try {
      return await retrying({ retries: this.retries, signal }, async () => {
        const answer = await this.askOutput(
          run,
          'output',
          { range: `bytes=${offsetBytes}-${offsetBytes + bytesMax - 1}` },
          signal,
        );
        await refuseErrors(answer);
        const sink = new BlobSink();
        for await (const piece of answer.body) {
          await sink.append(piece);
          if (sink.bytes >= bytesMax) break;
        }
        answer.cancel();
        return sink.blob().slice(0, bytesMax);
      });
    } catch (error) {
      // An empty output has no satisfiable range.
      if (error instanceof TemplateRunError && error.code === 'RANGE_NOT_SATISFIABLE') return new Blob([]);
      throw error;
    }
  }
}

// Sends an upload with XMLHttpRequest. Unlike fetch, it reports upload progress, and a stalled upload can be aborted.
// It always follows redirects, so a redirect is detected, and refused, only when the response has arrived.

/** The used part of XMLHttpRequest, which not every environment with fetch has. */
interface Xhr {
  responseType: string;
  readonly response: ArrayBuffer | null;
  readonly status: number;
  readonly responseURL: string;
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onprogress: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: FormData): void;
  abort(): void;
}
declare const XMLHttpRequest: (new () => Xhr) | undefined;

const hasXhr = typeof XMLHttpRequest === 'function';

/** Rejects with ConnectionLostError if no response arrived, and with the signal's reason if aborted. */
function sendByXhr(request: TransportRequest<Blob>, body: FormData, sizeBytes: number): Promise<TransportAnswer> {
  const { method, url, headers, signal, idleMilliseconds } = request;
  const xhr = new XMLHttpRequest!();
  xhr.open(method, url.href);
  xhr.responseType = 'arraybuffer';
  for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
  let idle: ReturnType<typeof setTimeout>;
  let aborted = (): void => {};
  const answered = new Promise<TransportAnswer>((resolve, reject) => {
    const lost = (why: string): void => reject(new ConnectionLostError(why));
    const moved = (): void => {
      clearTimeout(idle);
      idle = setTimeout(() => lost(`Nothing moved on the connection for ${idleMilliseconds} ms.`), idleMilliseconds);
    };
    aborted = () => reject(signal.reason);
    signal.addEventListener('abort', aborted);
    xhr.upload.onprogress = ({ loaded }) => {
      moved();
      // `loaded` includes the form fields around the file.
      request.upload?.onSent(Math.min(loaded, sizeBytes), sizeBytes);
    };
    xhr.onprogress = moved;
    xhr.onerror = () => lost('The connection was lost, or the browser refused the request.');
    xhr.onload = () => (xhr.responseURL === url.href ? resolve(answerOf(xhr)) : reject(redirected()));
    moved();
    if (signal.aborted) aborted();
    else xhr.send(body);
  });
  return answered.finally(() => {
    clearTimeout(idle);
    signal.removeEventListener('abort', aborted);
    // Has no effect if the response has arrived.
    xhr.abort();
  });
}

function answerOf(xhr: Xhr): TransportAnswer {
  const { status } = xhr;
  const bytes = new Uint8Array(xhr.response ?? new ArrayBuffer(0));
  const headers = new Map(HEADERS.map((name) => [name, xhr.getResponseHeader(name)]));
  async function* body(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  return { status, header: (name) => headers.get(name) ?? null, body: body(), cancel: () => {} };
}

/** Headers used from the response to a Run request. They are read before the abort, which discards them. */
const HEADERS = ['retry-after', 'x-request-id', 'location'];

// Transport for browsers that uses fetch, and XMLHttpRequest for uploads where available, because
// fetch can neither report upload progress nor abort a stalled upload. Redirects are not followed, so that the file
// is only sent to the configured origin.

export class FetchTransport implements Transport<Blob> {
  async send(request: TransportRequest<Blob>): Promise<TransportAnswer> {
    const { method, url, headers, upload, idleMilliseconds } = request;
    const body = new FormData();
    for (const [name, value] of upload?.fields ?? []) body.set(name, value);
    if (upload !== null) body.set('file', upload.source, fileName(upload.source));
    upload?.onSent(0, upload.source.size);
    if (upload !== null && hasXhr) return sendByXhr(request, body, upload.source.size);
    const given = new AbortController();
    const signal = AbortSignal.any([request.signal, given.signal]);
    // Upload progress is unknown here, so uploads have no idle timeout.
    const idle = upload === null ? setTimeout(() => given.abort(), idleMilliseconds) : undefined;
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        headers,
        signal,
        redirect: 'manual',
        ...(upload === null ? {} : { body }),
      });
    } catch (error) {
      throw lost(error);
    } finally {
      clearTimeout(idle);
    }
    if (isRedirect(response)) {
      given.abort();
      throw redirected();
    }
    upload?.onSent(upload.source.size, upload.source.size);
    return {
      status: response.status,
      header: (name) => response.headers.get(name),
      body: bodyOf(response, given, idleMilliseconds),
      cancel: () => given.abort(),
    };
  }
}

/** Browsers hide the status of a redirect. */
function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400);
}

async function* bodyOf(
  response: Response,
  given: AbortController,
  idleMilliseconds: number,
): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const idle = setTimeout(() => given.abort(), idleMilliseconds);
      const { done, value } = await reader.read().finally(() => clearTimeout(idle));
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw lost(error);
  }
}

function fileName(source: Blob): string {
  return source instanceof File ? source.name : 'upload';
}

/** fetch does not report why it failed. */
function lost(error: unknown): Error {
  return new ConnectionLostError('The connection was lost, or the browser refused the request.', error);
}
