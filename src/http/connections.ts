// Counts the connections of a port against their limits: in total, and by remote address. Does not close any itself.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';

export interface ConnectionSettings {
  readonly connectionsMax: number;
  /** null for no limit per address. */
  readonly addresses: AddressCounts | null;
}

export class Connections {
  open = 0;
  /** Total since the start. */
  refused = 0;
  #settings: ConnectionSettings;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  /**
   * Counts a new connection. If it returns false, the caller must close the connection, which removes it from the
   * count.
   */
  opened(remoteAddress: () => Uint8Array): boolean {
    this.open += 1;
    const { connectionsMax, addresses } = this.#settings;
    const isAccepted = this.open <= connectionsMax && (addresses?.add(remoteAddress()) ?? true);
    if (!isAccepted) this.refused += 1;
    return isAccepted;
  }

  closed(): void {
    this.open -= 1;
  }
}

// Counts open connections per remote address. The HTTP library reports the address of a connection that opens, but not
// of one that closes. Therefore opened connections are counted, and the system's connection table is read when an
// address comes near its limit. Between two reads, a count may be too high but not too low.

/** Minimum interval between two reads of the table, which has a line for each connection of the machine. */
const ASK_MILLISECONDS = 250;

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** States in the table that count as open: established, and closed by the peer only. */
const OPEN_STATES: ReadonlySet<string> = new Set(['01', '08']);

export class AddressCounts {
  #addressMax: number;
  #onFault: (fault: unknown) => void;
  /** Counts from the table. */
  #counted = new Map<string, number>();
  /** Connections opened since the table was read. */
  #opened = new Map<string, number>();
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking = false;
  /** Port whose connections are counted. Known once the server listens. */
  port = 0;

  constructor(addressMax: number, onFault: (fault: unknown) => void) {
    this.#addressMax = addressMax;
    this.#onFault = onFault;
  }

  /**
   * Counts another connection of this address. Returns false, without counting it, if the address would exceed its
   * limit.
   */
  add(address: Uint8Array): boolean {
    const network = networkOf(address);
    const count = (this.#counted.get(network) ?? 0) + (this.#opened.get(network) ?? 0) + 1;
    if (count > this.#addressMax / 2) this.#ask();
    if (count > this.#addressMax) return false;
    this.#opened.set(network, (this.#opened.get(network) ?? 0) + 1);
    return true;
  }

  #ask(): void {
    if (this.#asking || performance.now() - this.#askedAt < ASK_MILLISECONDS) return;
    this.#asking = true;
    const before = this.#opened;
    this.#opened = new Map();
    // Connections opened before the read still count until its result arrives.
    for (const [network, count] of before) this.#counted.set(network, (this.#counted.get(network) ?? 0) + count);
    Promise.all(TABLES.map(tableText))
      .then((texts) => {
        this.#counted = countByNetwork(texts.join('\n'), this.port);
      })
      .catch(this.#onFault)
      .finally(() => {
        this.#asking = false;
        this.#askedAt = performance.now();
      });
  }
}

/** True if the system has such a table. */
export async function hasConnectionTable(): Promise<boolean> {
  try {
    await readFile(TABLES[0]!);
    return true;
  } catch {
    return false;
  }
}

/** Returns '' if the system has no IPv6. */
async function tableText(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT' && path !== TABLES[0]) return '';
    throw fault;
  }
}

/** Returns open connections of the port by network. A line contains: number, local address, remote address, state. */
export function countByNetwork(table: string, port: number): Map<string, number> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const counts = new Map<string, number>();
  for (const line of table.split('\n')) {
    const [, local = '', remote = '', state = ''] = line.trimStart().split(/ +/, 4);
    if (!local.endsWith(suffix) || !OPEN_STATES.has(state)) continue;
    const network = networkOf(addressBytes(remote.slice(0, remote.indexOf(':'))));
    counts.set(network, (counts.get(network) ?? 0) + 1);
  }
  return counts;
}

/** The table contains addresses as words in the byte order of this machine. */
function addressBytes(hex: string): Uint8Array {
  const bytes = Buffer.from(hex, 'hex');
  return endianness() === 'LE' ? bytes.swap32() : bytes;
}

// Number of files, including connections, that this process may open, and the share for connections. Without free
// files, the HTTP library would retry accepting a connection in a busy loop, and no upload, output or spill file could
// be stored.

/** Default for a large memory budget. */
const CONNECTIONS_MAX = 8192;

/**
 * Default: one connection per 128 KiB of the memory budget. A connection may hold 16 KiB of an incomplete head and as
 * much of responses that its client does not read, which together is a quarter of the budget.
 */
const BUDGET_BYTES_OF_CONNECTION = 128 * 1024;

export function connectionsMaxDefault(budgetBytes: number): number {
  return Math.min(CONNECTIONS_MAX, Math.floor(budgetBytes / BUDGET_BYTES_OF_CONNECTION));
}

/** Files of an idle process: 33 with two threads, and some more as the ledger grows. */
const FILES_AT_REST = 64;
const FILES_OF_THREAD = 8;

/** Share of the other files for connections. The other half is for uploads, outputs and spill files. */
const CONNECTIONS_SHARE = 0.5;

/** Limit of open files for this process, or null if unknown. Node has already raised it as far as possible. */
export function filesMax(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

/** @param files result of `filesMax` */
export function connectionsMaxFor(files: number | null, workers: number): number {
  if (files === null) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.floor((files - FILES_AT_REST - FILES_OF_THREAD * workers) * CONNECTIONS_SHARE));
}

// Maps a remote address to the network by which connections are counted and slowed down. An IPv4 address is a network
// by itself, even if it is written as IPv6. For IPv6, the network is the first 64 bits, because one host may use all
// the addresses in it.

/** The first twelve bytes of an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2), in hex. */
const MAPPED = '00000000000000000000ffff';

/** Number of hex digits in the network part of an IPv6 address. */
const NETWORK_DIGITS = 16;

/** @param address 4 or 16 bytes in network order; empty if the connection is already closed */
export function networkOf(address: Uint8Array): string {
  const hex = Buffer.from(address.buffer, address.byteOffset, address.byteLength).toString('hex');
  if (hex.length < 32) return hex;
  return hex.startsWith(MAPPED) ? hex.slice(MAPPED.length) : hex.slice(0, NETWORK_DIGITS);
}
