// What the system and /metrics say of a service under load: resident memory, gauges, files under its data folder.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '../blackbox/service.ts';

export const MIB = 1024 * 1024;

/** What a process of two threads may use beyond its memory budget, as the README states it. */
export const BASE_BYTES = 200 * MIB;

/** Why a slow test is skipped, or false. */
export const SLOW = process.env['TEMPLATE_RUN_SLOW_TESTS'] === '1' ? false : 'set TEMPLATE_RUN_SLOW_TESTS=1';

export interface Resident {
  readonly nowBytes: number;
  /** The most since the start or since `forgetPeak`. */
  readonly peakBytes: number;
}

export function resident({ pid }: Service): Resident {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  return { nowBytes: field('VmRSS'), peakBytes: field('VmHWM') };
}

/** The peak begins anew. */
export function forgetPeak({ pid }: Service): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Every sample of /metrics by its name with labels. */
export async function gauges({ url }: Service): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

/** Budget bytes by what holds them. */
export function heldBytes(samples: ReadonlyMap<string, number>, charge: string): number {
  return samples.get(`template_run_budget_held_bytes{charge="${charge}"}`) ?? Number.NaN;
}

/** Files below the data folder, but for the ledger's. */
export function strayFiles({ dataFolder }: Service): string[] {
  return readdirSync(dataFolder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('ledger') && statSync(join(dataFolder, path)).isFile())
    .sort();
}

/** In MiB with one digit, for comments. */
export function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
