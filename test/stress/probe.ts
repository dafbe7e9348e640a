// What the system and /metrics say of a service under load: resident memory, gauges, files under its data folder.
import { readFileSync, writeFileSync } from 'node:fs';
import type { Service } from '../blackbox/service.ts';
import { filesBelow } from '../fixtures/changing-folder.ts';

export const MIB = 1024 * 1024;

/** What a process of two threads may use beyond its memory budget, as docs/explanation/memory.md states it. */
export const BASE_BYTES = 200 * MIB;

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

/** Linux counts processor time in hundredths of a second (USER_HZ). */
const TICK_MILLISECONDS = 10;

/** What all threads of the service have worked so far: on a busy machine, too, what it would take on a quiet one. */
export function processorMilliseconds({ pid }: Service): number {
  // Behind the name in parentheses: fields 14 and 15 of proc(5), utime and stime.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MILLISECONDS;
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
  return filesBelow(dataFolder).filter((path) => !path.startsWith('ledger'));
}

/** In MiB with one digit, for comments. */
export function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
