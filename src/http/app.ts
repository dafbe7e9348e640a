// One listening port of uWebSockets.js: the only importer of that library. It hands every request to the router as an
// Exchange, refuses those whose head leaves their end in doubt, and closes connections that are too many.
import type { HttpResponse, us_listen_socket } from 'uWebSockets.js';
import type { Connections } from './connections.ts';
import { Exchange, type ExchangeSettings } from './exchange.ts';
import { listenError } from './listen-error.ts';
import { type HeaderPair, headProblem } from './request-head.ts';
import type { Router } from './router.ts';

export interface HttpServer {
  readonly port: number;
  /** Takes no new connections; what is open goes on. */
  stopListening(): void;
  /** The same until `listenAgain`. */
  pauseListening(): void;
  /** Takes the same port again. False: another process has it now, or listening was stopped. */
  listenAgain(): Promise<boolean>;
  /** Closes everything that is still open. */
  close(): void;
}

/** The library is not installed, or has no binary that this Node can load. Only `serve` needs it. */
export class HttpLibraryError extends Error {
  constructor(cause: unknown) {
    super(`the HTTP library uWebSockets.js ${isMissing(cause) ? MISSING : noBinary()}`, { cause });
    this.name = 'HttpLibraryError';
  }
}

const MISSING = 'is not installed: `npm install uWebSockets.js@npm:uws-pack` brings it';

function isMissing(cause: unknown): boolean {
  const { code, message } = cause as NodeJS.ErrnoException;
  return code === 'ERR_MODULE_NOT_FOUND' && /'uWebSockets\.js'/.test(message);
}

function noBinary(): string {
  const { platform, arch, versions } = process;
  const advice =
    'run Node 20 or 22, with glibc on Linux (other versions: docs/how-to/run-a-node.md, "Node and uWebSockets.js")';
  return `has no binary for Node ${versions.node} on ${platform} ${arch}: ${advice}`;
}

/** Rejects with HttpLibraryError: to be asked before anything else is done. */
export async function loadHttpLibrary(): Promise<typeof import('uWebSockets.js')> {
  try {
    // It can only be imported, and bundles require what they load at once.
    return await import('uWebSockets.js');
  } catch (fault) {
    throw new HttpLibraryError(fault);
  }
}

/** Listens on host and port (0 = any). Rejects with ListenError: without the flag two processes share it. */
export async function listen(
  host: string,
  port: number,
  router: Router,
  settings: ExchangeSettings,
  connections: Connections,
): Promise<HttpServer> {
  const library = await loadHttpLibrary();
  const { App, LIBUS_LISTEN_EXCLUSIVE_PORT, us_listen_socket_close, us_socket_local_port } = library;
  const app = App();
  const count = (response: HttpResponse, change: number): void => {
    if (change < 0) connections.closed();
    else if (!connections.opened(() => response.getRemoteAddress())) response.close();
  };
  app.filter(count);
  app.any('/*', (response, request) => {
    const headers: HeaderPair[] = [];
    request.forEach((name, value) => {
      headers.push([name, value]);
    });
    const head = { method: request.getCaseSensitiveMethod().toUpperCase(), path: request.getUrl(), headers };
    const exchange = new Exchange(response, head, settings);
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
      // The library's close() takes the listening socket with it.
      socket = false;
      app.close();
    },
  };
}
