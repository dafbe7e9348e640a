// Costs and benefits of engine threads: the service with one, two and four of them, idle, with eight large uploads at
// once, and with small Runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeOrders } from '../inputs/orders.ts';
import { median } from '../median.ts';
import type { Section } from '../report/section.ts';
import { eventLoopDelay } from './latency.ts';
import { soundLoad, uploadRequest } from './load.ts';
import { peakBytes, type RunningServer, residentBytes, startOurs } from './servers.ts';
import type { ServiceSettings } from './service-settings.ts';
import { smallFile } from './small-files.ts';

const WORKERS = [1, 2, 4];
const UPLOADS_AT_ONCE = 8;
const CONNECTIONS = 64;

interface Cost {
  readonly workers: number;
  readonly restBytes: number;
  readonly peakBytes: number;
  /** MB/s of each round. */
  readonly uploadRates: readonly number[];
  readonly runRate: number;
  readonly loopDelayMilliseconds: number;
}

export async function benchWorkers(settings: ServiceSettings): Promise<Section> {
  const costs: Cost[] = [];
  for (const workers of WORKERS) costs.push(await measure(settings, workers));
  return section(costs);
}

async function measure(settings: ServiceSettings, workers: number): Promise<Cost> {
  const { folder, bytes, rounds, loadSeconds, progress } = settings;
  const path = join(folder, 'orders.csv');
  makeOrders(path, bytes);
  const file = readFileSync(path);
  const server = await startOurs(folder, { workers });
  try {
    const restBytes = residentBytes(server);
    const delays: number[] = [];
    const runs = { connections: CONNECTIONS, seconds: loadSeconds, request: requestTo(server, smallFile(folder)) };
    const uploads = { connections: UPLOADS_AT_ONCE, seconds: 0, request: requestTo(server, file) };
    const runRates: number[] = [];
    const uploadRates: number[] = [];
    // The first round is a warm-up.
    for (let round = -1; round < rounds; round++) {
      progress.show(`${workers} workers: round ${round + 1} of ${rounds}`);
      const { port, expectedStatus } = server;
      const small = await soundLoad('a small Run', { port, expectedStatus, ...runs });
      await eventLoopDelay(server);
      const large = await soundLoad('an upload', { port, expectedStatus, ...uploads });
      const delay = await eventLoopDelay(server);
      if (round < 0) continue;
      delays.push(delay);
      runRates.push(small.answers / small.seconds);
      uploadRates.push((file.length * UPLOADS_AT_ONCE) / 1e6 / large.seconds);
    }
    return {
      workers,
      restBytes,
      peakBytes: peakBytes(server),
      uploadRates,
      runRate: median(runRates),
      loopDelayMilliseconds: median(delays),
    };
  } finally {
    await server.stop();
  }
}

function requestTo({ path, authorization }: RunningServer, file: Buffer): Buffer {
  return uploadRequest(path, file, authorization);
}

function section(costs: readonly Cost[]): Section {
  return {
    name: 'workers',
    title: `The service with 1, 2 and 4 engine threads, W1`,
    columns: [
      '',
      `MB/s, ${UPLOADS_AT_ONCE} uploads at once`,
      'small Runs/s',
      'event loop p99 ms',
      'MB at rest',
      'peak MB',
    ],
    rows: costs.map(({ workers, restBytes, peakBytes, uploadRates, runRate, loopDelayMilliseconds }) => [
      `${workers} thread${workers === 1 ? '' : 's'}`,
      median(uploadRates).toFixed(0),
      runRate.toFixed(0),
      loopDelayMilliseconds.toFixed(1),
      (restBytes / 1e6).toFixed(0),
      (peakBytes / 1e6).toFixed(0),
    ]),
    notes: [
      'Physical limit: the cores, which the threads share with the main thread and with the client of this benchmark.',
      'The delay of the event loop is that of the main thread during the uploads. It is the value in /metrics, which includes its timer of 10 ms.',
    ],
    chart: {
      unit: `MB/s, ${UPLOADS_AT_ONCE} uploads at once`,
      better: 'more',
      bars: costs.map(({ workers, uploadRates }) => ({
        label: `${workers} threads`,
        value: median(uploadRates),
        samples: uploadRates,
        ours: true,
      })),
      limit: null,
    },
  };
}
