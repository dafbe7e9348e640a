// Bounds what the system gathers for a connection before it is read. The HTTP library reads a socket on and on while its
// own 512 KiB come back full, and Linux lets the gathered grow to many MB: one turn of the loop then brings a whole upload.
// Node has no such option for TCP, so a process of a moment sets it, in which the listening socket passes for one of UDP.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * What is asked for; Linux doubles it for its own needs. 20 uploads of 200 MB on one machine, loop delay p99 and rate:
 * with this 27 ms and 570 MB/s, with twice as much 55 ms and 365 MB/s, without a bound 100 ms and 330 MB/s.
 */
export const RECEIVE_BUFFER_BYTES = 128 * 1024;

/** A process that has not set it by then is ended. */
const PROCESS_MILLISECONDS_MAX = 5_000;

const LISTENING = '0A';

const SET_BUFFER = `
  const socket = require('node:dgram').createSocket('udp4');
  if (socket._handle.open(3) !== 0) process.exit(1);
  socket.setRecvBufferSize(${RECEIVE_BUFFER_BYTES});
`;

/**
 * Bounds all connections that the port takes from now on. False where that cannot be had: then loads of fast uploads
 * from the same machine hold up the loop. Never rejects.
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

/** This process's descriptor of the socket that listens on the port; null where the system does not tell. */
function listeningDescriptor(port: number): number | null {
  try {
    const tables = ['/proc/net/tcp', '/proc/net/tcp6'].filter((table) => existsSync(table));
    const inodes = new Set(tables.flatMap((table) => listeningInodes(table, port)));
    for (const descriptor of readdirSync('/proc/self/fd')) {
      if (inodes.has(linkOf(descriptor))) return Number(descriptor);
    }
  } catch {
    // Without /proc (some sandboxes): the caller goes on unbounded, and says so.
  }
  return null;
}

/** As the links in /proc/self/fd name them. */
function listeningInodes(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes: string[] = [];
  for (const line of readFileSync(table, 'latin1').split('\n')) {
    const [, address = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state === LISTENING && address.endsWith(`:${hex}`)) inodes.push(`socket:[${inode}]`);
  }
  return inodes;
}

/** '' for the descriptor of the listing itself, which is closed by now. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}
