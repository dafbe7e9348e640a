// The address of a bucket, signed requests to it, and uploads of outputs in one request or in parts.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import type { Log } from '../../telemetry/log.ts';

// Address and keys of a bucket. Keys are read from the environment only, because flags are visible to everybody on the
// machine.

export interface S3Address {
  /**
   * URL of the bucket, without a slash at its end: with the host `bucket.…` at Amazon, otherwise with the bucket as the
   * first part of the path.
   */
  readonly url: string;
  /** Prefix of all names: empty, or with a slash at its end. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Session token of temporary keys. */
  readonly sessionToken: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Only characters that need no encoding. */
const PREFIX = /^(?:[A-Za-z0-9_.-]+\/)*$/;
const REGION = /^[a-z0-9-]{1,40}$/;

/**
 * Returns null and adds a problem for the operator if the address is invalid or its keys are missing.
 * @param text `s3://bucket/prefix`
 */
export function readS3Address(text: string, environment: Environment, problems: string[]): S3Address | null {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)\/?(.*)$/i.exec(text) ?? [];
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`;
  if (!BUCKET.test(bucket) || !PREFIX.test(prefix) || /(?:^|\/)\.{1,2}\//.test(prefix)) {
    problems.push(
      '--outputs must be a folder or s3://BUCKET/PREFIX; a prefix consists of letters, digits, -, _ and . only.',
    );
    return null;
  }
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (!accessKeyId || !secretAccessKey) {
    problems.push('--outputs s3: needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.');
    return null;
  }
  const region = environment['AWS_REGION'] || 'us-east-1';
  if (!REGION.test(region)) problems.push('AWS_REGION must be the name of a region, such as eu-central-1.');
  const url = bucketUrl(
    bucket,
    region,
    environment['AWS_ENDPOINT_URL_S3'] || environment['AWS_ENDPOINT_URL'],
    problems,
  );
  return { url, prefix, region, accessKeyId, secretAccessKey, sessionToken: environment['AWS_SESSION_TOKEN'] || null };
}

function bucketUrl(bucket: string, region: string, endpoint: string | undefined, problems: string[]): string {
  if (endpoint === undefined) {
    // The wildcard certificate of Amazon's hosts covers only one label.
    const isHost = !bucket.includes('.');
    return isHost ? `https://${bucket}.s3.${region}.amazonaws.com` : `https://s3.${region}.amazonaws.com/${bucket}`;
  }
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    problems.push('AWS_ENDPOINT_URL_S3 must be an http or https origin without a path.');
  }
  return `${url?.origin ?? ''}/${bucket}`;
}

// Signed requests to a bucket, and uploads of outputs in one request or in parts.

// Signed requests to a bucket, with a time limit for each step. The only importer of aws4fetch, which signs. Bodies are
// not signed, because they would have to be read twice.

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Name after the prefix, or '' for the bucket itself. */
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly range?: string;
  readonly body?: { readonly pieces: AsyncIterable<Uint8Array>; readonly sizeBytes: number };
  /** Time limit without progress. */
  readonly stepMilliseconds: number;
}

/** The bucket responded with an error. */
export class S3RefusedError extends Error {
  readonly status: number;
  /** Code in the XML of the response, such as NoSuchKey, or derived from its status. */
  readonly code: string;

  constructor(status: number, code: string) {
    super(`the bucket answers ${status} ${code}`);
    this.name = 'S3RefusedError';
    this.status = status;
    this.code = code;
  }
}

/** The bucket does not respond: it is too slow or gone, or the connection broke. */
export class S3UnreachableError extends Error {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : cause;
    super(`the bucket does not answer: ${reason}`, { cause });
    this.name = 'S3UnreachableError';
  }
}

/** Maximum size of a text response: errors and lists are short. */
const TEXT_BYTES_MAX = 4 * 1024 * 1024;

const IDLE_CONNECTIONS_MAX = 16;

export class S3Requests {
  readonly prefix: string;
  /** Number of errors and failed connections, by code. */
  readonly errorCounts = new Map<string, number>();
  readonly #address: S3Address;
  readonly #log: Log;
  readonly #agent: http.Agent;
  /** Cache of signing keys, which are valid for a day. */
  readonly #cache = new Map<string, ArrayBuffer>();
  /** Error of the last request, for the log; '' if it succeeded. */
  #lastError = '';

  constructor(address: S3Address, log: Log) {
    this.#address = address;
    this.#log = log;
    this.prefix = address.prefix;
    const { Agent } = address.url.startsWith('https:') ? https : http;
    this.#agent = new Agent({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS_MAX });
  }

  /**
   * Returns the response with an unread body. Rejects with S3RefusedError and S3UnreachableError, or with an error of
   * the request body.
   */
  async open(request: S3Request): Promise<http.IncomingMessage> {
    try {
      const [answer, sent] = await this.#send(request);
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) {
        this.#note('');
        return answer;
      }
      const text = await textOf(answer, request.stepMilliseconds);
      // The rest of the request body is no longer needed.
      if (!sent.writableFinished) sent.destroy();
      throw refused(status, text);
    } catch (fault) {
      if (fault instanceof S3RefusedError) this.#note(fault.code === 'NoSuchKey' ? '' : fault.code);
      else if (fault instanceof S3UnreachableError) this.#note('unreachable');
      throw fault;
    }
  }

  /** Same as `open`, with the whole response as text. */
  async text(request: S3Request): Promise<{ readonly text: string; readonly headers: http.IncomingHttpHeaders }> {
    const answer = await this.open(request);
    const text = await textOf(answer, request.stepMilliseconds);
    // Some operations take so long that the bucket sends status 200 before they fail.
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
      const giveUp = (): void => void sent.destroy(new Error(`no data for ${stepMilliseconds} ms`));
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
      // The `error` event reports failures of the pipeline.
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

  /** Logs one line when errors begin, and one when they end. */
  #note(code: string): void {
    if (code !== '') this.errorCounts.set(code, (this.errorCounts.get(code) ?? 0) + 1);
    if (code === this.#lastError) return;
    if (code === '') this.#log.info('outputs_back');
    else this.#log.warn('outputs_lost', { code });
    this.#lastError = code;
  }
}

function refused(status: number, text: string): S3RefusedError {
  const [, code = `Status${status}`] = /<Code>(\w{1,80})<\/Code>/.exec(text) ?? [];
  return new S3RefusedError(status, code);
}

async function textOf(answer: http.IncomingMessage, milliseconds: number): Promise<string> {
  const timer = setTimeout(() => answer.destroy(new Error(`no data for ${milliseconds} ms`)), milliseconds);
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

// Uploads an output to a bucket: in one request, or in parts if it is long. A step that fails with a temporary error is
// retried until the time is over, reading the file again.

/** Part size in bytes. S3 permits parts from 5 MiB to 5 GiB, and 10,000 parts. */
export const PART_BYTES = 64 * 1024 ** 2;

/** Time limit of a step without progress. */
const STEP_MILLISECONDS = 10_000;

/** Delay before the first retry, which doubles each time. */
const AGAIN_MILLISECONDS = 100;
const AGAIN_MILLISECONDS_MAX = 5_000;

export interface S3Content {
  /** Bytes, or the path of a file. */
  readonly content: Uint8Array | string;
  readonly sizeBytes: number;
}

/**
 * Rejects with S3RefusedError, S3UnreachableError, or a fault of the file.
 * @returns SHA-256 in lower-case hex
 */
export async function uploadToS3(
  requests: S3Requests,
  name: string,
  content: S3Content,
  milliseconds: number,
): Promise<string> {
  const until = performance.now() + milliseconds;
  const again = <T>(step: () => Promise<T>): Promise<T> => untilDone(step, until);
  if (content.sizeBytes <= PART_BYTES) {
    const { hash } = await again(() => sendPart(requests, { name }, content, 0, createHash('sha256')));
    return hash.digest('hex');
  }
  const begun = { method: 'POST', name, query: { uploads: '' }, stepMilliseconds: STEP_MILLISECONDS } as const;
  const { text } = await again(() => requests.text(begun));
  const [, uploadId = ''] = /<UploadId>([^<]+)<\/UploadId>/.exec(text) ?? [];
  try {
    const tags: string[] = [];
    let whole = createHash('sha256');
    for (let start = 0; start < content.sizeBytes; start += PART_BYTES) {
      const query = { partNumber: String(tags.length + 1), uploadId };
      const { hash, tag } = await again(() => sendPart(requests, { name, query }, content, start, whole));
      whole = hash;
      tags.push(tag);
    }
    const body = bodyOf(completion(tags));
    await again(() => requests.text({ ...begun, query: { uploadId }, body }));
    return whole.digest('hex');
  } catch (fault) {
    // If this fails, a lifecycle rule of the bucket must remove the parts: incomplete uploads cost money, too.
    await requests
      .text({ method: 'DELETE', name, query: { uploadId }, stepMilliseconds: STEP_MILLISECONDS })
      .catch(() => {});
    throw fault;
  }
}

/** @param before digest of the preceding parts. It is not changed, because the part may have to be sent again. */
async function sendPart(
  requests: S3Requests,
  place: Pick<S3Request, 'name' | 'query'>,
  { content, sizeBytes }: S3Content,
  start: number,
  before: Hash,
): Promise<{ readonly hash: Hash; readonly tag: string }> {
  const end = Math.min(start + PART_BYTES, sizeBytes);
  const hash = before.copy();
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    const source =
      typeof content === 'string' ? createReadStream(content, { start, end: end - 1 }) : [content.subarray(start, end)];
    for await (const piece of source) {
      hash.update(piece);
      yield piece;
    }
  };
  const body = { pieces: pieces(), sizeBytes: end - start };
  const { headers } = await requests.text({ method: 'PUT', ...place, body, stepMilliseconds: STEP_MILLISECONDS });
  return { hash, tag: String(headers['etag'] ?? '') };
}

async function untilDone<T>(step: () => Promise<T>, until: number): Promise<T> {
  for (let wait = AGAIN_MILLISECONDS; ; wait = Math.min(2 * wait, AGAIN_MILLISECONDS_MAX)) {
    try {
      return await step();
    } catch (fault) {
      const left = until - performance.now();
      if (!passes(fault) || left <= 0) throw fault;
      await pause(Math.min(wait, left));
    }
  }
}

/** True if a retry may succeed. */
function passes(fault: unknown): boolean {
  if (fault instanceof S3RefusedError) return fault.status >= 500 || fault.status === 429 || fault.status === 408;
  return fault instanceof S3UnreachableError;
}

function completion(tags: readonly string[]): string {
  const parts = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
}

function bodyOf(text: string): NonNullable<S3Request['body']> {
  const bytes = Buffer.from(text);
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    yield bytes;
  };
  return { pieces: pieces(), sizeBytes: bytes.length };
}
