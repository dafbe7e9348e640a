// The studio's HTTP server: its routes, the bodies of requests, and the files of its page.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { Failed } from '../../workers/protocol/failure.ts';
import type { CellFilter, RowFilter, ValueRange } from '../../workers/watch/watch-messages.ts';
import { type SampleReading, SampleRefusedError } from '../drafts/sample-profile.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import { NoTestError } from './golden-test.ts';
import { studioLanguage } from './language.ts';
import { RecoveryRefusedError } from './recovery-files.ts';
import type { RecoveryDecision } from './studio-answers.ts';
import { OperationUnreadableError, readValue, type StudioSession } from './studio-session.ts';
import { SampleGoneError, TemplateChangedError, TemplateEncodingError } from './template-store.ts';
import { NoOutputError, WholeOutput } from './whole-output.ts';

// Reads the JSON body of a request to the studio and its fields. Refuses invalid bodies with a reason.

/** Upper bound for a Template: at most a million characters of up to four bytes each, plus JSON escapes. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

class RequestRefused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'RequestRefused';
    this.status = status;
    this.code = code;
  }
}

type JsonBody = Readonly<Record<string, unknown>>;

async function readJsonBody(request: IncomingMessage): Promise<JsonBody> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) throw new RequestRefused(413, 'BODY_TOO_LARGE', 'The request is too large.');
    parts.push(part);
  }
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    throw new RequestRefused(400, 'BAD_REQUEST', 'The body is not JSON.');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new RequestRefused(400, 'BAD_REQUEST', 'The body is not a JSON object.');
  }
  return body as JsonBody;
}

function textIn(body: JsonBody, name: string): string {
  const value = body[name];
  if (typeof value !== 'string') throw new RequestRefused(400, 'BAD_REQUEST', `${name} must be a text.`);
  return value;
}

/** A non-negative whole number. */
function numberIn(body: JsonBody, name: string): number {
  const value = body[name];
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new RequestRefused(400, 'BAD_REQUEST', `${name} must be a whole number.`);
  }
  return value as number;
}

function numbersIn(body: JsonBody, name: string): readonly number[] {
  const value = body[name];
  if (!Array.isArray(value)) throw new RequestRefused(400, 'BAD_REQUEST', `${name} must be a list.`);
  return value.map((_, index) => numberIn(value as never, String(index)));
}

function textsIn(body: JsonBody, name: string): readonly string[] {
  const value = body[name];
  if (!Array.isArray(value)) throw new RequestRefused(400, 'BAD_REQUEST', `${name} must be a list.`);
  return value.map((_, index) => textIn(value as never, String(index)));
}

// The files of the studio's page, as built from page/. Each file is read once.

interface PageFile {
  readonly type: string;
  readonly content: string;
}

const FILES: readonly (readonly [path: string, file: string, type: string])[] = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page.js', 'page.js', 'text/javascript; charset=utf-8'],
  ['/page.css', 'page.css', 'text/css; charset=utf-8'],
];

/** Files by request path. */
function pageFiles(): ReadonlyMap<string, PageFile> {
  const folder = new URL('dist/studio/', PACKAGE_FOLDER);
  return new Map(
    FILES.map(([path, file, type]) => [path, { type, content: readFileSync(new URL(file, folder), 'utf8') }]),
  );
}

// The routes of the studio's server, with the fields that each request body must have.

/** Maximum rows per request, which is a few screens. */
const ROWS_AT_ONCE_MAX = 500;

/** Maximum rows of a test, because people read tests. */
const TEST_ROWS_MAX = 50;

const FILTERS: readonly RowFilter[] = ['all', 'changed', 'errors'];

interface StudioRoutes {
  readonly session: StudioSession;
  /** Number of rows that the current Run has read. */
  readonly rowsRead: () => number;
}

type Route = (routes: StudioRoutes, body: JsonBody) => unknown;

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['GET /api/state', ({ session }) => session.state()],
  ['POST /api/recovered', ({ session }, body) => session.recovered(textIn(body, 'page'), textsIn(body, 'seen'))],
  ['POST /api/decide', ({ session }, body) => session.decide(textIn(body, 'page'), decisionIn(body))],
  [
    'PUT /api/recovery',
    ({ session }, body) => session.keep(textIn(body, 'page'), body['source'] === null ? null : textIn(body, 'source')),
  ],
  ['GET /api/language', () => studioLanguage()],
  ['GET /api/progress', ({ rowsRead }) => ({ rowsRead: rowsRead() })],
  [
    'POST /api/evaluate',
    ({ session }, body) =>
      session.evaluate({
        asked: 'page' in body ? { page: textIn(body, 'page'), number: numberIn(body, 'number') } : null,
        source: textIn(body, 'source'),
        step: numberIn(body, 'step'),
        whole: body['whole'] === true,
        head: body['head'] === true,
        hasRows: body['hasRows'] === true,
      }),
  ],
  ['POST /api/stop', ({ session }) => session.stop()],
  [
    'POST /api/rows',
    ({ session }, body) =>
      session.rows({
        step: numberIn(body, 'step'),
        filter: filterIn(body),
        cell: cellIn(body),
        from: numberIn(body, 'from'),
        count: Math.min(ROWS_AT_ONCE_MAX, numberIn(body, 'count')),
      }),
  ],
  [
    'POST /api/trace',
    ({ session }, body) =>
      session.trace({
        sourceRow: numberIn(body, 'sourceRow'),
        repeat: numberIn(body, 'repeat'),
        columnId: numberIn(body, 'columnId'),
      }),
  ],
  ['POST /api/suggestions', ({ session }, body) => session.suggestions(numberIn(body, 'step'))],
  ['POST /api/run-tests', ({ session }, body) => session.runTests(textIn(body, 'source'))],
  ['POST /api/output', ({ session }, body) => session.output(textIn(body, 'source'))],
  [
    'POST /api/similar',
    ({ session }, body) => {
      const method = textIn(body, 'method') === 'similarity' ? 'similarity' : 'fingerprint';
      const found = { method, threshold: numberIn(body, 'thresholdPercent') / 100 } as const;
      return session.similar(numberIn(body, 'step'), numberIn(body, 'column'), found);
    },
  ],
  ['POST /api/test', ({ session }, body) => session.makeTest(textIn(body, 'source'), testRows(body))],
  ['POST /api/section', ({ session }, body) => session.section(textIn(body, 'source'), textIn(body, 'section'))],
  ['GET /api/sheets', ({ session }) => session.sheets()],
  ['POST /api/draft', ({ session }, body) => session.newDraft(settingsIn(body))],
  ['POST /api/operation', ({ session }, body) => session.operation(textIn(body, 'source'), numberIn(body, 'item'))],
  ['POST /api/value', (_, body) => readValue(textIn(body, 'text'))],
  [
    'PUT /api/template',
    ({ session }, body) => session.save(textIn(body, 'page'), textIn(body, 'source'), textIn(body, 'sha256')),
  ],
]);

type FileRoute = (session: StudioSession, name: string, bytes: Readable) => Promise<unknown>;

/** Requests whose body is a file, with its name in the header `X-File-Name`. */
const FILE_ROUTES: ReadonlyMap<string, FileRoute> = new Map<string, FileRoute>([
  ['PUT /api/sample', (session, name, bytes) => session.openSample(name, bytes)],
  ['PUT /api/table', (session, name, bytes) => session.addTable(name, bytes)],
]);

/** @param encoded as encodeURIComponent writes it, because headers are ASCII */
function fileName(encoded: unknown): string {
  const name = typeof encoded === 'string' && /^(?:[^%]|%[0-9A-F]{2})*$/.test(encoded) ? decoded(encoded) : '';
  if (!/[^./\\\0]/.test(name) || name.includes('\0'))
    throw new RequestRefused(400, 'BAD_REQUEST', 'X-File-Name must be the name of a file.');
  return name;
}

function decoded(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return '';
  }
}

/** @param route method and path */
async function answerOf(routes: StudioRoutes, route: string, body: JsonBody): Promise<unknown> {
  const answer = ROUTES.get(route);
  if (answer === undefined) throw new RequestRefused(404, 'NOT_FOUND', 'The studio does not know this request.');
  return await answer(routes, body);
}

function filterIn(body: JsonBody): RowFilter {
  const filter = FILTERS.find((each) => each === body['filter']);
  if (filter === undefined)
    throw new RequestRefused(400, 'BAD_REQUEST', `filter must be one of ${FILTERS.join(', ')}.`);
  return filter;
}

function settingsIn({ settings }: JsonBody): SampleReading {
  if (typeof settings === 'object' && settings !== null && !Array.isArray(settings)) return settings as SampleReading;
  throw new RequestRefused(400, 'BAD_REQUEST', 'settings must be an object.');
}

function cellIn(body: JsonBody): CellFilter | null {
  const cell = body['cell'];
  if (typeof cell !== 'object' || cell === null) return null;
  const { text = null, range = null } = cell as JsonBody;
  return {
    column: numberIn(cell as JsonBody, 'column'),
    text: text === null ? null : textIn(cell as JsonBody, 'text'),
    range: typeof range !== 'object' || range === null ? null : rangeIn(range as JsonBody),
  };
}

function decisionIn(body: JsonBody): RecoveryDecision {
  const does = body['does'] === 'take' ? 'take' : 'drop';
  return { does, name: textIn(body, 'name'), source: textIn(body, 'source') };
}

function rangeIn(range: JsonBody): ValueRange {
  const limit = (name: string): string | null => (range[name] === null ? null : textIn(range, name));
  return { from: limit('from'), to: limit('to') };
}

function testRows(body: JsonBody): readonly number[] {
  const rows = numbersIn(body, 'rows');
  if (rows.length === 0 || rows.length > TEST_ROWS_MAX) {
    throw new RequestRefused(400, 'BAD_REQUEST', `A test is made of 1 to ${TEST_ROWS_MAX} rows.`);
  }
  return rows;
}

// The studio's HTTP server: node:http on 127.0.0.1, for the one page that has its token. It refuses all other
// requests: the Host header must match, an Origin header too if present, and every route that reads or changes data
// needs the token, which never appears in a request's address.

const HOST = '127.0.0.1';

const TOKEN_BYTES = 16;

/** The page loads nothing from other origins, sends nothing to them, and cannot be framed. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    // The editor's style sheets contain its problem markers as data: images; no request is made for them.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

const SECURITY_HEADERS = {
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;

export class StudioServer {
  readonly #routes: StudioRoutes;
  readonly #files: ReadonlyMap<string, PageFile> = pageFiles();
  readonly #token = randomBytes(TOKEN_BYTES).toString('base64url');
  readonly #server: Server;
  readonly #onFault: (fault: unknown) => void;

  constructor(routes: StudioRoutes, onFault: (fault: unknown) => void) {
    this.#routes = routes;
    this.#onFault = onFault;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** @returns the page's address with the token. Rejects with a system error if the port is not available. */
  async listen(port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(port, HOST, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    return `${this.#origin}/#${this.#token}`;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  get #origin(): string {
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      this.#checkSender(request);
      // Not read as a URL: a target such as // is none, and any page may send one.
      const path = (request.url ?? '/').split('?', 1)[0]!;
      const file = this.#files.get(path);
      if (file !== undefined) this.#sendFile(request, response, file);
      else await this.#sendAnswer(request, response, path);
    } catch (error) {
      this.#sendError(response, error);
    }
  }

  /**
   * Requests from another page carry its Origin; a foreign host name that resolves to this machine (DNS rebinding)
   * shows in the Host header.
   */
  #checkSender({ headers }: IncomingMessage): void {
    const own = this.#origin;
    if (headers.host !== own.slice('http://'.length))
      throw new RequestRefused(
        403,
        'FORBIDDEN',
        'The request names another host. Open the address that the studio printed.',
      );
    if (headers.origin !== undefined && headers.origin !== own) {
      throw new RequestRefused(
        403,
        'FORBIDDEN',
        'The request comes from another page. Open the address that the studio printed.',
      );
    }
  }

  #sendFile({ method }: IncomingMessage, response: ServerResponse, { type, content }: PageFile): void {
    if (method !== 'GET')
      throw new RequestRefused(405, 'METHOD_NOT_ALLOWED', 'The files of the page support only GET.');
    const nonce = randomBytes(TOKEN_BYTES).toString('base64url');
    response.writeHead(200, {
      ...SECURITY_HEADERS,
      'Content-Security-Policy': contentSecurityPolicy(nonce),
      'Content-Type': type,
    });
    response.end(type.startsWith('text/html') ? content.replaceAll('STYLE_NONCE', nonce) : content);
  }

  async #sendAnswer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const { authorization } = request.headers;
    if (!this.#isToken(authorization))
      throw new RequestRefused(
        401,
        'UNAUTHENTICATED',
        'The token is missing or wrong. Open the address that the studio printed.',
      );
    const route = `${request.method} ${path}`;
    const takesFile = FILE_ROUTES.get(route);
    if (takesFile !== undefined) {
      sendJson(response, 200, await takesFile(this.#routes.session, fileName(request.headers['x-file-name']), request));
      return;
    }
    const body = request.method === 'GET' ? {} : await readJsonBody(request);
    const answer = await answerOf(this.#routes, route, body);
    if (answer instanceof WholeOutput) sendOutput(response, answer);
    else sendJson(response, 200, answer ?? null);
  }

  #isToken(authorization: string | undefined): boolean {
    const given = Buffer.from(authorization ?? '');
    const known = Buffer.from(`Bearer ${this.#token}`);
    return given.length === known.length && timingSafeEqual(given, known);
  }

  #sendError(response: ServerResponse, error: unknown): void {
    // The page was closed while it was sending, so no response is needed. This is not a fault.
    if ((error as NodeJS.ErrnoException).code === 'ECONNRESET') return;
    if (error instanceof TemplateChangedError) {
      sendJson(response, 409, { code: 'TEMPLATE_CHANGED', message: error.message, ...error.stored });
    } else if (error instanceof RequestRefused) {
      sendJson(response, error.status, { code: error.code, message: error.message });
    } else if (error instanceof OperationUnreadableError) {
      sendJson(response, 422, { code: 'OPERATION_UNREADABLE', message: error.message });
    } else if (error instanceof SampleRefusedError || error instanceof Failed) {
      const code = error instanceof Failed ? error.failure.code : error.code;
      sendJson(response, 422, { code, message: error.message });
    } else if (error instanceof NoOutputError) {
      sendJson(response, 422, { code: error.code, message: error.message });
    } else if (error instanceof NoTestError) {
      sendJson(response, 422, { code: 'NO_TEST', message: error.message });
    } else if (error instanceof SampleGoneError) {
      sendJson(response, 422, { code: 'SAMPLE_GONE', message: error.message });
    } else if (
      error instanceof TemplateEncodingError ||
      error instanceof RecoveryRefusedError ||
      (error as NodeJS.ErrnoException).syscall !== undefined
    ) {
      sendJson(response, 422, { code: 'FILE_UNREADABLE', message: (error as Error).message });
    } else {
      this.#onFault(error);
      sendJson(response, 500, {
        code: 'INTERNAL_ERROR',
        message: 'Internal error of the studio. The terminal shows the details.',
      });
    }
  }
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { ...SECURITY_HEADERS, 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(value));
}

/** The page saves these bytes under a name with the ending of the output format. */
function sendOutput(response: ServerResponse, { bytes, mimeType, ending }: WholeOutput): void {
  const headers = { ...SECURITY_HEADERS, 'Content-Type': mimeType, 'X-Output-Ending': ending };
  response.writeHead(200, headers);
  response.end(bytes);
}
