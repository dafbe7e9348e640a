// One request and its one answer: headers, request id, JSON, downloads, and the end of a connection that is refused
// while it still sends. It does not route and knows no endpoint.
// States: open → answering (the answer is decided) → finished (it was handed to the kernel, or the client is gone).
import { randomUUID } from 'node:crypto';
import type { FinishedExchange } from './finished-exchange.ts';
import type { RawResponse } from './raw-response.ts';
import type { ReadTurns } from './read-turns.ts';
import type { Refusal } from './refusal.ts';
import { RequestBody } from './request-body.ts';
import { endsForCertain, type HeaderPair, type HeadProblem, type RequestHead } from './request-head.ts';
import type { RangeReader } from './send-bytes.ts';
import { sendBytes } from './send-bytes.ts';
import { REASON_BY_STATUS, STATUS_BY_CODE } from './status.ts';

export interface ExchangeSettings {
  readonly uploadMilliseconds: number;
  /** One for all that share the event loop. */
  readonly turns: ReadTurns;
  readonly onFinished: (exchange: FinishedExchange) => void;
  readonly onFault: (fault: unknown, requestId: string) => void;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const UNSAFE_IN_HEADER = /[\r\n\0]/;

/** Of every answer. */
const FIXED_HEADERS = 'Cache-Control: private, no-store\r\nX-Content-Type-Options: nosniff';

/** After a body that took too long its client gets this long to read the answer, in milliseconds. */
const CUT_DRAIN_MILLISECONDS = 1_000;

/**
 * What the library gathers of an answer before it writes, in bytes: white space behind a JSON answer makes it longer, so
 * that it is on its way before the library closes the connection over what it finds next.
 */
const WRITTEN_AT_ONCE_BYTES = 16 * 1024;

/** null = none. */
type AnswerBody = string | Uint8Array | null;

export class Exchange {
  readonly head: RequestHead;
  readonly requestId: string;
  /** null for the methods whose body is never read. */
  readonly body: RequestBody | null;
  /** Filled in on the way for the log. */
  endpoint = '';
  account: string | null = null;
  keyId: string | null = null;
  templateId: string | null = null;
  runId: string | null = null;
  #response: RawResponse;
  #settings: ExchangeSettings;
  #startedAt = performance.now();
  #state: 'open' | 'answering' | 'finished' = 'open';
  #gone = false;
  #goneListeners: (() => void)[] = [];
  #headers: HeaderPair[] = [];
  #contentType: string | null = null;
  #code: string | null = null;
  #drainMilliseconds: number | undefined;
  /** No request may follow on this connection. */
  #last: boolean;
  #headRefused = false;

  constructor(response: RawResponse, head: RequestHead, settings: ExchangeSettings) {
    this.#response = response;
    this.#settings = settings;
    this.head = head;
    const given = this.header('x-request-id');
    this.requestId = given !== null && REQUEST_ID.test(given) ? given : randomUUID();
    response.onAborted(() => this.#lost());
    const bodyless = head.method === 'GET' || head.method === 'HEAD';
    this.#last = !endsForCertain(head);
    this.body = bodyless ? null : new RequestBody(response, settings.uploadMilliseconds, settings.turns);
  }

  /** The client has gone away: nobody reads an answer. */
  get gone(): boolean {
    return this.#gone;
  }

  get answered(): boolean {
    return this.#state !== 'open';
  }

  /** The client's, or that of a balancer before it: 4 or 16 bytes. */
  remoteAddress(): Uint8Array {
    return this.#gone ? new Uint8Array() : new Uint8Array(this.#response.getRemoteAddress());
  }

  /** Calls back when the client goes away before it was answered; at once when it already has. */
  onGone(listener: () => void): void {
    if (this.#gone) listener();
    else this.#goneListeners.push(listener);
  }

  /** The first header of this lower-case name, null when absent. */
  header(name: string): string | null {
    for (const [key, value] of this.head.headers) if (key === name) return value;
    return null;
  }

  headerValues(name: string): string[] {
    const values: string[] = [];
    for (const [key, value] of this.head.headers) if (key === name) values.push(value);
    return values;
  }

  /** Adds a header to whatever answer will be given. */
  addHeader(name: string, value: string): void {
    this.#headers.push([name, value]);
  }

  /** Answers with JSON; a string and bytes are taken as JSON that is already written. */
  json(status: number, value: object | string | Uint8Array, headers: readonly HeaderPair[] = []): void {
    const written = typeof value === 'string' || value instanceof Uint8Array;
    this.#contentType = 'application/json';
    this.#answer(status, headers, written ? value : JSON.stringify(value));
  }

  text(status: number, contentType: string, body: string): void {
    this.#contentType = contentType;
    this.#answer(status, [], body);
  }

  empty(status: number, headers: readonly HeaderPair[] = []): void {
    this.#answer(status, headers, null);
  }

  refuse(refusal: Refusal): void {
    this.#code = refusal.code;
    const { code, message, quota, columns } = refusal;
    const body = { error: code, message, request_id: this.requestId, quota, columns };
    this.json(STATUS_BY_CODE[code], body, refusal.headers);
  }

  /** Refuses a request of which nobody can tell where it ends: nothing that follows on its connection is served. */
  refuseHead({ message, foundByLibrary }: HeadProblem): void {
    // While the answer is not complete, the library closes the connection when it finds another request.
    this.#drainMilliseconds = CUT_DRAIN_MILLISECONDS;
    this.#last = true;
    this.#headRefused = !foundByLibrary;
    this.refuse({ code: 'MALFORMED_REQUEST', message });
  }

  /** Refuses a client whose body was cut: a silent one is closed at once, a slow one is given a moment to read. */
  refuseCut(refusal: Refusal, why: 'silent' | 'late'): void {
    this.#drainMilliseconds = why === 'silent' ? 0 : CUT_DRAIN_MILLISECONDS;
    this.refuse(refusal);
  }

  /** Logs a fault of ours and answers 500 with nothing of it. */
  fault(fault: unknown): void {
    this.#settings.onFault(fault, this.requestId);
    this.refuse({ code: 'INTERNAL_ERROR', message: 'The service has made a mistake. Its log has the request id.' });
  }

  /** Answers with bytes of a source, as slowly as the client reads; closes the source. HEAD gets the headers alone. */
  bytes(status: number, headers: readonly HeaderPair[], totalBytes: number, source: RangeReader): void {
    if (this.#state !== 'open' || this.head.method === 'HEAD' || totalBytes === 0) {
      source.close();
      this.#answer(status, [...headers, ['Content-Length', String(totalBytes)]], null);
      return;
    }
    this.#state = 'answering';
    this.#response.cork(() => this.#writeHead(status, headers));
    const done = (sentBytes: number, fault: unknown): void => {
      if (fault !== null) this.#settings.onFault(fault, this.requestId);
      this.#finish(status, sentBytes);
    };
    sendBytes(this.#response, source, totalBytes, (listener) => this.onGone(listener), done);
  }

  #answer(status: number, headers: readonly HeaderPair[], body: AnswerBody): void {
    if (this.#state !== 'open') return;
    this.#state = 'answering';
    if (this.#headRefused) {
      this.#writeAndDrain(status, headers, `${body}${' '.repeat(WRITTEN_AT_ONCE_BYTES)}`);
      this.#finish(status, body?.length ?? 0);
      return;
    }
    // A short body usually comes in the same packet as its head: then the connection can stay open. One that must not
    // stay open is answered when the packet has been read: the library serves nothing else of it meanwhile.
    if (!this.#last && (this.body === null || this.body.ended)) this.#write(status, headers, body);
    else setImmediate(() => this.#write(status, headers, body));
  }

  #write(status: number, headers: readonly HeaderPair[], body: AnswerBody): void {
    if (this.#gone) return;
    if (this.body !== null && !this.body.ended) this.#writeAndDrain(status, headers, body);
    else this.#writeWhole(status, headers, body);
    this.#finish(status, body?.length ?? 0);
  }

  #writeWhole(status: number, headers: readonly HeaderPair[], body: AnswerBody): void {
    this.#response.cork(() => {
      this.#writeHead(status, headers);
      if (this.#last) {
        this.#response.end(body ?? '', true);
      } else if (body === null) {
        this.#response.endWithoutBody();
      } else if (this.head.method === 'HEAD') {
        this.#response.writeHeader('Content-Length', String(Buffer.byteLength(body)));
        this.#response.endWithoutBody();
      } else {
        this.#response.end(body);
      }
    });
    this.body?.lose();
  }

  /**
   * The library's end() gives the response away, and with it the body that is still coming. So this answer is written
   * whole as the value of its last header: the response stays ours until the body has ended or its time is over. The
   * line end that follows a header is then the last of the content (white space to JSON).
   */
  #writeAndDrain(status: number, headers: readonly HeaderPair[], body: AnswerBody): void {
    this.#response.cork(() => {
      this.#writeHead(status, headers);
      this.#response.writeHeader('Date', new Date().toUTCString());
      this.#response.writeHeader('Connection', 'close');
      const text = body === null || typeof body === 'string' ? body : Buffer.from(body).toString();
      const length = text === null ? 0 : Buffer.byteLength(text) + 2;
      this.#response.writeHeader('Content-Length', text === null ? '0\r\n' : `${length}\r\n\r\n${text}`);
    });
    const close = (): void => {
      // Not in the library's own callback, which still uses the response.
      setImmediate(() => {
        if (!this.#gone) this.#response.close();
      });
    };
    if (this.body === null) close();
    else this.body.drop(close, this.#drainMilliseconds);
  }

  /** All of it as the library's status: eight calls for as many lines were a twentieth of what a small Run cost. */
  #writeHead(status: number, headers: readonly HeaderPair[]): void {
    let head = `${status} ${REASON_BY_STATUS[status] ?? ''}\r\nX-Request-Id: ${this.requestId}\r\n${FIXED_HEADERS}`;
    if (this.#contentType !== null) head += headerLine('Content-Type', this.#contentType);
    for (const [name, value] of this.#headers) head += headerLine(name, value);
    for (const [name, value] of headers) head += headerLine(name, value);
    this.#response.writeStatus(head);
  }

  #lost(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.body?.lose();
    const listeners = this.#goneListeners;
    this.#goneListeners = [];
    for (const listener of listeners) listener();
    this.#finish(0, 0);
  }

  #finish(status: number, sentBytes: number): void {
    if (this.#state === 'finished') return;
    this.#state = 'finished';
    this.#goneListeners = [];
    this.#settings.onFinished({
      requestId: this.requestId,
      method: this.head.method,
      endpoint: this.endpoint,
      account: this.account,
      keyId: this.keyId,
      templateId: this.templateId,
      runId: this.runId,
      status,
      code: this.#code,
      milliseconds: performance.now() - this.#startedAt,
      receivedBytes: this.body?.receivedBytes ?? 0,
      sentBytes,
    });
  }
}

/** With the line end before it. The library does not check: another one in a value would write headers. */
function headerLine(name: string, value: string): string {
  if (UNSAFE_IN_HEADER.test(value)) throw new Error(`unsafe value of header ${name}`);
  return `\r\n${name}: ${value}`;
}
