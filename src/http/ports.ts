// The listening ports of a node: the API's, and that of health and metrics where it is apart. Here it is decided which
// routes are on which, and how many connections each takes.
import type { ServeConfig } from '../config.ts';
import { watchFiles } from '../runtime/file-shortage.ts';
import type { Log } from '../telemetry/log.ts';
import { AddressCounts, hasConnectionTable } from './address-counts.ts';
import { type HttpServer, listen } from './app.ts';
import { Connections } from './connections.ts';
import { CONNECTIONS_MAX_DEFAULT, connectionsMaxFor, filesMax } from './connections-max.ts';
import type { ExchangeSettings } from './exchange.ts';
import { boundReceiveBuffer } from './receive-buffer.ts';
import { type Route, Router } from './router.ts';

/** Of the operations port: some probes and scrapes, that must come through when the API's connections are used up. */
const OPS_CONNECTIONS_MAX = 64;

export interface Routes {
  readonly api: readonly Route[];
  readonly health: readonly Route[];
  readonly metrics: readonly Route[];
}

export interface Ports {
  readonly server: HttpServer;
  readonly opsServer: HttpServer | null;
}

/** @param connections of the API port */
export async function openPorts(
  { host, port, opsPort, metricsOnApiPort }: ServeConfig,
  routes: Routes,
  connections: ApiConnections,
  exchanges: ExchangeSettings,
  undo: (() => Promise<void> | void)[],
  log: Log,
): Promise<Ports> {
  const ops = new Router([...routes.health, ...routes.metrics]);
  const opsConnections = new Connections({ connectionsMax: OPS_CONNECTIONS_MAX, addresses: null });
  const opsServer = opsPort === null ? null : await listen(host, opsPort, ops, exchanges, opsConnections);
  if (opsServer !== null) undo.push(() => opsServer.close());
  const api = [...routes.api];
  // A balancer asks the port that is to take requests.
  if (opsServer === null) api.push(...routes.health);
  else api.push(...routes.health.filter(({ name }) => name === 'readyz'));
  if (metricsOnApiPort) api.push(...routes.metrics);
  const server = await listen(host, port, new Router(api), exchanges, connections.all);
  undo.push(() => server.close());
  if (connections.addresses !== null) connections.addresses.port = server.port;
  await boundBuffers(server, log);
  undo.push(pauseWhileShort(server, log));
  return { server, opsServer };
}

async function boundBuffers({ port }: HttpServer, log: Log): Promise<void> {
  if (!(await boundReceiveBuffer(port))) log.info('receive_buffer_unbounded', { port });
}

function pauseWhileShort(server: HttpServer, log: Log): () => Promise<void> {
  return watchFiles({
    began: () => {
      server.pauseListening();
      log.warn('listening_paused', { port: server.port, reason: 'the process cannot open more files' });
    },
    ended: async () => {
      if (!(await server.listenAgain())) return false;
      await boundBuffers(server, log);
      log.warn('listening_again', { port: server.port });
      return true;
    },
  });
}

export interface ApiConnections {
  readonly all: Connections;
  readonly addresses: AddressCounts | null;
}

/** The ceilings of the API port: as configured, below what the system allows. */
export async function apiConnections(config: ServeConfig, log: Log): Promise<ApiConnections> {
  const { connectionsMax: wanted, connectionsPerAddressMax: addressMax, workers } = config;
  const files = filesMax();
  const possible = connectionsMaxFor(files, workers);
  const connectionsMax = Math.min(wanted ?? CONNECTIONS_MAX_DEFAULT, possible);
  if (possible < (wanted ?? CONNECTIONS_MAX_DEFAULT)) {
    log.warn('connections_max_lowered', { connections_max: connectionsMax, open_files_max: files });
  }
  let addresses: AddressCounts | null = null;
  if (addressMax !== null) {
    if (await hasConnectionTable())
      addresses = new AddressCounts(addressMax, (fault) => log.fault('connections_not_counted', fault));
    else log.warn('connections_per_address_unbounded', { reason: 'this system has no /proc/self/net/tcp' });
  }
  return { all: new Connections({ connectionsMax, addresses }), addresses };
}
