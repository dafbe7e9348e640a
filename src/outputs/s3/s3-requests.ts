// One signed request to a bucket and its answer, with a deadline for each step of the way. The only importer of aws4fetch,
// which signs; what is sent is not signed, for it would have to be read twice.
import http from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import type { Log } from '../../telemetry/log.ts';
import type { S3Address } from './s3-address.ts';

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Behind the prefix; '' = the bucket itself. */
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly range?: string;
  readonly body?: { readonly pieces: AsyncIterable<Uint8Array>; readonly sizeBytes: number };
  /** Without a step forward for so long it is given up. */
  readonly stepMilliseconds: number;
}

/** The bucket answers, and not with what was asked for. */
export class S3RefusedError extends Error {
  readonly status: number;
  /** Of the answer's XML, such as NoSuchKey; of its status where there is none. */
  readonly code: string;

  constructor(status: number, code: string) {
    super(`the bucket answers ${status} ${code}`);
    this.name = 'S3RefusedError';
    this.status = status;
    this.code = code;
  }
}

/** The bucket does not answer: too slow, gone, or the connection broke. */
export class S3UnreachableError extends Error {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : cause;
    super(`the bucket does not answer: ${reason}`, { cause });
    this.name = 'S3UnreachableError';
  }
}

/** Errors and lists are short. */
const TEXT_BYTES_MAX = 4 * 1024 * 1024;

const IDLE_CONNECTIONS_MAX = 16;

export class S3Requests {
  readonly prefix: string;
  /** How often the bucket refused or was not reached, by code. */
  readonly troubles = new Map<string, number>();
  readonly #address: S3Address;
  readonly #log: Log;
  readonly #agent: http.Agent;
  /** Keys of signatures, which hold for a day. */
  readonly #cache = new Map<string, ArrayBuffer>();
  /** Of the last answer, for the log; '' = as it should be. */
  #trouble = '';

  constructor(address: S3Address, log: Log) {
    this.#address = address;
    this.#log = log;
    this.prefix = address.prefix;
    const { Agent } = address.url.startsWith('https:') ? https : http;
    this.#agent = new Agent({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS_MAX });
  }

  /** The answer with its body unread. Rejects with S3RefusedError and S3UnreachableError, or with a fault of the body. */
  async open(request: S3Request): Promise<http.IncomingMessage> {
    try {
      const [answer, sent] = await this.#send(request);
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) {
        this.#note('');
        return answer;
      }
      const text = await textOf(answer, request.stepMilliseconds);
      // Nobody takes the rest of its body.
      if (!sent.writableFinished) sent.destroy();
      throw refused(status, text);
    } catch (fault) {
      if (fault instanceof S3RefusedError) this.#note(fault.code === 'NoSuchKey' ? '' : fault.code);
      else if (fault instanceof S3UnreachableError) this.#note('unreachable');
      throw fault;
    }
  }

  /** The same with the whole answer as text. */
  async text(request: S3Request): Promise<{ readonly text: string; readonly headers: http.IncomingHttpHeaders }> {
    const answer = await this.open(request);
    const text = await textOf(answer, request.stepMilliseconds);
    // Some steps take so long that the bucket has said 200 before it fails.
    if (/<Error>/.test(text)) throw refused(500, text);
    return { text, headers: answer.headers };
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send({
    method,
    name,
    query = {},
    range,
    body,
    stepMilliseconds,
  }: S3Request): Promise<[http.IncomingMessage, http.ClientRequest]> {
    const url = new URL(name === '' ? this.#address.url : `${this.#address.url}/${this.prefix}${name}`);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const headers = await this.#signed(method, url);
    if (range !== undefined) headers['range'] = range;
    headers['content-length'] = String(body?.sizeBytes ?? 0);
    const { request } = url.protocol === 'https:' ? https : http;
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, headers, agent: this.#agent });
      const giveUp = (): void => void sent.destroy(new Error(`nothing came for ${stepMilliseconds} ms`));
      const timer = setTimeout(giveUp, stepMilliseconds);
      let fault: unknown = null;
      let isAnswered = false;
      sent.on('error', (error) => {
        clearTimeout(timer);
        reject(fault ?? new S3UnreachableError(error));
      });
      sent.on('response', (answer) => {
        isAnswered = true;
        clearTimeout(timer);
        resolve([answer, sent]);
      });
      if (body === undefined) return void sent.end();
      const watched = async function* (): AsyncGenerator<Uint8Array> {
        try {
          for await (const piece of body.pieces) {
            if (!isAnswered) timer.refresh();
            yield piece;
          }
        } catch (error) {
          fault = error;
          throw error;
        }
      };
      // What goes wrong on the way is told by `error`.
      pipeline(watched, sent, () => {});
    });
  }

  async #signed(method: string, url: URL): Promise<Record<string, string>> {
    const { region, accessKeyId, secretAccessKey, sessionToken } = this.#address;
    const session = sessionToken === null ? {} : { sessionToken };
    const keys = { accessKeyId, secretAccessKey, ...session, service: 's3', region, cache: this.#cache };
    const { headers } = await new AwsV4Signer({ method, url: url.href, ...keys }).sign();
    return Object.fromEntries(headers);
  }

  /** A line when it begins, and one when it is over. */
  #note(trouble: string): void {
    if (trouble !== '') this.troubles.set(trouble, (this.troubles.get(trouble) ?? 0) + 1);
    if (trouble === this.#trouble) return;
    if (trouble === '') this.#log.info('outputs_back');
    else this.#log.warn('outputs_lost', { code: trouble });
    this.#trouble = trouble;
  }
}

function refused(status: number, text: string): S3RefusedError {
  const [, code = `Status${status}`] = /<Code>(\w{1,80})<\/Code>/.exec(text) ?? [];
  return new S3RefusedError(status, code);
}

async function textOf(answer: http.IncomingMessage, milliseconds: number): Promise<string> {
  const timer = setTimeout(() => answer.destroy(new Error(`nothing came for ${milliseconds} ms`)), milliseconds);
  let text = '';
  try {
    for await (const piece of answer.setEncoding('utf8')) {
      text += piece;
      if (text.length > TEXT_BYTES_MAX) throw new Error('the answer is too long');
    }
    return text;
  } catch (error) {
    throw new S3UnreachableError(error);
  } finally {
    clearTimeout(timer);
  }
}
