// Front end with uWebSockets.js, and the only importer of that library. Passes each request to the router as an
// Exchange, refuses requests whose end is uncertain, and closes connections above the limit.

import type { HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import type { Connections } from './connections.ts';
import { Exchange, type ExchangeSettings } from './exchange.ts';
import { type FrontEnd, type HttpServer, listenError } from './http-server.ts';
import type { RawResponse } from './raw-response.ts';
import { type HeaderPair, headProblem, REQUEST_HEAD_BYTES_MAX } from './request-head.ts';
import type { Router } from './router.ts';

/** The library is not installed, or has no binary for this version of Node. */
export class HttpLibraryError extends Error {
  constructor(cause: unknown) {
    const { platform, arch, versions } = process;
    const problem = isMissing(cause)
      ? 'is not installed'
      : `has no binary that loads in Node ${versions.node} on ${platform} ${arch}`;
    super(`the HTTP library uWebSockets.js ${problem}: ${advice(isMissing(cause))}`, { cause });
    this.name = 'HttpLibraryError';
  }
}

/** ABI versions of Node 20 and 22, for which the repack has binaries. */
const REPACK_ABIS = new Set(['115', '127']);

function isMissing(cause: unknown): boolean {
  const { code, message } = cause as NodeJS.ErrnoException;
  return code === 'ERR_MODULE_NOT_FOUND' && /'uWebSockets\.js'/.test(message);
}

/** npm leaves the repack out on Node 20, because the repack's `engines` ask for Node 22 though its binaries load in 20. */
function advice(missing: boolean): string {
  const chapter = 'see "The HTTP library" in docs/how-to/run-a-node.md';
  return missing && REPACK_ABIS.has(process.versions.modules)
    ? `\`npm install ${REPACK}\` installs it (${chapter})`
    : `run Node 22, or install the official package (${chapter})`;
}

/** The optional dependency of package.json. */
const REPACK = 'uWebSockets.js@npm:uws-pack@20.0.8';

/** Functions and constants of the library that this file uses. */
const NEEDED = ['App', 'LIBUS_LISTEN_EXCLUSIVE_PORT', 'us_listen_socket_close', 'us_socket_local_port'] as const;

/** The library reads this variable when it is loaded. An operator may set another limit. */
const HEAD_LIMIT_VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE';

type UwsLibrary = typeof import('uWebSockets.js');

/** Rejects with HttpLibraryError. */
export async function loadUws(): Promise<FrontEnd> {
  const library = await loadLibrary();
  return {
    name: 'uws',
    listen: (host, port, router, settings, connections) =>
      listen(library, host, port, { router, settings, connections }),
  };
}

/**
 * Loads the library of this package, or the one installed next to this package: npm puts the official package there,
 * because this package depends on another version.
 */
async function loadLibrary(): Promise<UwsLibrary> {
  process.env[HEAD_LIMIT_VARIABLE] ??= String(REQUEST_HEAD_BYTES_MAX);
  try {
    // Must be `import`: the repackaged library has no entry for `require`, which bundles would use.
    return checked(await import('uWebSockets.js'));
  } catch (fault) {
    const beside = libraryBeside();
    if (beside === null) throw new HttpLibraryError(fault);
    try {
      return checked(await import(beside));
    } catch (other) {
      throw new HttpLibraryError(other);
    }
  }
}

/** URL of the library in the folder that contains this package, or null if it is not installed there. */
function libraryBeside(): string | null {
  try {
    const folder = new URL('../', PACKAGE_FOLDER);
    return pathToFileURL(createRequire(new URL('package.json', folder)).resolve('uWebSockets.js')).href;
  } catch {
    // Not installed there, which is the usual case.
    return null;
  }
}

/** @param module result of `import`; a CommonJS module may have its exports only under `default` */
function checked(module: UwsLibrary | { readonly default: UwsLibrary }): UwsLibrary {
  const library = 'App' in module ? module : module.default;
  const missing = NEEDED.filter((name) => library[name] === undefined);
  if (missing.length > 0) throw new Error(`the installed version lacks ${missing.join(', ')}`);
  return library;
}

interface Served {
  readonly router: Router;
  readonly settings: ExchangeSettings;
  readonly connections: Connections;
}

/** Without the exclusive flag, two processes could share the port. */
async function listen(
  library: UwsLibrary,
  host: string,
  port: number,
  { router, settings, connections }: Served,
): Promise<HttpServer> {
  const { App, LIBUS_LISTEN_EXCLUSIVE_PORT, us_listen_socket_close, us_socket_local_port } = library;
  const app = App();
  const count = (response: HttpResponse, change: number): void => {
    if (change < 0) connections.closed();
    else if (!connections.opened(() => new Uint8Array(response.getRemoteAddress()))) response.close();
  };
  app.filter(count);
  app.any('/*', (response, request) => {
    const headers: HeaderPair[] = [];
    request.forEach((name, value) => {
      headers.push([name, value]);
    });
    const head = { method: request.getCaseSensitiveMethod().toUpperCase(), path: request.getUrl(), headers };
    const exchange = new Exchange(new UwsResponse(response), head, settings);
    const problem = headProblem(head);
    if (problem === null) router.dispatch(exchange);
    else exchange.refuseHead(problem);
  });
  const take = (taken: number): Promise<us_listen_socket | false> =>
    new Promise((resolve) => app.listen(host, taken, LIBUS_LISTEN_EXCLUSIVE_PORT, resolve));
  let socket = await take(port);
  if (!socket) throw await listenError(host, port);
  const taken = us_socket_local_port(socket);
  let stopped = false;
  const pauseListening = (): void => {
    if (socket) us_listen_socket_close(socket);
    socket = false;
  };
  return {
    port: taken,
    pauseListening,
    stopListening: () => {
      stopped = true;
      pauseListening();
    },
    listenAgain: async () => {
      if (!socket && !stopped) socket = await take(taken);
      return socket !== false;
    },
    close: () => {
      // The library's close() also closes the listening socket.
      socket = false;
      app.close();
    },
  };
}

/** Adapts the library's response to RawResponse. */
class UwsResponse implements RawResponse {
  #response: HttpResponse;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  writeHead(status: number, reason: string, lines: string): void {
    // One call, because eight calls for as many header lines took 5 % of the time of a small Run.
    this.#response.writeStatus(`${status} ${reason}${lines}`);
  }

  endLast(body: string | Uint8Array): void {
    this.#response.end(body, true);
  }

  endWithoutBody(): void {
    // Must be called without an argument: with one, the library never completes the response (seen with 20.x).
    this.#response.endWithoutBody();
  }

  /**
   * The library's end() releases the response, and with it the request body that is still arriving. Therefore the whole
   * response is written as the value of its last header. The line end that follows a header becomes the last two bytes
   * of the content (white space in JSON).
   */
  writeWhole(text: string | null): void {
    this.#response.writeHeader('Date', new Date().toUTCString());
    if (text === null) {
      this.#response.writeHeader('Connection', 'close\r\n');
      return;
    }
    this.#response.writeHeader('Connection', 'close');
    this.#response.writeHeader('Content-Length', `${Buffer.byteLength(text) + 2}\r\n\r\n${text}`);
  }

  tryEnd(chunk: string | Uint8Array, totalBytes: number): [boolean, boolean] {
    return this.#response.tryEnd(chunk, totalBytes);
  }

  close(): void {
    this.#response.close();
  }

  getWriteOffset(): number {
    return this.#response.getWriteOffset();
  }

  getRemoteAddress(): Uint8Array {
    return new Uint8Array(this.#response.getRemoteAddress());
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#response.onWritable(handler);
  }

  onAborted(handler: () => void): void {
    this.#response.onAborted(handler);
  }

  onData(handler: (chunk: Buffer, isLast: boolean) => void): void {
    this.#response.onData((chunk, isLast) => handler(Buffer.from(chunk), isLast));
  }

  cork(callback: () => void): void {
    this.#response.cork(callback);
  }
}
