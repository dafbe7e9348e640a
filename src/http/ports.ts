// The listening ports of a node: the API port, and optionally a separate port for health and metrics. Decides which
// routes each port serves, and how many connections it accepts.

import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { devNull } from 'node:os';
import type { ServeConfig } from '../config.ts';
import type { Log } from '../telemetry/log.ts';
import {
  AddressCounts,
  Connections,
  connectionsMaxDefault,
  connectionsMaxFor,
  filesMax,
  hasConnectionTable,
} from './connections.ts';
import type { ExchangeSettings } from './exchange.ts';
import type { FrontEnd, HttpServer } from './http-server.ts';
import { type Route, Router } from './router.ts';

// Limits how much the system buffers for a connection before it is read. The HTTP library keeps reading a socket as
// long as its own 512 KiB buffer is filled, and Linux lets the receive buffer grow to many MB, so that one turn of the
// event loop could read a whole upload. Node has no such option for TCP. Therefore a short-lived child process sets it,
// by opening the listening socket as if it were a UDP socket.

/**
 * Requested size; Linux doubles it for its own use. Loop delay p99 and throughput of 20 uploads of 200 MB on one
 * machine: 27 ms and 570 MB/s with this size, 55 ms and 365 MB/s with twice the size, 100 ms and 330 MB/s without a
 * limit.
 */
export const RECEIVE_BUFFER_BYTES = 128 * 1024;

/** Maximum run time of the child process, after which it is ended. */
const PROCESS_MILLISECONDS_MAX = 5_000;

const LISTENING = '0A';

/** Up to Node 24 the handle was also in `_handle`. */
const SET_BUFFER = `
  const socket = require('node:dgram').createSocket('udp4');
  const state = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
  if (socket[state].handle.open(3) !== 0) process.exit(1);
  socket.setRecvBufferSize(${RECEIVE_BUFFER_BYTES});
`;

/**
 * Limits all connections accepted from now on. Returns false if that is not possible: many fast uploads from the same
 * machine then delay the event loop. Never rejects.
 */
export async function boundReceiveBuffer(port: number): Promise<boolean> {
  const descriptor = process.platform === 'linux' ? listeningDescriptor(port) : null;
  if (descriptor === null) return false;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--no-deprecation', '-e', SET_BUFFER], {
      stdio: ['ignore', 'ignore', 'ignore', descriptor],
      env: {},
      timeout: PROCESS_MILLISECONDS_MAX,
    });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}

/** Returns this process's file descriptor of the socket that listens on the port, or null if unknown. */
function listeningDescriptor(port: number): number | null {
  try {
    const tables = ['/proc/net/tcp', '/proc/net/tcp6'].filter((table) => existsSync(table));
    const inodes = new Set(tables.flatMap((table) => listeningInodes(table, port)));
    for (const descriptor of readdirSync('/proc/self/fd')) {
      if (inodes.has(linkOf(descriptor))) return Number(descriptor);
    }
  } catch {
    // Without /proc (some sandboxes), the caller continues without a limit and reports this.
  }
  return null;
}

/** In the form of the links in /proc/self/fd. */
function listeningInodes(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes: string[] = [];
  for (const line of readFileSync(table, 'latin1').split('\n')) {
    const [, address = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state === LISTENING && address.endsWith(`:${hex}`)) inodes.push(`socket:[${inode}]`);
  }
  return inodes;
}

/** Returns '' for the descriptor of the directory listing itself, which is closed by now. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}

/**
 * Maximum for the operations port: probes and scrapes, which must work even if all connections of the API port are in
 * use.
 */
const OPS_CONNECTIONS_MAX = 64;

export interface Routes {
  readonly api: readonly Route[];
  readonly health: readonly Route[];
  readonly metrics: readonly Route[];
  /** Pages for the operator, which the API port never serves. */
  readonly operator: readonly Route[];
}

export interface Ports {
  readonly server: HttpServer;
  readonly opsServer: HttpServer | null;
}

/** @param connections connections of the API port */
export async function openPorts(
  { listen }: FrontEnd,
  { host, port, opsPort, metricsOnApiPort }: ServeConfig,
  routes: Routes,
  connections: ApiConnections,
  exchanges: ExchangeSettings,
  undo: (() => Promise<void> | void)[],
  log: Log,
): Promise<Ports> {
  const ops = new Router([...routes.health, ...routes.metrics, ...routes.operator]);
  const opsConnections = new Connections({ connectionsMax: OPS_CONNECTIONS_MAX, addresses: null });
  const opsServer = opsPort === null ? null : await listen(host, opsPort, ops, exchanges, opsConnections);
  if (opsServer !== null) undo.push(() => opsServer.close());
  const api = [...routes.api];
  // A balancer must probe the port to which it sends requests.
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

/** Limits of the API port: as configured, but within the limits of the system. */
export async function apiConnections(config: ServeConfig, log: Log): Promise<ApiConnections> {
  const { connectionsMax: configured, connectionsPerAddressMax: addressMax, workers, memoryBudgetBytes } = config;
  const wanted = configured ?? connectionsMaxDefault(memoryBudgetBytes);
  const files = filesMax();
  const possible = connectionsMaxFor(files, workers);
  const connectionsMax = Math.min(wanted, possible);
  if (possible < wanted) {
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

// Detects that the process cannot open any more files. In this state the HTTP library keeps trying to accept
// the next connection, which uses a whole core, so the node stops listening until files are available again.

/** Interval between checks, which is also the maximum time for which a core is wasted. */
const CHECK_MILLISECONDS = 500;

/**
 * Number of files that must be available before the node listens again. Runs in progress use the ones below this
 * number.
 */
const FREE_FILES_MIN = 16;

export interface FileShortage {
  /** Called once per shortage. */
  began(): void;
  /** Called when files are available again. Returns false if it must be called again. */
  ended(): Promise<boolean>;
}

/** Starts the checks. Call the returned function to stop them. */
export function watchFiles({ began, ended }: FileShortage): () => Promise<void> {
  let isShort = false;
  let ending: Promise<void> | null = null;
  const check = (): void => {
    if (ending !== null) return;
    if (!isShort && !canOpen(1)) {
      isShort = true;
      began();
    } else if (isShort && canOpen(FREE_FILES_MIN)) {
      ending = ended().then((over) => {
        isShort = !over;
        ending = null;
      });
    }
  };
  const timer = setInterval(check, CHECK_MILLISECONDS);
  return async () => {
    clearInterval(timer);
    await ending;
  };
}

/**
 * True if this many more files can be opened at once. Returns false only on a shortage of files; other errors are
 * thrown.
 */
function canOpen(count: number): boolean {
  const descriptors: number[] = [];
  try {
    while (descriptors.length < count) descriptors.push(openSync(devNull, 'r'));
    return true;
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code === 'EMFILE' || code === 'ENFILE') return false;
    throw fault;
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}
