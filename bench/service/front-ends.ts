// The service with each HTTP front end and on several versions of Node: small Runs, and large uploads with W1, W3 and W8.
// docs/how-to/run-a-node.md recommends a version of Node by these figures.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INPUTS } from '../inputs/index.ts';
import { type Figure, figureOf } from '../measure.ts';
import type { Section } from '../report/section.ts';
import { workloadNamed } from '../workloads/index.ts';
import { checkAnswer } from './check-answer.ts';
import { soundLoad, uploadRequest } from './load.ts';
import { peakBytes, type RunningServer, startOurs } from './servers.ts';
import type { ServiceSettings } from './service-settings.ts';
import { smallFile } from './small-files.ts';

const CONNECTIONS = 64;

/** Unmeasured rounds, in which V8 compiles the code. */
const WARM_ROUNDS = 2;

const UPLOADED = ['W1', 'W3', 'W8'];

const FRONT_ENDS = ['uws', 'node'] as const;

interface Job {
  readonly title: string;
  readonly path: string;
  readonly file: Buffer;
  readonly connections: number;
  /** Null: the unit of the rate is megabytes per second. */
  readonly seconds: number | null;
}

interface Entry {
  readonly server: RunningServer;
  /** For each job, the rate of each round. */
  readonly rates: readonly number[][];
}

/** @param nodes executables of Node; the first one is the standard of comparison */
export async function benchFrontEnds(settings: ServiceSettings, nodes: readonly string[]): Promise<Section> {
  const jobs = jobsOf(settings);
  const entries: Entry[] = [];
  try {
    for (const node of nodes) {
      for (const frontEnd of FRONT_ENDS) {
        const server = await startFrontEnd(settings, node, frontEnd);
        if (server !== null) entries.push({ server, rates: jobs.map(() => []) });
      }
    }
    for (const { server } of entries) await checkAnswer(server, jobs[0]!.file);
    await takeTurns(settings, entries, jobs);
    return section(entries, jobs);
  } finally {
    for (const { server } of entries) await server.stop();
  }
}

function jobsOf({ folder, bytes, loadSeconds }: ServiceSettings): readonly Job[] {
  const uploads = UPLOADED.map((name): Job => {
    const { input } = workloadNamed(name);
    const path = join(folder, `${input}.csv`);
    INPUTS[input].make(path, bytes);
    const route = `/api/v1/templates/${name.toLowerCase()}/runs`;
    return { title: `${name} MB/s`, path: route, file: readFileSync(path), connections: 1, seconds: null };
  });
  const path = '/api/v1/templates/w1/runs';
  return [
    { title: 'Runs/s', path, file: smallFile(folder), connections: CONNECTIONS, seconds: loadSeconds },
    ...uploads,
  ];
}

/** Null if this version of Node cannot load the library. */
async function startFrontEnd(
  { folder }: ServiceSettings,
  node: string,
  frontEnd: (typeof FRONT_ENDS)[number],
): Promise<RunningServer | null> {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const name = `Node ${version}, ${frontEnd === 'uws' ? 'uWebSockets.js' : 'HTTP server of Node'}`;
  try {
    const server = await startOurs(folder, { node, flags: ['--http-library', frontEnd] });
    return { ...server, name };
  } catch (error) {
    if (frontEnd === 'node') throw error;
    console.log(`${name}: left out, it cannot be loaded`);
    return null;
  }
}

async function takeTurns(
  { rounds, progress }: ServiceSettings,
  entries: readonly Entry[],
  jobs: readonly Job[],
): Promise<void> {
  for (let round = -WARM_ROUNDS; round < rounds; round++) {
    for (const [index, { title, path, file, connections, seconds }] of jobs.entries()) {
      for (const { server, rates } of entries) {
        progress.show(`front ends: ${round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`}, ${title}`);
        const { name, port, authorization, expectedStatus } = server;
        const request = uploadRequest(path, file, authorization);
        const result = await soundLoad(name, { port, connections, seconds: seconds ?? 0, request, expectedStatus });
        if (round < 0) continue;
        const amount = seconds === null ? file.length / 1e6 : result.answers;
        rates[index]!.push(amount / result.seconds);
      }
    }
  }
}

function section(entries: readonly Entry[], jobs: readonly Job[]): Section {
  const figures = entries.map(({ rates }) => rates.map(figureOf));
  const cellsOf = ({ median, low, high }: Figure, job: number): readonly string[] => [
    median.toFixed(0),
    `${low.toFixed(0)}..${high.toFixed(0)}`,
    (median / figures[0]![job]!.median).toFixed(2),
  ];
  return {
    name: 'front-ends',
    title: `The service with each HTTP front end and version of Node: small Runs with ${CONNECTIONS} connections, and uploads`,
    columns: ['', ...jobs.flatMap(({ title }) => [title, 'min..max', 'it / first']), 'peak MB'],
    rows: entries.map(({ server }, row) => [
      server.name,
      ...figures[row]!.flatMap(cellsOf),
      (peakBytes(server) / 1e6).toFixed(0),
    ]),
    notes: [
      `Small Runs are 1 KB files with W1. Uploads are ${UPLOADED.join(', ')}, one at a time, to the finished Run.`,
      'The servers take turns in each round. The first line is the standard of comparison.',
    ],
    chart: null,
  };
}
