// Latency of GETs of a Run while large uploads arrive, compared with an idle service; and the delay of the main
// thread's event loop. The uploads come from a separate process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { makeOrders } from '../inputs/orders.ts';
import { figureOf } from '../measure.ts';
import { median } from '../median.ts';
import type { Section } from '../report/section.ts';
import { getRequest, type LoadResult, soundLoad } from './load.ts';
import { type RunningServer, startOurs } from './servers.ts';
import type { ServiceSettings } from './service-settings.ts';
import type { UploadJob } from './upload-process.ts';

const UPLOADS_AT_ONCE = [0, 1, 8];
const SCRIPT = new URL('./upload-process.js', import.meta.url).pathname;

/** The list of Templates: a response of the main thread only, for an object that does not expire. */
const GET_PATH = '/api/v1/templates';

interface Moment {
  readonly gets: LoadResult;
  readonly loopDelayMilliseconds: number;
}

export async function benchLatency(settings: ServiceSettings): Promise<Section> {
  const { folder, bytes, rounds, progress } = settings;
  const file = join(folder, 'orders.csv');
  makeOrders(file, bytes);
  const server = await startOurs(folder);
  try {
    const moments = new Map(UPLOADS_AT_ONCE.map((uploads): [number, Moment[]] => [uploads, []]));
    for (let round = -1; round < rounds; round++) {
      for (const [uploads, list] of moments) {
        progress.show(`GET while ${uploads} uploads run: round ${round + 1} of ${rounds}`);
        const moment = await measure(settings, server, file, uploads);
        if (round >= 0) list.push(moment);
      }
    }
    return section(moments);
  } finally {
    await server.stop();
  }
}

async function measure(
  { loadSeconds }: ServiceSettings,
  server: RunningServer,
  file: string,
  uploads: number,
): Promise<Moment> {
  const { port, path, authorization, expectedStatus } = server;
  // The uploads continue until the GETs are finished.
  const job: UploadJob = {
    port,
    path,
    authorization,
    expectedStatus,
    file,
    connections: uploads,
    seconds: loadSeconds,
  };
  const uploading = uploads === 0 ? null : startUploads(job);
  // Does not wait for a process that fails before it sends.
  await Promise.race([uploading?.begun, uploading?.ended]);
  await eventLoopDelay(server);
  const request = getRequest(GET_PATH, authorization);
  const gets = await soundLoad('a GET', { port, connections: 1, seconds: loadSeconds, request, expectedStatus: 200 });
  const loopDelayMilliseconds = await eventLoopDelay(server);
  await uploading?.ended;
  return { gets, loopDelayMilliseconds };
}

/** `begun` resolves when the process sends, `ended` when it has received its last response. */
function startUploads(job: UploadJob): { begun: Promise<unknown>; ended: Promise<void> } {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = async (): Promise<void> => {
    const [status] = (await once(child, 'exit')) as [number | null];
    if (status !== 0) throw new Error(`the uploads ended with ${status}`);
  };
  // Its first line of output means that it sends.
  return { begun: once(child.stdout, 'data'), ended: end() };
}

/** 99th percentile of the delay of the main thread's event loop since the last request of /metrics. */
export async function eventLoopDelay({ port }: RunningServer): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_p99_seconds ([\d.e-]+)/m.exec(metrics)?.[1]) * 1000;
}

function section(moments: ReadonlyMap<number, readonly Moment[]>): Section {
  const rows = [...moments].map(([uploads, list]) => {
    const time = (of: (moment: Moment) => number): string => median(list.map(of)).toFixed(2);
    const { low, high } = figureOf(list.map(({ gets }) => gets.p99Milliseconds));
    return [
      uploads === 0 ? 'idle' : `${uploads} upload${uploads === 1 ? '' : 's'} at once`,
      time(({ gets }) => gets.p50Milliseconds),
      time(({ gets }) => gets.p99Milliseconds),
      `${low.toFixed(2)}..${high.toFixed(2)}`,
      time(({ gets }) => gets.p999Milliseconds),
      time(({ loopDelayMilliseconds }) => loopDelayMilliseconds),
    ];
  });
  return {
    name: 'latency',
    title: 'GET of the list of Templates while uploads with W1 run',
    columns: ['', 'p50 ms', 'p99 ms', 'min..max of p99', 'p99.9 ms', 'event loop p99 ms'],
    rows,
    notes: [
      'Physical limit: the idle line. The delay of the event loop is the value in /metrics, which includes its timer of 10 ms.',
    ],
    chart: {
      unit: 'p99 in ms',
      better: 'less',
      bars: [...moments.values()].map((list, index) => {
        const samples = list.map(({ gets }) => gets.p99Milliseconds);
        return { label: rows[index]![0]!, value: median(samples), samples, ours: true };
      }),
      limit: null,
    },
  };
}
