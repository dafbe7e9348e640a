// One request and its response: headers, request id, JSON, downloads, and closing the connection of a client that is
// refused while it still sends. Does not route and knows no endpoints. States: open → answering (the response is
// decided) → finished (the kernel has taken it, or the client has disconnected).

import { randomUUID } from 'node:crypto';
import { REASON_BY_STATUS, type Refusal, statusOf } from './error-codes.ts';
import type { RawResponse } from './raw-response.ts';
import type { ReadTurns } from './read-turns.ts';
import { RequestBody } from './request-body.ts';
import { endsForCertain, type HeaderPair, type HeadProblem, type RequestHead } from './request-head.ts';
import {
  ANSWER_STALL_MILLISECONDS_MAX,
  DOWNLOAD_STALL_MILLISECONDS_MAX,
  memoryReader,
  type RangeReader,
  type Sending,
  sendBytes,
  textReader,
  type WaitingAnswers,
} from './send-bytes.ts';

export interface ExchangeSettings {
  readonly uploadMilliseconds: number;
  /** Shared by all exchanges of the event loop. */
  readonly turns: ReadTurns;
  /** Shared by all exchanges of the memory budget. */
  readonly answers: WaitingAnswers;
  readonly onFinished: (exchange: FinishedExchange) => void;
  readonly onFault: (fault: unknown, requestId: string) => void;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const UNSAFE_IN_HEADER = /[\r\n\0]/;

/** Headers of every response. */
const FIXED_HEADERS = 'Cache-Control: private, no-store\r\nX-Content-Type-Options: nosniff';

/** Time for a client to read the response after its body has taken too long, in milliseconds. */
const CUT_DRAIN_MILLISECONDS = 1_000;

/**
 * Number of bytes that the library buffers before it writes. JSON responses are padded with white space to this length,
 * so that they are sent before the library closes the connection because of the following bytes.
 */
const WRITTEN_AT_ONCE_BYTES = 16 * 1024;

/**
 * Longer strings are sent in pieces, each encoded when the client accepts it. Encoding them whole would take memory
 * outside the heap, which the garbage collector releases late: 24 clients that read nothing made the process grow by
 * 370 MiB.
 */
const ENCODED_WHOLE_CHARACTERS_MAX = 1024 * 1024;

const TINY_CHUNKS =
  'The body comes in too many tiny chunks. Send chunks of at least 16 bytes, or a body with a Content-Length.';

/** null for no body; a number is the length of a body that is not sent (HEAD, 304). */
type AnswerBody = string | Uint8Array | number | null;

export class Exchange {
  readonly head: RequestHead;
  readonly requestId: string;
  /** null for methods whose body is never read. */
  readonly body: RequestBody | null;
  /** Set while the request is processed, for the log. */
  endpoint = '';
  account: string | null = null;
  keyId: string | null = null;
  templateId: string | null = null;
  runId: string | null = null;
  runFields: string | null = null;
  #response: RawResponse;
  #settings: ExchangeSettings;
  #startedAt = performance.now();
  #state: 'open' | 'answering' | 'finished' = 'open';
  #isDisconnected = false;
  #disconnectListeners: (() => void)[] = [];
  #headers: HeaderPair[] = [];
  #contentType: string | null = null;
  #code: string | null = null;
  #drainMilliseconds: number | undefined;
  /** True if no request may follow on this connection. */
  #last: boolean;
  #headRefused = false;
  #closesAtOnce = false;

  constructor(response: RawResponse, head: RequestHead, settings: ExchangeSettings) {
    this.#response = response;
    this.#settings = settings;
    this.head = head;
    const given = this.header('x-request-id');
    this.requestId = given !== null && REQUEST_ID.test(given) ? given : randomUUID();
    response.onAborted(() => this.#lost());
    const bodyless = head.method === 'GET' || head.method === 'HEAD';
    this.#last = !endsForCertain(head);
    const { uploadMilliseconds, turns } = settings;
    this.body = bodyless ? null : new RequestBody(response, uploadMilliseconds, turns, () => this.#refuseTinyChunks());
  }

  /** True if the client has disconnected, so that a response would not be read. */
  get isDisconnected(): boolean {
    return this.#isDisconnected;
  }

  get answered(): boolean {
    return this.#state !== 'open';
  }

  /** True if the request is over, so that its log line has been written. */
  get isFinished(): boolean {
    return this.#state === 'finished';
  }

  /** Address of the client, or of a balancer in front of the service: 4 or 16 bytes. */
  remoteAddress(): Uint8Array {
    return this.#isDisconnected ? new Uint8Array() : this.#response.getRemoteAddress();
  }

  /** Calls `listener` if the client disconnects before the response is complete; immediately if it already has. */
  onDisconnect(listener: () => void): void {
    if (this.#isDisconnected) listener();
    else this.#disconnectListeners.push(listener);
  }

  /** The first header with this lower-case name, or null. */
  header(name: string): string | null {
    for (const [key, value] of this.head.headers) if (key === name) return value;
    return null;
  }

  headerValues(name: string): string[] {
    const values: string[] = [];
    for (const [key, value] of this.head.headers) if (key === name) values.push(value);
    return values;
  }

  /** Adds a header to the response, whatever it will be. */
  addHeader(name: string, value: string): void {
    this.#headers.push([name, value]);
  }

  /** Responds with JSON. Strings and bytes must already be JSON. */
  json(status: number, value: object | string | Uint8Array, headers: readonly HeaderPair[] = []): void {
    const written = typeof value === 'string' || value instanceof Uint8Array;
    this.#contentType = 'application/json';
    this.#answer(status, headers, written ? value : JSON.stringify(value));
  }

  text(status: number, contentType: string, body: string | Uint8Array): void {
    this.#contentType = contentType;
    this.#answer(status, [], body);
  }

  /** Responds to HEAD like `text` with a body of this length. The caller needs no body. */
  textHead(status: number, contentType: string, totalBytes: number): void {
    this.#contentType = contentType;
    this.#answer(status, [], totalBytes);
  }

  empty(status: number, headers: readonly HeaderPair[] = []): void {
    this.#answer(status, headers, null);
  }

  /** Responds with 304. `totalBytes` is the length of the client's copy. */
  notModified(totalBytes: number, headers: readonly HeaderPair[]): void {
    this.#answer(304, headers, totalBytes);
  }

  refuse(refusal: Refusal): void {
    this.#code = refusal.code;
    const { code, message, quota, columns } = refusal;
    const body = { error: code, message, request_id: this.requestId, quota, columns };
    this.json(statusOf(code), body, refusal.headers);
  }

  /** Refuses a request whose end is uncertain. Nothing that follows on its connection is processed. */
  refuseHead({ message, foundByLibrary }: HeadProblem): void {
    // As long as the response is incomplete, the library closes the connection when it finds another request.
    this.#drainMilliseconds = CUT_DRAIN_MILLISECONDS;
    this.#last = true;
    this.#headRefused = !foundByLibrary;
    this.refuse({ code: 'MALFORMED_REQUEST', message });
  }

  /**
   * Refuses a body in tiny chunks and closes the connection immediately, because each further chunk would block the
   * event loop.
   */
  #refuseTinyChunks(): void {
    const listeners = this.#disconnectListeners;
    this.#closesAtOnce = true;
    this.refuse({ code: 'MALFORMED_REQUEST', message: TINY_CHUNKS });
    this.#response.close();
    for (const listener of listeners) listener();
  }

  /**
   * Refuses a client whose body was cut: a silent client is disconnected immediately, a slow one gets a moment to read.
   */
  refuseCut(refusal: Refusal, why: 'silent' | 'late'): void {
    this.#drainMilliseconds = why === 'silent' ? 0 : CUT_DRAIN_MILLISECONDS;
    this.refuse(refusal);
  }

  /** Logs a fault of the service and responds with 500, without details. */
  fault(fault: unknown): void {
    this.#settings.onFault(fault, this.requestId);
    this.refuse({ code: 'INTERNAL_ERROR', message: 'Internal error of the service. Its log contains the request id.' });
  }

  /**
   * Responds with the bytes of a source at the client's reading speed, and closes the source. For HEAD, only the
   * headers are sent.
   */
  bytes(status: number, headers: readonly HeaderPair[], totalBytes: number, source: RangeReader): void {
    if (this.#state !== 'open' || this.head.method === 'HEAD' || totalBytes === 0) {
      source.close();
      this.#answer(status, headers, this.head.method === 'HEAD' ? totalBytes : '');
      return;
    }
    this.#state = 'answering';
    this.#response.cork(() => this.#writeHead(status, headers));
    const stallMilliseconds = DOWNLOAD_STALL_MILLISECONDS_MAX;
    this.#send(status, { source, totalBytes, sentBytes: 0, isFull: false, stallMilliseconds });
  }

  #answer(status: number, headers: readonly HeaderPair[], body: AnswerBody): void {
    if (this.#state !== 'open') return;
    this.#state = 'answering';
    if (this.#headRefused || this.#closesAtOnce) {
      this.#writeAndDrain(status, headers, `${body}${' '.repeat(WRITTEN_AT_ONCE_BYTES)}`);
      this.#finish(status, bytesOf(body));
      return;
    }
    // A short body usually arrives in the same packet as its head, so that the connection can stay open. If the
    // connection must be closed, the response is sent after the whole packet has been read: until then, the library
    // does not process its next request.
    const isAtOnce = !this.#last && (this.body === null || this.body.ended) && this.#settings.answers.takesTurn();
    if (isAtOnce) this.#write(status, headers, body);
    else setImmediate(() => this.#write(status, headers, body));
  }

  #write(status: number, headers: readonly HeaderPair[], body: AnswerBody): void {
    if (this.#isDisconnected) return;
    const isLast = body === null && !this.#settings.answers.keepsConnection();
    if (isLast || (this.body !== null && !this.body.ended)) {
      this.#writeAndDrain(status, headers, body);
      this.#finish(status, bytesOf(body));
      return;
    }
    this.body?.lose();
    if (body === null) this.#writeNoContent(status, headers);
    else if (this.#last) this.#writeLast(status, headers, body);
    else if (typeof body === 'number') this.#writeHeadAlone(status, headers, body);
    else if (this.head.method === 'HEAD') this.#writeHeadAlone(status, headers, Buffer.byteLength(body));
    else this.#writeBody(status, headers, body);
  }

  /**
   * Only short responses end a connection. Nothing that follows is read, even while the client does not read the
   * response.
   */
  #writeLast(status: number, headers: readonly HeaderPair[], body: NonNullable<AnswerBody>): void {
    this.#response.cork(() => {
      this.#writeHead(status, headers);
      this.#response.pause();
      this.#response.endLast(typeof body === 'number' ? '' : body);
    });
    this.#finish(status, bytesOf(body));
  }

  /** Limits what is buffered: the library keeps no part of a body that the kernel does not accept. */
  #writeBody(status: number, headers: readonly HeaderPair[], body: string | Uint8Array): void {
    const totalBytes = Buffer.byteLength(body);
    const stallMilliseconds = ANSWER_STALL_MILLISECONDS_MAX;
    if (typeof body === 'string' && body.length > ENCODED_WHOLE_CHARACTERS_MAX) {
      this.#response.cork(() => this.#writeHead(status, headers));
      this.#send(status, { source: textReader(body), totalBytes, sentBytes: 0, isFull: false, stallMilliseconds });
      return;
    }
    let complete = false;
    this.#response.cork(() => {
      this.#writeHead(status, headers);
      [, complete] = this.#response.tryEnd(body, totalBytes);
    });
    if (complete) {
      this.#finish(status, totalBytes);
      return;
    }
    const sentBytes = this.#response.getWriteOffset();
    const source = memoryReader(typeof body === 'string' ? Buffer.from(body) : body);
    this.#send(status, { source, totalBytes, sentBytes, isFull: true, stallMilliseconds });
  }

  #writeNoContent(status: number, headers: readonly HeaderPair[]): void {
    this.#response.cork(() => {
      this.#writeHead(status, headers);
      this.#response.endWithoutBody();
    });
    this.#finish(status, 0);
  }

  /**
   * Sends only the head of a response with a body of this length. Waits until the kernel has accepted the previous
   * responses.
   */
  #writeHeadAlone(status: number, headers: readonly HeaderPair[], length: number): void {
    const response = this.#response;
    let isOver = false;
    response.cork(() => {
      this.#writeHead(status, headers);
      const [isTaken, isComplete] = response.tryEnd('', length);
      if (isTaken && !isComplete) response.endWithoutBody();
      isOver = isTaken || isComplete;
    });
    if (isOver) {
      this.#finish(status, 0);
      return;
    }
    // The library closes the connection if the client does not read.
    response.onWritable(() => {
      response.cork(() => response.endWithoutBody());
      this.#finish(status, 0);
      return true;
    });
  }

  #send(status: number, sending: Omit<Sending, 'onDisconnect' | 'done'>): void {
    const onDisconnect: Sending['onDisconnect'] = (listener) => this.onDisconnect(listener);
    const done: Sending['done'] = (sentBytes, fault) => {
      if (fault !== null) this.#settings.onFault(fault, this.requestId);
      this.#finish(status, sentBytes);
    };
    sendBytes(this.#response, { ...sending, onDisconnect, done }, this.#settings.answers);
  }

  /**
   * Responds while the body is still arriving. The response object stays usable until the body has ended or its time is
   * over.
   */
  #writeAndDrain(status: number, headers: readonly HeaderPair[], body: AnswerBody): void {
    this.#response.cork(() => {
      this.#writeHead(status, headers);
      this.#response.writeWhole(textOf(body));
    });
    if (this.#closesAtOnce) return;
    const close = (): void => {
      // Deferred, because the library still uses the response after this callback.
      setImmediate(() => {
        if (!this.#isDisconnected) this.#response.close();
      });
    };
    if (this.body === null || this.body.ended) close();
    else this.body.drop(close, this.#drainMilliseconds);
  }

  #writeHead(status: number, headers: readonly HeaderPair[]): void {
    let lines = `\r\nX-Request-Id: ${this.requestId}\r\n${FIXED_HEADERS}`;
    if (this.#contentType !== null) lines += headerLine('Content-Type', this.#contentType);
    for (const [name, value] of this.#headers) lines += headerLine(name, value);
    for (const [name, value] of headers) lines += headerLine(name, value);
    this.#response.writeHead(status, REASON_BY_STATUS[status] ?? '', lines);
  }

  #lost(): void {
    if (this.#isDisconnected) return;
    this.#isDisconnected = true;
    this.body?.lose();
    const listeners = this.#disconnectListeners;
    this.#disconnectListeners = [];
    for (const listener of listeners) listener();
    this.#finish(0, 0);
  }

  #finish(status: number, sentBytes: number): void {
    if (this.#state === 'finished') return;
    this.#state = 'finished';
    this.#disconnectListeners = [];
    this.#settings.onFinished({
      requestId: this.requestId,
      method: this.head.method,
      endpoint: this.endpoint,
      account: this.account,
      keyId: this.keyId,
      templateId: this.templateId,
      runId: this.runId,
      runFields: this.runFields,
      status,
      code: this.#code,
      milliseconds: performance.now() - this.#startedAt,
      receivedBytes: this.body?.receivedBytes ?? 0,
      sentBytes,
    });
  }
}

/** Number of bytes sent of the body. */
function bytesOf(body: AnswerBody): number {
  return body === null || typeof body === 'number' ? 0 : Buffer.byteLength(body);
}

function textOf(body: AnswerBody): string | null {
  if (body === null || typeof body === 'number') return null;
  return typeof body === 'string' ? body : Buffer.from(body).toString();
}

/**
 * Header line, starting with a line end. The library does not check values: a line end in a value would inject headers.
 */
function headerLine(name: string, value: string): string {
  if (UNSAFE_IN_HEADER.test(value)) throw new Error(`unsafe value of header ${name}`);
  return `\r\n${name}: ${value}`;
}

// A request that has been answered, for the log and the metrics. Contains no text sent by the client.

/** Data for the log line and the metrics of one request. */
export interface FinishedExchange {
  readonly requestId: string;
  readonly method: string;
  /** Name of the endpoint, or '' for an unknown path. */
  readonly endpoint: string;
  /** Account of the key that was sent, even if it is not permitted. null if the key is not in the catalog. */
  readonly account: string | null;
  /** Name of that key in the catalog. */
  readonly keyId: string | null;
  /** null if the request does not concern a Template of the account. */
  readonly templateId: string | null;
  readonly runId: string | null;
  /**
   * Fields about the end of the Run that this request started, as JSON without braces; null without such a Run, and
   * while it continues.
   */
  readonly runFields: string | null;
  /** 0 if the client disconnected before the response. */
  readonly status: number;
  /** Error code of the response. */
  readonly code: string | null;
  readonly milliseconds: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

// Marks deprecated features: adds the headers Deprecation (RFC 9745), Sunset (RFC 8594) and Link to responses of an
// operation, or of an endpoint with a deprecated field. Nothing is deprecated yet.

export interface Deprecation {
  /** Date of the deprecation, in the past or future. */
  readonly since: Date;
  /** Date of removal: at least twelve months later. */
  readonly sunset: Date;
  /** Page that describes the replacement. */
  readonly link: string;
}

/** Throws if the sunset is too early, which is an error of the caller. */
export function markDeprecated(exchange: Pick<Exchange, 'addHeader'>, { since, sunset, link }: Deprecation): void {
  const earliest = new Date(since);
  earliest.setUTCFullYear(earliest.getUTCFullYear() + 1);
  if (!(sunset >= earliest)) throw new Error('a deprecated endpoint must keep working for at least twelve months');
  exchange.addHeader('Deprecation', `@${Math.floor(since.getTime() / 1000)}`);
  exchange.addHeader('Sunset', sunset.toUTCString());
  exchange.addHeader('Link', `<${encodeURI(link)}>; rel="deprecation"; type="text/html"`);
}
