// A small HTTP client for tests: every header line, paused uploads, disconnects, raw sockets. It refuses any answer
// (other than an output) that holds a word of the upload.
import http from 'node:http';
import net from 'node:net';
import { CANARY, type Form, form, type Part } from './multipart.ts';

export interface RunBody {
  readonly id: string;
  readonly status: string;
  readonly template_id: string;
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly expires_at: string | null;
  readonly rows_written: number | null;
  readonly truncated: boolean;
  readonly output: { name: string; mime_type: string; size_bytes: number; download_url: string } | null;
  /** Only where the Template rejects rows. */
  readonly rejects?: RunBody['output'];
  readonly error: { code: string; message: string } | null;
  /** Describes step by step how the file was read, without the content of the file. */
  readonly report: { readonly input: Record<string, unknown> };
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** The parsed body, or an empty object if it is not JSON. */
  readonly json: Record<string, unknown>;
  /** The same as a Run; its fields exist only if the response is a Run. */
  readonly run: RunBody;
  /** The `error` of an error body. */
  readonly code: string | undefined;
}

export type Headers = Record<string, string | string[]>;

export interface UploadOptions {
  readonly key?: string;
  readonly headers?: Headers;
  /** Sends Transfer-Encoding: chunked instead of Content-Length. */
  readonly chunked?: boolean;
}

/** A request whose body is sent in pieces by the test. */
export interface HeldUpload {
  readonly answer: Promise<Answer>;
  /** True once an answer has come. */
  answered(): boolean;
  send(bytes: Buffer): void;
  /** Sends the rest of the body. */
  finish(): Promise<Answer>;
  /** Closes the connection without a further byte. */
  vanish(): void;
}

/** An answer that takes longer has been forgotten by the service: better one failed case than a file that hangs. */
const PATIENCE_MILLISECONDS = 240_000;

/** The service cuts an upload that shows no progress for 30 s: a held upload sends one byte of its rest more often. */
const PROGRESS_MILLISECONDS = 10_000;

/** A held upload keeps this many bytes back, so that it is not complete before the test says so. */
const KEPT_BYTES = 1;

export class Client {
  readonly port: number;
  readonly key: string | undefined;
  readonly #patienceMilliseconds: number;

  constructor(port: number, key?: string, patienceMilliseconds = PATIENCE_MILLISECONDS) {
    this.port = port;
    this.key = key;
    this.#patienceMilliseconds = patienceMilliseconds;
  }

  /** The same server with other or no credentials. */
  as(key?: string): Client {
    return new Client(this.port, key);
  }

  get(path: string, headers: Headers = {}): Promise<Answer> {
    return this.request('GET', path, headers);
  }

  /** One sample of /metrics by its name with labels; NaN if it is missing. */
  async metric(name: string): Promise<number> {
    const { text } = await this.get('/metrics');
    const line = text.split('\n').find((line) => line.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? Number.NaN);
  }

  request(method: string, path: string, headers: Headers = {}, body?: Buffer | string): Promise<Answer> {
    const { request, answer } = this.#open(method, path, headers);
    request.end(body);
    return answer;
  }

  /** create_run with a whole body. */
  upload(template: string, parts: readonly Part[] | Form, options: UploadOptions = {}): Promise<Answer> {
    return this.hold(template, parts, 0, options).finish();
  }

  /** create_run that stops after `bytes` bytes of its body (negative: that many before its end). */
  hold(template: string, parts: readonly Part[] | Form, bytes: number, options: UploadOptions = {}): HeldUpload {
    const { body, contentType } = 'body' in parts ? parts : form(parts);
    let at = bytes < 0 ? body.length + bytes : bytes;
    const headers: Headers = { 'content-type': contentType, ...options.headers };
    if (options.key !== undefined) headers['idempotency-key'] = options.key;
    if (options.chunked) headers['transfer-encoding'] = 'chunked';
    else headers['content-length'] ??= String(body.length);
    const { request, answer } = this.#open('POST', `/api/v1/templates/${template}/runs`, headers);
    let answered = false;
    answer.then(
      () => {
        answered = true;
      },
      () => {},
    );
    request.flushHeaders();
    if (at > 0) request.write(body.subarray(0, at));
    const progress = setInterval(() => {
      if (body.length - at > KEPT_BYTES) request.write(body.subarray(at, ++at));
    }, PROGRESS_MILLISECONDS);
    request.on('close', () => clearInterval(progress));
    return {
      answer,
      answered: () => answered,
      send: (piece) => {
        clearInterval(progress);
        request.write(piece);
      },
      finish: () => {
        clearInterval(progress);
        request.end(body.subarray(at));
        return answer;
      },
      vanish: () => void request.destroy(),
    };
  }

  #open(method: string, path: string, headers: Headers): { request: http.ClientRequest; answer: Promise<Answer> } {
    const credentials: Headers = this.key === undefined ? {} : { authorization: `Bearer ${this.key}` };
    const request = http.request({
      host: '127.0.0.1',
      port: this.port,
      method,
      path,
      agent: false,
      headers: { ...credentials, ...headers },
    });
    const forgotten = setTimeout(
      () => request.destroy(new Error(`no answer to ${method} ${path}`)),
      this.#patienceMilliseconds,
    );
    request.on('close', () => clearTimeout(forgotten));
    const answer = new Promise<Answer>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          try {
            resolve(readAnswer(path, response, Buffer.concat(chunks)));
          } catch (error) {
            reject(error);
          }
        });
      });
    });
    return { request, answer };
  }
}

export interface RawExchange {
  readonly text: string;
  /** Code of the socket's error, such as ECONNRESET, or null. */
  readonly error: string | null;
  readonly bytesSent: number;
}

/** Sends bytes over a bare socket and reads until the server closes, or until `done` accepts the bytes received. */
export function rawExchange(
  port: number,
  send: (socket: net.Socket) => void,
  done: (text: string) => boolean = () => false,
): Promise<RawExchange> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: false });
    let text = '';
    let error: string | null = null;
    socket.on('connect', () => send(socket));
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (done(text)) socket.destroy();
    });
    socket.on('error', (fault: NodeJS.ErrnoException) => {
      error = fault.code ?? fault.message;
    });
    socket.on('close', () => resolve({ text, error, bytesSent: socket.bytesWritten }));
  });
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/**
 * Repeats the request every 50 ms until the response is accepted. Returns the last response after `milliseconds`, a limit
 * that is generous because the machine may be busy.
 */
export async function until<T>(
  ask: () => Promise<T>,
  liked: (value: T) => boolean,
  milliseconds = 240_000,
): Promise<T> {
  const end = Date.now() + milliseconds;
  let value = await ask();
  while (!liked(value) && Date.now() < end) {
    await pause(50);
    value = await ask();
  }
  return value;
}

function readAnswer(path: string, response: http.IncomingMessage, body: Buffer): Answer {
  const text = body.toString();
  const isJson = /json/.test(response.headers['content-type'] ?? '') && body.length > 0;
  const parsed: unknown = isJson ? JSON.parse(text) : {};
  const json = parsed as Record<string, unknown>;
  const visible = response.rawHeaders.join('\n') + (isJson ? text : '');
  if (new RegExp(CANARY, 'i').test(visible)) throw new Error(`the answer to ${path} holds a word of the upload`);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body,
    text,
    json,
    run: parsed as RunBody,
    code: typeof json['error'] === 'string' ? json['error'] : undefined,
  };
}
