// Small Runs a second: 64 connections that send 1 KB files, in turn against this service and against Fastify with
// Piscina and csv-parse.

import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { peer } from './contenders/peers.ts';
import { type LoadResult, load, uploadRequest } from './load.ts';
import { median } from './median.ts';
import { makeOrders } from './orders.ts';
import { type RunningServer, startFastify, startOurs } from './service.ts';

const FILE_BYTES = 1_000;
const CONNECTIONS = 64;
const SECONDS = 3;

export async function benchSmallRuns(rounds: number): Promise<void> {
  const file = smallFile();
  const servers = [await startOurs()];
  if (peer('fastify') === null) console.log('fastify: skipped, not installed (npm run bench:setup)');
  else servers.push(await startFastify());
  const results = new Map(servers.map((server): [RunningServer, LoadResult[]] => [server, []]));
  try {
    for (let round = -1; round < rounds; round++) {
      for (const server of servers) {
        const request = uploadRequest(server.path, file, server.authorization);
        const { port, expectedStatus } = server;
        const result = await load({ port, connections: CONNECTIONS, seconds: SECONDS, request, expectedStatus });
        // The first round warms both up.
        if (round >= 0) results.get(server)!.push(result);
        if (Object.keys(result.others).length > 0) throw new Error(`${server.name}: ${JSON.stringify(result.others)}`);
      }
    }
  } finally {
    for (const server of servers) await server.stop();
  }
  print(results);
}

function smallFile(): Buffer {
  const path = join(tmpdir(), `template-run-bench-${process.pid}.csv`);
  makeOrders(path, FILE_BYTES);
  const file = readFileSync(path);
  rmSync(path);
  return file;
}

function print(results: Map<RunningServer, LoadResult[]>): void {
  console.log(`\nsmall Runs: files of ${FILE_BYTES} bytes, ${CONNECTIONS} connections`);
  console.log('              Runs/s   ratio    p50 ms    p99 ms');
  const rate = (list: readonly LoadResult[]): number => median(list.map(({ answers, seconds }) => answers / seconds));
  const own = rate([...results.values()][0]!);
  for (const [{ name }, list] of results) {
    const p50 = median(list.map(({ p50Milliseconds }) => p50Milliseconds));
    const p99 = median(list.map(({ p99Milliseconds }) => p99Milliseconds));
    const cells = [rate(list).toFixed(0).padStart(7), (own / rate(list)).toFixed(2).padStart(7)];
    console.log(`${name.padEnd(12)} ${cells.join(' ')} ${p50.toFixed(1).padStart(9)} ${p99.toFixed(1).padStart(9)}`);
  }
}
