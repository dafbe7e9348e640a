// Why nobody can listen on a port. The HTTP library does not tell, so that the system is asked again, by Node's own server.
import { createServer } from 'node:net';

/** The system does not give us the port; the message says why. */
export class ListenError extends Error {
  constructor(host: string, port: number, reason: string) {
    super(`cannot listen on ${host}:${port}: ${reason}`);
    this.name = 'ListenError';
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken',
  EACCES: 'the process may not: ports below 1024 need a permission (CAP_NET_BIND_SERVICE); take another port',
  EADDRNOTAVAIL: 'the address is not one of this machine',
  ENOTFOUND: 'there is no address of this name',
};

/** Of a port that was refused just now. */
export async function listenError(host: string, port: number): Promise<ListenError> {
  const code = await refusalOf(host, port);
  const reason = code === null ? 'the port was taken, and is free again' : (REASONS[code] ?? `the system says ${code}`);
  return new ListenError(host, port, reason);
}

/** What the system says, such as EACCES; null: it would give the port now. */
function refusalOf(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', (fault: NodeJS.ErrnoException) => resolve(fault.code ?? 'an error without a code'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
