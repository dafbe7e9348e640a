// The contenders of the engine benchmark, with their numbers of threads and requirements.
import { spawnSync } from 'node:child_process';
import type { System } from '../workloads/job.ts';
import { peer } from './peers.ts';

export interface Entrant {
  /** Name in tables. */
  readonly name: string;
  readonly system: System;
  readonly threads: number;
  /** Required libraries from bench/peers. */
  readonly libraries: readonly string[];
  /** Required system program. */
  readonly program: string | null;
  /** True for programs that take seconds for each 100 MB: they read a smaller file, and their rate is compared. */
  readonly isSlow: boolean;
}

/** The first entrant is compared with the others. */
const LINEUP: readonly Entrant[] = [
  entrant('template-run, 2 threads', 'template-run', 2, []),
  entrant('template-run, 1 thread', 'template-run', 1, []),
  entrant('Polars, 2 threads', 'polars', 2, ['nodejs-polars']),
  entrant('Polars, 1 thread', 'polars', 1, ['nodejs-polars']),
  entrant('DuckDB, 2 threads', 'duckdb', 2, ['@duckdb/node-api']),
  entrant('DuckDB, 1 thread', 'duckdb', 1, ['@duckdb/node-api']),
  { ...slow('Miller', 'miller', 0, []), program: 'mlr' },
  slow('uDSV', 'udsv', 1, ['udsv']),
  slow('papaparse', 'papaparse', 1, ['papaparse']),
  slow('csv-parse', 'csv-parse', 1, ['csv-parse', 'csv-stringify']),
];

function entrant(name: string, system: System, threads: number, libraries: readonly string[]): Entrant {
  return { name, system, threads, libraries, program: null, isSlow: false };
}

function slow(name: string, system: System, threads: number, libraries: readonly string[]): Entrant {
  return { ...entrant(name, system, threads, libraries), isSlow: true };
}

/** Returns the entrants that can run here. `missing` is called for each of the others. */
export function entrants(missing: (entrant: Entrant, why: string) => void): readonly Entrant[] {
  return LINEUP.filter((candidate) => {
    const why = absence(candidate);
    if (why !== null) missing(candidate, why);
    return why === null;
  });
}

function absence({ libraries, program }: Entrant): string | null {
  const library = libraries.find((name) => peer(name) === null);
  if (library !== undefined) return `${library} is not installed (npm run bench:setup)`;
  if (program !== null && spawnSync(program, ['--version']).error !== undefined) return `${program} is not installed`;
  return null;
}
