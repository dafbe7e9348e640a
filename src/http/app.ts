// One listening port of uWebSockets.js: the only importer of that library. It hands every request to the router as an
// Exchange and does nothing else.
import type { us_listen_socket } from 'uWebSockets.js';
import type { ExchangeSettings, HeaderPair } from './exchange.ts';
import { Exchange } from './exchange.ts';
import type { Router } from './router.ts';

export interface HttpServer {
  readonly port: number;
  /** Takes no new connections; what is open goes on. */
  stopListening(): void;
  /** Closes everything that is still open. */
  close(): void;
}

/** The system does not give us the port; it does not tell the library why. */
export class ListenError extends Error {
  constructor(host: string, port: number) {
    super(`cannot listen on ${host}:${port}: the port is taken, or the address is not one of this machine`);
    this.name = 'ListenError';
  }
}

/** Listens on host and port (0 = any). Rejects with ListenError: without the flag two processes share it. */
export async function listen(
  host: string,
  port: number,
  router: Router,
  settings: ExchangeSettings,
): Promise<HttpServer> {
  // It can only be imported, and bundles require what they load at once.
  const library = await import('uWebSockets.js');
  const { App, us_listen_socket_close, us_socket_local_port } = library;
  const app = App();
  app.any('/*', (response, request) => {
    const headers: HeaderPair[] = [];
    request.forEach((name, value) => {
      headers.push([name, value]);
    });
    const head = { method: request.getCaseSensitiveMethod().toUpperCase(), path: request.getUrl(), headers };
    router.dispatch(new Exchange(response, head, settings));
  });
  return new Promise((resolve, reject) => {
    const onListening = (socket: us_listen_socket | false): void => {
      if (!socket) {
        reject(new ListenError(host, port));
        return;
      }
      let listening = true;
      const stopListening = (): void => {
        if (listening) us_listen_socket_close(socket);
        listening = false;
      };
      const close = (): void => {
        // The library's close() takes the listening socket with it.
        listening = false;
        app.close();
      };
      resolve({ port: us_socket_local_port(socket), stopListening, close });
    };
    // The declarations know neither the constant nor the form with a host and options.
    const { LIBUS_LISTEN_EXCLUSIVE_PORT } = library as unknown as { readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number };
    const listenOn = app.listen as unknown as (
      host: string,
      port: number,
      options: number,
      callback: (socket: us_listen_socket | false) => void,
    ) => void;
    listenOn.call(app, host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, onListening);
  });
}
