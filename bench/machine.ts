// Describes the machine on which a run was measured.
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { peerVersions } from './contenders/peers.ts';
import { mediumOf } from './physical-limits.ts';

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly medium: string;
  readonly node: string;
  /** Names and versions of the installed contenders. Missing in older measurements. */
  readonly peers?: readonly string[];
  /** null outside a repository. */
  readonly commit: string | null;
  readonly date: string;
  /** Load average of the last minute before the run. Above half a core, the machine was busy. */
  readonly load: number;
}

export function describeMachine(folder: string): Machine {
  return {
    processor: cpus()[0]?.model ?? process.arch,
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    medium: mediumOf(folder),
    node: process.version,
    peers: peerVersions(),
    commit: commit(),
    date: new Date().toISOString().slice(0, 10),
    load: loadavg()[0]!,
  };
}

/** Lists the properties as names and values. */
export function machineLines(machine: Machine): readonly (readonly [name: string, value: string])[] {
  const { peers = [] } = machine;
  return [
    ['Machine', `${machine.processor}, ${machine.cores} cores, ${(machine.memoryBytes / 1024 ** 3).toFixed(0)} GiB`],
    ['Medium of inputs and outputs', machine.medium],
    ['Node', machine.node],
    ...(peers.length === 0 ? [] : [['Compared with', peers.join(', ')] as const]),
    ['Commit', machine.commit ?? 'none'],
    ['Date', machine.date],
    ['Load at the start', machine.load.toFixed(2)],
  ];
}

/** Files written by `--write`, in the form in which git excludes them. */
const WRITTEN = ['RESULTS.md', 'charts', 'figures'].map((name) => `:(top,exclude)bench/${name}`);

function commit(): string | null {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    // Files written by the benchmark itself do not count as changes.
    const changed = git('status', '--porcelain', '--untracked-files=no', '--', ':/', ...WRITTEN) !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`;
  } catch {
    // No git, or a copy without history: the results then name no commit.
    return null;
  }
}
