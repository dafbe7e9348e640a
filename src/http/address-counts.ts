// How many connections each remote address has. The HTTP library tells the address of a connection that opens and not of
// one that closes, so those that opened are counted, and the system's table is asked when an address comes near its
// ceiling. Between two questions a count is too high rather than too low.
import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import { networkOf } from './network-address.ts';

/** The table is not asked again so soon: it holds a line for each connection of the machine. */
const ASK_MILLISECONDS = 250;

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** Of the table: established, and closed by the peer alone. */
const OPEN_STATES: ReadonlySet<string> = new Set(['01', '08']);

export class AddressCounts {
  #addressMax: number;
  #onFault: (fault: unknown) => void;
  /** As the table had it. */
  #counted = new Map<string, number>();
  /** Since the table was asked. */
  #opened = new Map<string, number>();
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking = false;
  /** The port of which connections are counted; known once it listens. */
  port = 0;

  constructor(addressMax: number, onFault: (fault: unknown) => void) {
    this.#addressMax = addressMax;
    this.#onFault = onFault;
  }

  /** Counts one more connection of this address; false when that is more than it may have: then it does not count. */
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
    // Until the answer is there, those that opened before the question count on.
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

/** Whether this system has such a table. */
export async function hasConnectionTable(): Promise<boolean> {
  try {
    await readFile(TABLES[0]!);
    return true;
  } catch {
    return false;
  }
}

/** '' where the system knows no IPv6. */
async function tableText(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT' && path !== TABLES[0]) return '';
    throw fault;
  }
}

/** Open connections of the port by network; a line is: number, local address, remote address, state. */
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

/** The table writes addresses as words in the order of this machine. */
function addressBytes(hex: string): Uint8Array {
  const bytes = Buffer.from(hex, 'hex');
  return endianness() === 'LE' ? bytes.swap32() : bytes;
}
