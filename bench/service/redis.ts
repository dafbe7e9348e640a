// A Redis server for the fleet benchmark: Debian's redis-server in a child process, with an append-only file that is
// flushed every second, as in docs/how-to/fleet.md.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';

/** Another process may take a port before the server listens on it. */
const STARTS_MAX = 5;

export interface RunningRedis {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Returns null if Redis is not installed.
 * @param base folder for its file
 */
export async function startRedis(base: string): Promise<RunningRedis | null> {
  if (spawnSync('redis-server', ['--version']).error !== undefined) {
    console.log('The fleet: skipped, redis-server is not installed');
    return null;
  }
  const folder = mkdtempSync(join(base, 'redis-'));
  for (let tries = 1; ; tries += 1) {
    const running = await startOn(await freePort(), folder);
    if (running !== null) return running;
    if (tries === STARTS_MAX) throw new Error('redis-server ended at once');
  }
}

/** Null if the server ended at once, for example because another process has taken the port meanwhile. */
async function startOn(port: number, folder: string): Promise<RunningRedis | null> {
  const places = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const child = spawn('redis-server', [...places, '--save', '', '--appendonly', 'yes'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  while (!(await connects(port))) if (hasEnded) return null;
  return {
    port,
    pid: child.pid!,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The caller retries after a moment. */
function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => setTimeout(() => resolve(false), 50));
  });
}
