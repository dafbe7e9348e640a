// What a contender of the engine's benchmark offers: each workload, from a file to a file.
import type { WorkloadName } from '../workloads.ts';

export interface Contender {
  /** Loads what has to be loaded; not measured. */
  prepare(): Promise<void>;
  run(workload: WorkloadName, input: string, output: string): Promise<void>;
}
