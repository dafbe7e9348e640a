// Rate of large uploads with W1, one and eight at once, from the first byte sent to the response with the finished Run,
// compared with Fastify with csv-parse and with DuckDB.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeOrders } from '../inputs/orders.ts';
import { type Figure, figureOf } from '../measure.ts';
import type { Section } from '../report/section.ts';
import { soundLoad, uploadRequest } from './load.ts';
import { forgetPeak, peakBytes, type RunningServer, startFastify, startOurs, startSink } from './servers.ts';
import type { ServiceSettings } from './service-settings.ts';

const AT_ONCE = 8;

/**
 * Number of uploads before the rate of a fast server counts. A server that runs for weeks is fully warmed up, and V8
 * still compiles code during the seventh upload (150 ms of a core in the second, 20 in the eighth).
 */
const WARM_UPLOADS = 8;

/** Number of consecutive uploads in each turn of a server, as from a client that has several, */
const UPLOADS_IN_TURN = 3;

/**
 * or fewer once they have taken this long. A server that needs this for its first upload is slow and is measured once.
 */
const TURN_MILLISECONDS_MAX = 5_000;

interface Race {
  readonly server: RunningServer;
  readonly rates: number[];
  peakBytes: number;
  slow: boolean;
}

export async function benchUploads(settings: ServiceSettings): Promise<readonly Section[]> {
  const { folder, bytes } = settings;
  const path = join(folder, 'orders.csv');
  makeOrders(path, bytes);
  const file = readFileSync(path);
  const ways = [
    ['Fastify and DuckDB', '/upload-file/duckdb'],
    ['Fastify and csv-parse', '/upload-file/csv-parse'],
  ] as const;
  const servers = [await startOurs(folder), ...(await startFastify(folder, ways)), await startSink()];
  try {
    const sections: Section[] = [];
    for (const connections of [1, AT_ONCE]) {
      const races = await measure(settings, servers, file, connections);
      sections.push(section(races, connections, statSync(path).size));
    }
    return sections;
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function measure(
  { rounds, progress }: ServiceSettings,
  servers: readonly RunningServer[],
  file: Buffer,
  connections: number,
): Promise<readonly Race[]> {
  const races = servers.map((server): Race => ({ server, rates: [], peakBytes: 0, slow: false }));
  for (let round = -Math.ceil(WARM_UPLOADS / UPLOADS_IN_TURN / connections); round < rounds; round++) {
    for (const race of races) {
      if (race.slow && race.rates.length > 0) continue;
      const { name, port, path, authorization, expectedStatus } = race.server;
      const stage = round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`;
      progress.show(`uploads, ${connections} at once: ${stage}, ${name}`);
      const request = uploadRequest(path, file, authorization);
      forgetPeak(race.server);
      let uploads = 0;
      let milliseconds = 0;
      while (uploads < UPLOADS_IN_TURN && milliseconds < TURN_MILLISECONDS_MAX) {
        const { seconds } = await soundLoad(name, { port, connections, seconds: 0, request, expectedStatus });
        milliseconds += seconds * 1000;
        uploads += 1;
      }
      race.slow = uploads === 1;
      if (round < 0 && !race.slow) continue;
      race.rates.push((file.length * connections * uploads) / 1e3 / milliseconds);
      race.peakBytes = Math.max(race.peakBytes, peakBytes(race.server));
    }
  }
  return races;
}

function section(races: readonly Race[], connections: number, bytes: number): Section {
  const figures = races.map(({ rates }) => figureOf(rates));
  const own = figures[0]!.median;
  const floor = figures.at(-1)!.median;
  const size = `${Math.round(bytes / 1e6)} MB`;
  return {
    name: connections === 1 ? 'upload' : 'uploads-at-once',
    title: `Upload of ${size} with W1 to the finished Run, ${connections === 1 ? 'alone' : `${connections} at once`}`,
    columns: ['', 'MB/s', 'min..max', 'ours / it', 'peak MB', 'rounds'],
    rows: races.map((race, index) => row(race, figures[index]!, own)),
    notes: [
      `Each round has ${UPLOADS_IN_TURN} turns, one after the other, or fewer after ${TURN_MILLISECONDS_MAX / 1000} s. Each server received ${WARM_UPLOADS} uploads before; a server that needs longer for its first turn received none, and is measured once.`,
      `Physical limit: ${floor.toFixed(0)} MB/s through the same sockets to a server that only reads and responds.`,
    ],
    chart: {
      unit: 'MB/s',
      better: 'more',
      bars: races.slice(0, -1).map(({ server, rates }, index) => ({
        label: server.name,
        value: figures[index]!.median,
        samples: rates,
        ours: index === 0,
      })),
      limit: { label: 'sockets alone', value: floor },
    },
  };
}

function row({ server, rates, peakBytes }: Race, { median, low, high }: Figure, own: number): string[] {
  return [
    server.name,
    median.toFixed(0),
    `${low.toFixed(0)}..${high.toFixed(0)}`,
    (own / median).toFixed(2),
    (peakBytes / 1e6).toFixed(0),
    String(rates.length),
  ];
}
