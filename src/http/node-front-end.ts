// Front end with Node's own HTTP server, for machines on which uWebSockets.js does not load. Passes each request to the
// router as an Exchange, like uws-front-end.ts, with the same limits and responses.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIPv4, Server as NetServer, type Socket } from 'node:net';
import type { Connections } from './connections.ts';
import { Exchange, type ExchangeSettings } from './exchange.ts';
import { type FrontEnd, type HttpServer, listenError } from './http-server.ts';
import type { RawResponse } from './raw-response.ts';
import {
  endsForCertain,
  type HeaderPair,
  type HeadProblem,
  headProblem,
  REQUEST_HEAD_BYTES_MAX,
  type RequestHead,
} from './request-head.ts';
import type { Router } from './router.ts';

/**
 * Maximum number of unanswered requests per connection. uWebSockets.js closes a connection that sends a request before
 * the previous one is answered; here, the responses of a client that does not read would accumulate.
 */
const OPEN_REQUESTS_MAX = 16;

/**
 * Maximum number of requests after the last one of a connection, which are not answered. A connection that sends more is
 * closed before its last response. Otherwise, Node would parse up to 2 MiB of requests in one turn of the event loop,
 * and hold them all.
 */
const IGNORED_REQUESTS_MAX = 16;

/** Maximum time without a complete head or a further request before the connection is closed, as in uWebSockets.js. */
const IDLE_MILLISECONDS_MAX = 10_000;

/** Interval at which Node checks the time above. */
const IDLE_CHECK_MILLISECONDS = 2_000;

/** Size of one write in bytes: the maximum that Node may buffer of a body while its client does not read. */
const WRITTEN_BYTES = 64 * 1024;

const NO_BYTES = Buffer.alloc(0);

export const nodeFrontEnd: FrontEnd = { name: 'node', listen };

async function listen(
  host: string,
  port: number,
  router: Router,
  settings: ExchangeSettings,
  connections: Connections,
): Promise<HttpServer> {
  // Same variable as for uWebSockets.js, so that both front ends have the same limit.
  const headBytesMax = Number(process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ?? REQUEST_HEAD_BYTES_MAX);
  const server = createServer({
    maxHeaderSize: headBytesMax,
    headersTimeout: IDLE_MILLISECONDS_MAX,
    keepAliveTimeout: IDLE_MILLISECONDS_MAX,
    connectionsCheckingInterval: IDLE_CHECK_MILLISECONDS,
    // RequestBody supervises bodies instead.
    requestTimeout: 0,
    // Checked below instead, with a JSON response.
    requireHostHeader: false,
    noDelay: true,
  });
  const open = new OpenExchanges();
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    if (!open.add(request.socket, response)) return;
    const head = { method: request.method ?? '', path: pathOf(request), headers: headersOf(request) };
    const problem = requestProblem(request, head);
    const endConnection = (): void => open.end(request.socket);
    if (problem !== null || !endsForCertain(head)) endConnection();
    const exchange = new Exchange(new NodeResponse(request, response, endConnection), head, settings);
    if (problem === null) router.dispatch(exchange);
    else exchange.refuseHead(problem);
  };
  server.on('request', serve);
  server.on('checkExpectation', serve);
  server.on('clientError', (error, socket: Socket) => refuseBytes(error, socket, open.of(socket)));
  server.on('connection', (socket) => countConnection(socket, connections));
  if (!(await openPort(server, host, port))) throw await listenError(host, port);
  const address = server.address();
  const taken = typeof address === 'object' && address !== null ? address.port : port;
  return serverOn(server, host, taken);
}

function serverOn(server: Server, host: string, port: number): HttpServer {
  let stopped = false;
  // The close() of the HTTP server would also close idle connections.
  const pauseListening = (): void => {
    if (server.listening) NetServer.prototype.close.call(server);
  };
  return {
    port,
    pauseListening,
    stopListening: () => {
      stopped = true;
      pauseListening();
    },
    listenAgain: async () => server.listening || (!stopped && (await openPort(server, host, port))),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns false if the system refuses the port. */
function openPort(server: Server, host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const failed = (): void => resolve(false);
    server.once('error', failed);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', failed);
      resolve(true);
    });
  });
}

function countConnection(socket: Socket, connections: Connections): void {
  socket.once('close', () => connections.closed());
  if (!connections.opened(() => addressBytes(socket.remoteAddress))) socket.destroy();
}

function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function headersOf({ rawHeaders }: IncomingMessage): HeaderPair[] {
  const headers: HeaderPair[] = [];
  // Node's parser leaves a tab at the end of a value.
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.push([rawHeaders[at]!.toLowerCase(), rawHeaders[at + 1]!.trimEnd()]);
  return headers;
}

/** The unanswered requests of each connection. */
class OpenExchanges {
  #responses = new WeakMap<Socket, Set<ServerResponse>>();
  /** Connections whose last request has been read, with the number of requests after it. */
  #ignored = new WeakMap<Socket, number>();

  /** Returns false if nothing more is read from this connection. */
  add(socket: Socket, response: ServerResponse): boolean {
    const ignored = this.#ignored.get(socket);
    if (ignored !== undefined) {
      this.#ignored.set(socket, ignored + 1);
      if (ignored >= IGNORED_REQUESTS_MAX) socket.destroy();
      return false;
    }
    const responses = this.#responses.get(socket) ?? new Set();
    if (responses.size >= OPEN_REQUESTS_MAX) {
      this.end(socket);
      socket.destroy();
      return false;
    }
    this.#responses.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
    return true;
  }

  /** Marks the last request of a connection: its end is uncertain, or its response closes the connection. */
  end(socket: Socket): void {
    if (!this.#ignored.has(socket)) this.#ignored.set(socket, 0);
  }

  of(socket: Socket): readonly ServerResponse[] {
    return [...(this.#responses.get(socket) ?? [])];
  }
}

/** Finds the problems that uWebSockets.js detects itself, and then those that both front ends check. */
function requestProblem(request: IncomingMessage, head: RequestHead): HeadProblem | null {
  const { httpVersionMajor, httpVersionMinor } = request;
  if (httpVersionMajor !== 1 || httpVersionMinor !== 1) return problem('Send the request as HTTP/1.1.');
  if (!head.path.startsWith('/')) return problem('Send the path of the request without an origin.');
  if (!head.headers.some(([name]) => name === 'host')) return problem('Send a Host header.');
  return headProblem(head);
}

function problem(message: string): HeadProblem {
  return { message, foundByLibrary: false };
}

const HEAD_TOO_LARGE = [431, 'Request Header Fields Too Large', 'The head of the request is too large.'] as const;
const HEAD_TOO_SLOW = [408, 'Request Timeout', 'The head of the request did not arrive in time.'] as const;
const NO_REQUEST = [400, 'Bad Request', 'What was sent is not an HTTP request.'] as const;

/**
 * Refuses bytes that Node's parser does not accept, and closes the connection. The bytes may follow a request that is
 * being answered: if its response has begun, the connection is only closed.
 */
function refuseBytes(error: NodeJS.ErrnoException, socket: Socket, open: readonly ServerResponse[]): void {
  if (!socket.writable || error.code === 'ECONNRESET' || open.length > 1) {
    socket.destroy();
    return;
  }
  if (open.some(({ headersSent }) => headersSent)) {
    socket.destroySoon();
    return;
  }
  const [status, reason, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? HEAD_TOO_LARGE
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? HEAD_TOO_SLOW
        : NO_REQUEST;
  const body = JSON.stringify({ error: 'MALFORMED_REQUEST', message });
  const lines = [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Adapts Node's response to RawResponse. */
class NodeResponse implements RawResponse {
  #request: IncomingMessage;
  #response: ServerResponse;
  /** Prevents further requests on the connection. */
  #endConnection: () => void;
  #status = 200;
  #reason = '';
  /** Names and values alternately. */
  #headers: string[] = [];
  /** Number of bytes of the body. */
  #sentBytes = 0;
  /** True once the response is complete. */
  #ended = false;

  constructor(request: IncomingMessage, response: ServerResponse, endConnection: () => void) {
    this.#request = request;
    this.#response = response;
    this.#endConnection = endConnection;
  }

  pause(): void {
    this.#request.pause();
  }

  resume(): void {
    this.#request.resume();
  }

  writeHead(status: number, reason: string, lines: string): void {
    this.#status = status;
    this.#reason = reason;
    for (const line of lines.split('\r\n')) {
      const colon = line.indexOf(': ');
      if (colon > 0) this.#headers.push(line.slice(0, colon), line.slice(colon + 2));
    }
  }

  endLast(body: string | Uint8Array): void {
    this.#endConnection();
    this.#headers.push('Connection', 'close', 'Content-Length', String(Buffer.byteLength(body)));
    this.#sendHead();
    this.#end(body);
  }

  endWithoutBody(): void {
    if (!this.#response.headersSent) this.#sendHead();
    this.#end();
  }

  writeWhole(text: string | null): void {
    this.#endConnection();
    this.#headers.push('Connection', 'close');
    if (text !== null) this.#headers.push('Content-Length', String(Buffer.byteLength(text)));
    this.#sendHead();
    if (text === null || text === '') this.#response.flushHeaders();
    else this.#response.write(text);
  }

  tryEnd(chunk: string | Uint8Array, totalBytes: number): [boolean, boolean] {
    // The previous response of this connection is not complete, so 'drain' would not follow a write.
    if (this.#response.socket === null) return [false, false];
    if (!this.#response.headersSent) {
      this.#headers.push('Content-Length', String(totalBytes));
      this.#sendHead();
    }
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    let isTaken = this.#response.writableLength === 0;
    let at = 0;
    for (; isTaken && at < bytes.length; at += WRITTEN_BYTES) {
      const piece = bytes.subarray(at, at + WRITTEN_BYTES);
      this.#response.write(piece);
      this.#sentBytes += piece.length;
      this.#flush();
      isTaken = this.#response.writableLength === 0;
    }
    const isComplete = isTaken && this.#sentBytes === totalBytes;
    if (isComplete) this.#end();
    return [isTaken, isComplete];
  }

  close(): void {
    this.#flush();
    this.#request.socket.destroy();
  }

  getWriteOffset(): number {
    return this.#sentBytes;
  }

  getRemoteAddress(): Uint8Array {
    return addressBytes(this.#request.socket.remoteAddress);
  }

  onWritable(handler: (offset: number) => boolean): void {
    const event = this.#response.socket === null ? 'socket' : 'drain';
    this.#response.once(event, () => handler(this.#sentBytes));
  }

  onAborted(handler: () => void): void {
    this.#response.once('close', () => {
      if (!this.#ended) handler();
    });
  }

  onData(handler: (chunk: Buffer, isLast: boolean) => void): void {
    let leftBytes = Number(this.#request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
    this.#request.on('data', (chunk: Buffer) => {
      leftBytes -= chunk.length;
      // A body that is paused after its last byte would never end.
      handler(chunk, leftBytes === 0);
    });
    this.#request.once('end', () => {
      if (leftBytes > 0 || this.#request.headers['content-length'] === '0') handler(NO_BYTES, true);
    });
  }

  /** Node writes the head and the first bytes of a body together. */
  cork(callback: () => void): void {
    callback();
  }

  /** Node buffers the writes of one turn of the event loop. This passes them to the kernel immediately. */
  #flush(): void {
    const { socket } = this.#response;
    while (socket !== null && socket.writableCorked > 0) socket.uncork();
  }

  #sendHead(): void {
    this.#response.writeHead(this.#status, this.#reason, this.#headers);
  }

  #end(body?: string | Uint8Array): void {
    this.#ended = true;
    this.#response.end(body);
  }
}

/** Returns the bytes of an address in text form (RFC 4291, 2.2): 4 or 16, or none if the connection is closed. */
function addressBytes(address: string | undefined): Uint8Array {
  if (address === undefined) return NO_BYTES;
  if (isIPv4(address)) return Uint8Array.from(address.split('.'), Number);
  const [withoutZone = ''] = address.split('%');
  // Writes the IPv4 end of an address such as ::ffff:127.0.0.1 as two groups of hex digits.
  const text = withoutZone.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((group) => group.toString(16)).join(':'),
  );
  const [before = '', after] = text.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [first, last] = [groups(before), groups(after ?? '')];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  const all = [...first, ...zeros, ...last];
  return Uint8Array.from(all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]));
}
