// The table of workloads, in the order in which they run.
import { FORMAT_WORKLOADS } from './formats.ts';
import { w1, w1Quoted, w1Wide } from './w1.ts';
import { w2 } from './w2.ts';
import { w3 } from './w3.ts';
import { w4 } from './w4.ts';
import { w5 } from './w5.ts';
import { w6 } from './w6.ts';
import { w7 } from './w7.ts';
import { w8 } from './w8.ts';
import type { Workload } from './workload.ts';

export const WORKLOADS: readonly Workload[] = [w1, w1Wide, w1Quoted, w2, w3, w4, w5, w6, w7, w8];

export function isWorkload(name: string): boolean {
  return [...WORKLOADS, ...FORMAT_WORKLOADS].some((candidate) => candidate.name === name);
}

/** Throws if there is no workload with this name. */
export function workloadNamed(name: string): Workload {
  const workload = [...WORKLOADS, ...FORMAT_WORKLOADS].find((candidate) => candidate.name === name);
  if (workload === undefined) throw new Error(`no workload ${name}: ${WORKLOADS.map(({ name }) => name).join(', ')}`);
  return workload;
}
