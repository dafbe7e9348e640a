// Small Runs per second: 64 connections send 1 KB files, alternating between this service, Fastify with Piscina and
// csv-parse, the minimum cost of its design, and a server that only responds. The service runs as installed, with its
// log in a file; two more have a slow and a stopped reader of the log. Many Runs are stored before the measurement.
// Then the same with files in other forms.
import { figureOf } from '../measure.ts';
import { median } from '../median.ts';
import type { Progress } from '../progress.ts';
import type { Section } from '../report/section.ts';
import { checkAnswer } from './check-answer.ts';
import { type LoadResult, soundLoad, uploadRequest } from './load.ts';
import type { LogReader } from './server-log.ts';
import {
  peakBytes,
  processorSeconds,
  type RunningServer,
  startFastify,
  startFloor,
  startOurs,
  startSink,
} from './servers.ts';
import type { ServiceSettings } from './service-settings.ts';
import { otherForms, smallFile } from './small-files.ts';

const CONNECTIONS = 64;

/** One service for each; the first is the service as installed. */
const LOG_READERS: readonly LogReader[] = ['file', 'slow', 'stopped'];

/** Unmeasured rounds, in which the servers' code is compiled: it takes longer for a whole Run than for a route. */
const WARM_ROUNDS = 3;

/** Differences from an installed service. */
const DEVIATIONS = [
  'Limits of the plan are so high that no Run is refused.',
  'Catalog, data and log are in the folder of the benchmark, which is in memory unless --folder says otherwise.',
  'Clients and servers share one machine.',
];

/** A contender: a server and the file that it receives. */
interface Entry {
  readonly name: string;
  readonly isOurs: boolean;
  readonly server: RunningServer;
  readonly file: Buffer;
  readonly results: LoadResult[];
  /** User and system time of the server's process per response. */
  readonly processorSeconds: number[];
}

export async function benchSmallRuns(settings: ServiceSettings): Promise<readonly Section[]> {
  const { folder } = settings;
  const file = smallFile(folder);
  const ways = [['Fastify, Piscina, csv-parse', '/upload']] as const;
  const servers: RunningServer[] = [];
  try {
    for (const logReader of LOG_READERS) servers.push(await startOurs(folder, { asInstalled: true, logReader }));
    const [inFile] = servers;
    const own = servers.map((server) => entryOf(server.name, server, file, true));
    servers.push(...(await startFastify(folder, ways)), await startFloor(), await startSink());
    const peers = servers.slice(own.length).map((server) => entryOf(server.name, server, file));
    const others = otherForms(file).map((form) => entryOf(form.name, inFile!, form.file, true));
    const forms = [entryOf('plain', inFile!, file, true), ...others];
    for (const { server, file: sent } of [...own, ...peers, ...others]) await checkAnswer(server, sent);
    for (const entry of own) await keepRuns(entry, settings);
    await takeTurns([...own, ...peers], settings);
    await takeTurns(forms, settings);
    return [plainSection([...own, ...peers], settings), formsSection(forms)];
  } finally {
    for (const server of servers) await server.stop();
  }
}

function entryOf(name: string, server: RunningServer, file: Buffer, isOurs = false): Entry {
  return { name, isOurs, server, file, results: [], processorSeconds: [] };
}

/** Sends Runs until the service stores as many as the setting requires. */
async function keepRuns(entry: Entry, { keptRuns, progress, loadSeconds }: ServiceSettings): Promise<void> {
  for (let kept = 0; kept < keptRuns; ) {
    progress.show(`small Runs: ${kept} of ${keptRuns} kept by ${entry.name}`);
    kept += (await loadOf(entry, loadSeconds)).answers;
  }
}

async function takeTurns(entries: readonly Entry[], { rounds, loadSeconds, progress }: ServiceSettings): Promise<void> {
  for (let round = -WARM_ROUNDS; round < rounds; round++) {
    for (const entry of inOrderOf(round, entries)) {
      showRound(progress, round, rounds, entry.name);
      const before = processorSeconds(entry.server);
      const result = await loadOf(entry, loadSeconds);
      if (round < 0) continue;
      entry.results.push(result);
      entry.processorSeconds.push((processorSeconds(entry.server) - before) / result.answers);
    }
  }
}

/**
 * Each round begins with another entry and goes round in the other direction than the previous one: a server is
 * slower after a busy one, which still tidies up.
 */
export function inOrderOf<Entry>(round: number, entries: readonly Entry[]): Entry[] {
  const turned = entries.map((_, index) => entries.at((index + round) % entries.length)!);
  return round % 2 === 0 ? turned : turned.reverse();
}

function showRound(progress: Progress, round: number, rounds: number, name: string): void {
  progress.show(`small Runs: ${round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`}, ${name}`);
}

function loadOf({ name, server, file }: Entry, seconds: number): Promise<LoadResult> {
  const { port, path, authorization, expectedStatus } = server;
  const request = uploadRequest(path, file, authorization);
  return soundLoad(name, { port, connections: CONNECTIONS, seconds, request, expectedStatus });
}

const rateOf = ({ results }: Entry) => figureOf(results.map(({ answers, seconds }) => answers / seconds));
const medianOf = ({ results }: Entry, of: (result: LoadResult) => number): number => median(results.map(of));
const p99Of = (entry: Entry): number => medianOf(entry, ({ p99Milliseconds }) => p99Milliseconds);

function figures(entry: Entry, ratio: number): readonly string[] {
  const { median: rate, low, high } = rateOf(entry);
  return [
    rate.toFixed(0),
    `${low.toFixed(0)}..${high.toFixed(0)}`,
    ratio.toFixed(2),
    (median(entry.processorSeconds) * 1e6).toFixed(0),
    medianOf(entry, ({ p50Milliseconds }) => p50Milliseconds).toFixed(1),
    p99Of(entry).toFixed(1),
    medianOf(entry, ({ p999Milliseconds }) => p999Milliseconds).toFixed(1),
  ];
}

function plainSection(entries: readonly Entry[], { keptRuns }: ServiceSettings): Section {
  const [ours] = entries;
  const own = rateOf(ours!).median;
  const floor = entries.at(-2)!;
  const limit = rateOf(entries.at(-1)!).median;
  const p99Ratio = p99Of(ours!) / p99Of(floor);
  const stopped = entries.find(({ server }) => server.name.includes('stopped'))!;
  const stoppedRatio = p99Of(stopped) / p99Of(ours!);
  return {
    name: 'small-runs',
    title: `Runs of 1 KB files with W1, ${CONNECTIONS} connections`,
    columns: ['', 'Runs/s', 'min..max', 'ours / it', 'CPU µs', 'p50 ms', 'p99 ms', 'p99.9 ms', 'peak MB'],
    rows: entries.map((entry) => [
      entry.name,
      ...figures(entry, own / rateOf(entry).median),
      (peakBytes(entry.server) / 1e6).toFixed(0),
    ]),
    notes: [
      `Physical limit: ${limit.toFixed(0)} responses/s of a server that only reads and responds, with this client.`,
      `template-run runs with its default flags and writes its log to a file. It keeps its Runs for 30 minutes, and stored ${keptRuns} before the first round. Its p99 is ${p99Ratio.toFixed(1)} times the floor's. With a stopped log reader, its p99 is ${stoppedRatio.toFixed(2)} times its p99 with a file.`,
      `Deviations from an installed service: ${DEVIATIONS.join(' ')}`,
      'CPU: user and system time of the server for each response.',
    ],
    chart: {
      unit: 'Runs/s',
      better: 'more',
      bars: entries.slice(0, -1).map((entry) => ({
        label: entry.name,
        value: rateOf(entry).median,
        samples: rateOf(entry).samples,
        ours: entry.isOurs,
      })),
      limit: { label: 'sockets alone', value: limit },
    },
  };
}

function formsSection(entries: readonly Entry[]): Section {
  const plain = rateOf(entries[0]!).median;
  return {
    name: 'small-runs-forms',
    title: `Runs of 1 KB files that are not plain, ${CONNECTIONS} connections`,
    columns: ['', 'Runs/s', 'min..max', 'it / plain', 'CPU µs', 'p50 ms', 'p99 ms', 'p99.9 ms'],
    rows: entries.map((entry) => [entry.name, ...figures(entry, rateOf(entry).median / plain)]),
    notes: [
      'The same service and the same rows, as other programs write them. The Template does not declare these notations.',
    ],
    chart: null,
  };
}
