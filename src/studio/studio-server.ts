// The studio's server: node:http on 127.0.0.1 for the one page that has its token. It answers nobody else: the Host must be its
// own, an Origin too, and what tells or changes anything needs the token, which never stands in a request's address.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NoTestError } from './golden-test.ts';
import { RequestRefused, readJsonBody } from './json-body.ts';
import { type PageFile, pageFiles } from './page-files.ts';
import { SampleGoneError } from './sample-file.ts';
import { answerOf, type StudioRoutes } from './studio-routes.ts';
import { TemplateChangedError, TemplateEncodingError } from './template-store.ts';

const HOST = '127.0.0.1';

const TOKEN_BYTES = 16;

/** Nothing is loaded from elsewhere, nothing is sent elsewhere, no page may frame this one. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    // The editor's marks of problems stand in its own style sheets; no request is made for them.
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

  /** @returns the page's address, with the token. Rejects with a system error where the port cannot be had. */
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
      const { pathname } = new URL(request.url ?? '/', this.#origin);
      const file = this.#files.get(pathname);
      if (file !== undefined) this.#sendFile(request, response, file);
      else await this.#sendAnswer(request, response, pathname);
    } catch (error) {
      this.#sendTrouble(response, error);
    }
  }

  /** Another page's requests come with its Origin, a name that leads here (DNS rebinding) with its Host. */
  #checkSender({ headers }: IncomingMessage): void {
    const own = this.#origin;
    if (headers.host !== own.slice('http://'.length)) throw new RequestRefused(403, 'FORBIDDEN', 'Not this host.');
    if (headers.origin !== undefined && headers.origin !== own) {
      throw new RequestRefused(403, 'FORBIDDEN', 'Not from another page.');
    }
  }

  #sendFile({ method }: IncomingMessage, response: ServerResponse, { type, content }: PageFile): void {
    if (method !== 'GET') throw new RequestRefused(405, 'METHOD_NOT_ALLOWED', 'Files of the page are read alone.');
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
      throw new RequestRefused(401, 'UNAUTHENTICATED', 'The token is missing or wrong.');
    const route = `${request.method} ${path}`;
    const body = request.method === 'GET' ? {} : await readJsonBody(request);
    const answer = await answerOf(this.#routes, route, body);
    sendJson(response, 200, answer ?? null);
  }

  #isToken(authorization: string | undefined): boolean {
    const given = Buffer.from(authorization ?? '');
    const known = Buffer.from(`Bearer ${this.#token}`);
    return given.length === known.length && timingSafeEqual(given, known);
  }

  #sendTrouble(response: ServerResponse, error: unknown): void {
    if (error instanceof TemplateChangedError) {
      sendJson(response, 409, { code: 'TEMPLATE_CHANGED', message: error.message, ...error.stored });
    } else if (error instanceof RequestRefused) {
      sendJson(response, error.status, { code: error.code, message: error.message });
    } else if (error instanceof NoTestError) {
      sendJson(response, 422, { code: 'NO_TEST', message: error.message });
    } else if (error instanceof SampleGoneError) {
      sendJson(response, 422, { code: 'SAMPLE_GONE', message: error.message });
    } else if (error instanceof TemplateEncodingError || (error as NodeJS.ErrnoException).syscall !== undefined) {
      sendJson(response, 422, { code: 'FILE_UNREADABLE', message: (error as Error).message });
    } else {
      this.#onFault(error);
      sendJson(response, 500, { code: 'INTERNAL_ERROR', message: 'A fault of the studio; the terminal tells more.' });
    }
  }
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { ...SECURITY_HEADERS, 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(value));
}
