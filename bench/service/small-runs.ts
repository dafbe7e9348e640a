// Small Runs a second: 64 connections that send 1 KB files, in turn against this service, against Fastify with Piscina
// and csv-parse, and against a server that only answers.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeOrders } from '../inputs/orders.ts';
import { figureOf } from '../measure.ts';
import { median } from '../median.ts';
import type { Section } from '../report/section.ts';
import { type LoadResult, soundLoad, uploadRequest } from './load.ts';
import { peakBytes, type RunningServer, startFastify, startOurs, startSink } from './servers.ts';
import type { ServiceSettings } from './service-settings.ts';

const FILE_BYTES = 1_000;
const CONNECTIONS = 64;

/** Not counted: the servers' code is compiled while it runs, a whole Run's later than a route's. */
const WARM_ROUNDS = 3;

export async function benchSmallRuns({ folder, rounds, loadSeconds, progress }: ServiceSettings): Promise<Section> {
  const file = smallFile(folder);
  const ways = [['Fastify, Piscina, csv-parse', '/upload']] as const;
  const servers = [await startOurs(folder), ...(await startFastify(folder, ways)), await startSink()];
  const results = servers.map((server) => ({ server, list: [] as LoadResult[] }));
  try {
    for (let round = -WARM_ROUNDS; round < rounds; round++) {
      for (const { server, list } of results) {
        progress.show(`small Runs: round ${round + 1} of ${rounds}, ${server.name}`);
        const { name, port, path, authorization, expectedStatus } = server;
        const request = uploadRequest(path, file, authorization);
        const load = { port, connections: CONNECTIONS, seconds: loadSeconds, request, expectedStatus };
        const result = await soundLoad(name, load);
        if (round >= 0) list.push(result);
      }
    }
    return section(results.map(({ server, list }) => ({ server, list, peak: peakBytes(server) })));
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** A file of about 1 KB. */
export function smallFile(folder: string): Buffer {
  const path = join(folder, 'small.csv');
  makeOrders(path, FILE_BYTES);
  return readFileSync(path);
}

interface Result {
  readonly server: RunningServer;
  readonly list: readonly LoadResult[];
  readonly peak: number;
}

function section(results: readonly Result[]): Section {
  const rates = results.map(({ list }) => figureOf(list.map(({ answers, seconds }) => answers / seconds)));
  const own = rates[0]!.median;
  const floor = rates.at(-1)!.median;
  return {
    name: 'small-runs',
    title: `Runs of 1 KB files with W1, ${CONNECTIONS} connections`,
    columns: ['', 'Runs/s', 'min..max', 'ours / it', 'p50 ms', 'p99 ms', 'p99.9 ms', 'peak MB'],
    rows: results.map(({ server, list, peak }, index) => {
      const { median: rate, low, high } = rates[index]!;
      const time = (of: (result: LoadResult) => number): string => median(list.map(of)).toFixed(1);
      return [
        server.name,
        rate.toFixed(0),
        `${low.toFixed(0)}..${high.toFixed(0)}`,
        (own / rate).toFixed(2),
        time(({ p50Milliseconds }) => p50Milliseconds),
        time(({ p99Milliseconds }) => p99Milliseconds),
        time(({ p999Milliseconds }) => p999Milliseconds),
        (peak / 1e6).toFixed(0),
      ];
    }),
    notes: [`Physical limit: ${floor.toFixed(0)} answers/s of a server that only reads and answers, from this client.`],
    chart: {
      unit: 'Runs/s',
      bars: results.slice(0, -1).map(({ server }, index) => ({
        label: server.name,
        value: rates[index]!.median,
        ours: index === 0,
      })),
      limit: { label: 'sockets alone', value: floor },
    },
  };
}
