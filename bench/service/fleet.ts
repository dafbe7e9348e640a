// Costs of Redis for a node, and benefits of a second and a third node: small Runs on a standalone node, on one node
// with Redis, and on three of them, each with one engine thread. Also reports processor time, which shows what more
// cores would give.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { figureOf } from '../measure.ts';
import { median } from '../median.ts';
import type { Section } from '../report/section.ts';
import { type LoadResult, soundLoad, uploadRequest } from './load.ts';
import { type RunningRedis, startRedis } from './redis.ts';
import { processorSeconds, type RunningServer, startOurs } from './servers.ts';
import type { ServiceSettings } from './service-settings.ts';
import { smallFile } from './small-files.ts';

/** Total over all nodes. */
const CONNECTIONS = 48;
const NODES = 3;
const WORKERS = 1;
const WARM_ROUNDS = 2;

interface Moment {
  readonly runsPerSecond: number;
  /** Median latency with a single connection. */
  readonly aloneMilliseconds: number;
  /** Processor time per Run. */
  readonly nodeMilliseconds: number;
  readonly redisMilliseconds: number;
}

interface Contender {
  readonly name: string;
  readonly nodes: readonly RunningServer[];
  readonly redis: RunningRedis | null;
  readonly moments: Moment[];
  /** Number of responses with a Run, including the warm-up. */
  runs: number;
}

/** Returns null if Redis is not installed. */
export async function benchFleet(settings: ServiceSettings): Promise<Section | null> {
  const { folder, rounds, progress } = settings;
  const redis = await startRedis(folder);
  if (redis === null) return null;
  const servers: RunningServer[] = [];
  const start = async (count: number, database: number | null): Promise<RunningServer[]> => {
    const flags = database === null ? [] : fleetFlags(folder, redis, database);
    const nodes: RunningServer[] = [];
    for (let node = 0; node < count; node++) {
      nodes.push(await startOurs(folder, { workers: WORKERS, flags }));
      servers.push(nodes.at(-1)!);
    }
    return nodes;
  };
  try {
    const contenders: Contender[] = [
      { name: 'one node on its own', nodes: await start(1, null), redis: null, moments: [], runs: 0 },
      { name: 'one node on Redis', nodes: await start(1, 1), redis, moments: [], runs: 0 },
      { name: `${NODES} nodes on Redis`, nodes: await start(NODES, 2), redis, moments: [], runs: 0 },
    ];
    const file = smallFile(folder);
    for (const contender of contenders) await checkOutputs(contender, contenders[0]!, file);
    for (let round = -WARM_ROUNDS; round < rounds; round++) {
      for (const contender of contenders) {
        progress.show(`fleet: round ${round + 1} of ${rounds}, ${contender.name}`);
        const moment = await measure(contender, file, settings);
        if (round >= 0) contender.moments.push(moment);
      }
    }
    for (const contender of contenders) await checkCharges(contender);
    return section(contenders);
  } finally {
    for (const server of servers) await server.stop();
    await redis.stop();
  }
}

function fleetFlags(folder: string, redis: RunningRedis, database: number): string[] {
  const outputs = mkdtempSync(join(folder, 'outputs-'));
  const places = ['--redis', `redis://127.0.0.1:${redis.port}/${database}`, '--outputs', outputs];
  return [...places, '--base-url', 'http://127.0.0.1', '--drain-delay-ms', '0'];
}

async function measure(contender: Contender, file: Buffer, settings: ServiceSettings): Promise<Moment> {
  const { name, nodes, redis } = contender;
  const loadOf = async (node: RunningServer, connections: number): Promise<LoadResult> => {
    const { port, path, authorization, expectedStatus } = node;
    const request = uploadRequest(path, file, authorization);
    const { loadSeconds: seconds } = settings;
    const result = await soundLoad(name, { port, connections, seconds, request, expectedStatus });
    contender.runs += result.answers;
    return result;
  };
  const redisTime = (): number => (redis === null ? 0 : processorSeconds(redis) * 1000);
  const [nodesBefore, redisBefore] = [nodesTime(nodes), redisTime()];
  const loads = await Promise.all(nodes.map((node) => loadOf(node, CONNECTIONS / nodes.length)));
  const runs = sum(loads.map(({ answers }) => answers));
  const [nodeMilliseconds, redisMilliseconds] = [
    (nodesTime(nodes) - nodesBefore) / runs,
    (redisTime() - redisBefore) / runs,
  ];
  const { p50Milliseconds: aloneMilliseconds } = await loadOf(nodes[0]!, 1);
  const runsPerSecond = sum(loads.map(({ answers, seconds }) => answers / seconds));
  return { runsPerSecond, aloneMilliseconds, nodeMilliseconds, redisMilliseconds };
}

function nodesTime(nodes: readonly RunningServer[]): number {
  return sum(nodes.map((node) => processorSeconds(node) * 1000));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Checks that a Run created on any node has, on each node, the same bytes as on a standalone node. */
async function checkOutputs(contender: Contender, reference: Contender, file: Buffer): Promise<void> {
  const { name, nodes } = contender;
  const own = reference.nodes[0]!;
  const expected = await outputOf(own, own, file);
  reference.runs += 1;
  for (const maker of nodes) {
    for (const reader of nodes) {
      if (!(await outputOf(maker, reader, file)).equals(expected)) throw new Error(`${name}: another output`);
      contender.runs += 1;
    }
  }
}

async function outputOf(maker: RunningServer, reader: RunningServer, file: Buffer): Promise<Buffer> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(file)]), 'orders.csv');
  const made = await fetch(`http://127.0.0.1:${maker.port}${maker.path}`, {
    method: 'POST',
    headers: { authorization: maker.authorization },
    body: form,
  });
  const { id } = (await made.json()) as { id: string };
  const headers = { authorization: reader.authorization };
  const read = await fetch(`http://127.0.0.1:${reader.port}/api/v1/runs/${id}/output`, { headers });
  if (read.status !== 200) throw new Error(`an output was answered with ${read.status}`);
  return Buffer.from(await read.arrayBuffer());
}

/** Checks that every node reports as many charged Runs as were answered. */
async function checkCharges({ name, nodes, runs }: Contender): Promise<void> {
  for (const { port } of nodes) {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const used = Number(/^template_run_quota_used\{account="demo"\} (\d+)$/m.exec(metrics)?.[1]);
    if (used !== runs) throw new Error(`${name}: ${runs} Runs were answered, and ${used} are charged`);
  }
}

function section(contenders: readonly Contender[]): Section {
  const [own, one] = contenders.map(({ moments }) => median(moments.map(({ runsPerSecond }) => runsPerSecond)));
  const alone = contenders.map(({ moments }) => median(moments.map(({ aloneMilliseconds }) => aloneMilliseconds)));
  const rows = contenders.map(({ name, moments }, index) => {
    const { median: rate, low, high } = figureOf(moments.map(({ runsPerSecond }) => runsPerSecond));
    const ofMoment = (value: (moment: Moment) => number): string => median(moments.map(value)).toFixed(2);
    return [
      name,
      rate.toFixed(0),
      `${low.toFixed(0)}..${high.toFixed(0)}`,
      (rate / own!).toFixed(2),
      (rate / one!).toFixed(2),
      alone[index]!.toFixed(2),
      (alone[index]! - alone[0]!).toFixed(2),
      ofMoment(({ nodeMilliseconds }) => nodeMilliseconds),
      ofMoment(({ redisMilliseconds }) => redisMilliseconds),
    ];
  });
  return {
    name: 'fleet',
    title: `Runs of 1 KB files with W1, ${CONNECTIONS} connections, nodes with one engine thread`,
    columns: [
      '',
      'Runs/s',
      'min..max',
      'of one on its own',
      'of one on Redis',
      'p50 ms alone',
      'added ms',
      'CPU ms a Run, nodes',
      'CPU ms a Run, Redis',
    ],
    rows,
    notes: [
      'Physical limit: the cores, which the nodes share with Redis and with the client of this benchmark. The processor time shows ' +
        'how many Runs separate machines would do, until Redis fills its one core.',
      'Redis writes its append-only file each second. The client connects to the nodes directly, with the same number of connections to each.',
    ],
    chart: {
      unit: 'Runs/s',
      better: 'more',
      bars: contenders.map(({ name, moments }) => {
        const samples = moments.map(({ runsPerSecond }) => runsPerSecond);
        return { label: name, value: median(samples), samples, ours: true };
      }),
      limit: null,
    },
  };
}
