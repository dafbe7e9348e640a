// Measurements of a service under load, from the system and /metrics: resident memory, gauges, files below its data folder.
import { readFileSync, writeFileSync } from 'node:fs';
import type { Service } from '../blackbox/service.ts';
import { filesBelow } from '../fixtures/changing-folder.ts';

export const MIB = 1024 * 1024;

/** Maximum memory of a process with two threads beyond its memory budget, as docs/explanation/memory.md states it. */
export const BASE_BYTES = 200 * MIB;

export interface Resident {
  readonly nowBytes: number;
  /** Maximum since the start or since the last `forgetPeak`. */
  readonly peakBytes: number;
}

export function resident({ pid }: Service): Resident {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  return { nowBytes: field('VmRSS'), peakBytes: field('VmHWM') };
}

/** Linux counts processor time in hundredths of a second (USER_HZ). */
const TICK_MILLISECONDS = 10;

/** Processor time of all threads of the service so far. On a busy machine, too, it is close to the time on an idle one. */
export function processorMilliseconds({ pid }: Service): number {
  // After the name in parentheses come fields 14 and 15 of proc(5): utime and stime.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MILLISECONDS;
}

/** Resets the peak. */
export function forgetPeak({ pid }: Service): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** All samples of /metrics, by name with labels. */
export async function gauges({ url }: Service): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

/** Bytes of the budget that are held for this kind of charge. */
export function heldBytes(samples: ReadonlyMap<string, number>, charge: string): number {
  return samples.get(`template_run_budget_held_bytes{charge="${charge}"}`) ?? Number.NaN;
}

/** Files below the data folder, except those of the ledger. */
export function strayFiles({ dataFolder }: Service): string[] {
  return filesBelow(dataFolder).filter((path) => !path.startsWith('ledger'));
}

/** MiB with one decimal digit, for comments of tests. */
export function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
