// What the figures of a run were measured on.
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { mediumOf } from './physical-limits.ts';

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly medium: string;
  readonly node: string;
  /** Null outside a repository. */
  readonly commit: string | null;
  readonly date: string;
  /** Of the last minute, when the run began: above half a core the figures are of a busy machine. */
  readonly load: number;
}

export function describeMachine(folder: string): Machine {
  return {
    processor: cpus()[0]?.model ?? process.arch,
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    medium: mediumOf(folder),
    node: process.version,
    commit: commit(),
    date: new Date().toISOString().slice(0, 10),
    load: loadavg()[0]!,
  };
}

/** As a list of names and values. */
export function machineLines(machine: Machine): readonly (readonly [name: string, value: string])[] {
  return [
    ['Machine', `${machine.processor}, ${machine.cores} cores, ${(machine.memoryBytes / 1024 ** 3).toFixed(0)} GiB`],
    ['Medium of inputs and outputs', machine.medium],
    ['Node', machine.node],
    ['Commit', machine.commit ?? 'none'],
    ['Date', machine.date],
    ['Load at the start', machine.load.toFixed(2)],
  ];
}

/** Written by `--write`, as git names what is left out. */
const WRITTEN = ['RESULTS.md', 'charts', 'figures'].map((name) => `:(top,exclude)bench/${name}`);

function commit(): string | null {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    // What the benchmark itself writes is no change of what it measures.
    const changed = git('status', '--porcelain', '--untracked-files=no', '--', ':/', ...WRITTEN) !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`;
  } catch {
    // No git, or a copy without its history: the figures then name no commit.
    return null;
  }
}
