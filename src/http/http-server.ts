// The interface of an HTTP front end, implemented in uws-front-end.ts and node-front-end.ts.
import { createServer } from 'node:net';
import type { Connections } from './connections.ts';
import type { ExchangeSettings } from './exchange.ts';
import type { Router } from './router.ts';

/** A listening port. */
export interface HttpServer {
  readonly port: number;
  /** Accepts no new connections. Open connections stay. */
  stopListening(): void;
  /** Same as stopListening, until `listenAgain`. */
  pauseListening(): void;
  /** Listens on the same port again. Returns false if another process has the port now, or if listening was stopped. */
  listenAgain(): Promise<boolean>;
  /** Closes all open connections. */
  close(): void;
}

export interface FrontEnd {
  readonly name: FrontEndName;
  /** Listens on host and port (0 for any free port). Rejects with ListenError. */
  listen(
    host: string,
    port: number,
    router: Router,
    settings: ExchangeSettings,
    connections: Connections,
  ): Promise<HttpServer>;
}

export type FrontEndName = 'uws' | 'node';

// Finds out why a port cannot be used. The HTTP library does not report the reason, so Node's own server tries the port
// again.

/** The system refused the port; the message contains the reason. */
export class ListenError extends Error {
  constructor(host: string, port: number, reason: string) {
    super(`cannot listen on ${host}:${port}: ${reason}`);
    this.name = 'ListenError';
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'permission denied: ports below 1024 need the permission CAP_NET_BIND_SERVICE. Use another port',
  EADDRNOTAVAIL: 'this machine does not have this address',
  ENOTFOUND: 'this host name has no address',
};

/** Creates the error for a port that has just been refused. */
export async function listenError(host: string, port: number): Promise<ListenError> {
  const code = await refusalOf(host, port);
  const reason =
    code === null ? 'the port was in use, and is free now. Try again' : (REASONS[code] ?? `the system says ${code}`);
  return new ListenError(host, port, reason);
}

/** Returns the system's error code, such as EACCES, or null if the port is available now. */
function refusalOf(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', (fault: NodeJS.ErrnoException) => resolve(fault.code ?? 'an error without a code'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
