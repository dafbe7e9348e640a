// The engine beside other engines: the same file, the same work, in turn, each run in a process of its own.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { compareRecords, readRecords } from './answers.ts';
import { peer } from './contenders/peers.ts';
import { median } from './median.ts';
import { makeOrders } from './orders.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

export interface EngineSettings {
  /** Folder for inputs and outputs; memory (tmpfs) where the disk's speed should not count. */
  readonly folder: string;
  readonly inputBytes: number;
  readonly rounds: number;
}

/** The answers are compared on a file of this size: reading them back is slow JavaScript. */
const CHECK_BYTES = 5_000_000;

/** Contender and the library that it needs. */
const CONTENDERS: readonly (readonly [name: string, library: string | null])[] = [
  ['template-run', null],
  ['polars', 'nodejs-polars'],
  ['duckdb', '@duckdb/node-api'],
  ['csv-parse', 'csv-parse'],
];

/** Rounds of a contender that takes minutes are not worth more. */
const SLOW_CONTENDER = 'csv-parse';

interface Measure {
  readonly milliseconds: number;
  readonly peakBytes: number;
}

export function benchEngine({ folder, inputBytes, rounds }: EngineSettings): void {
  mkdirSync(folder, { recursive: true });
  const contenders = CONTENDERS.filter(([name, library]) => {
    const there = library === null || peer(library) !== null;
    if (!there) console.log(`${name}: skipped, not installed (npm run bench:setup)`);
    return there;
  }).map(([name]) => name);
  const small = join(folder, 'orders-check.csv');
  const large = join(folder, 'orders.csv');
  makeOrders(small, CHECK_BYTES);
  makeOrders(large, inputBytes);
  for (const workload of WORKLOADS) {
    checkAnswers(workload, contenders, small, folder);
    printTable(workload, measureAll(workload, contenders, large, folder, rounds), statSync(large).size);
  }
}

function checkAnswers(workload: Workload, contenders: readonly string[], input: string, folder: string): void {
  const outputs = contenders.map((name) => {
    const output = join(folder, `check-${name}.${workload.ending}`);
    measure(name, workload, input, output);
    const records = readRecords(output, workload);
    rmSync(output);
    return { name, records };
  });
  const judge = outputs.at(-1)!;
  for (const { name, records } of outputs) {
    compareRecords(`${workload.name} ${name}`, judge.records, records, workload.name === 'W4' && name === 'duckdb');
  }
}

function measureAll(
  workload: Workload,
  contenders: readonly string[],
  input: string,
  folder: string,
  rounds: number,
): Map<string, Measure[]> {
  const measures = new Map(contenders.map((name): [string, Measure[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of contenders) {
      if (name === SLOW_CONTENDER && round > 0) continue;
      const output = join(folder, `out-${name}.${workload.ending}`);
      measures.get(name)!.push(measure(name, workload, input, output));
      rmSync(output);
    }
  }
  return measures;
}

function measure(name: string, workload: Workload, input: string, output: string): Measure {
  const script = new URL('./contender-process.js', import.meta.url).pathname;
  const args = [script, name, workload.name, input, output];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }));
}

function printTable(workload: Workload, measures: Map<string, Measure[]>, bytes: number): void {
  console.log(`\n${workload.name}: ${workload.title}, ${Math.round(bytes / 1e6)} MB`);
  console.log('                 MB/s   min..max   ratio   peak MB  rounds');
  const own = rate(measures.get('template-run')!, bytes).median;
  for (const [name, list] of measures) {
    const { median: middle, low, high } = rate(list, bytes);
    const peak = Math.round(median(list.map(({ peakBytes }) => peakBytes)) / 1e6);
    const ratio = (own / middle).toFixed(2);
    console.log(
      `${name.padEnd(14)} ${cell(middle, 6)} ${`${low}..${high}`.padStart(10)} ${ratio.padStart(7)} ${cell(peak, 9)} ${cell(list.length, 7)}`,
    );
  }
}

function rate(list: readonly Measure[], bytes: number): { median: number; low: number; high: number } {
  const rates = list.map(({ milliseconds }) => bytes / 1e3 / milliseconds);
  const round = (value: number): number => Math.round(value);
  return { median: round(median(rates)), low: round(Math.min(...rates)), high: round(Math.max(...rates)) };
}

function cell(value: number, width: number): string {
  return String(value).padStart(width);
}
