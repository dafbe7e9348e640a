// What a contender of the engine's benchmark offers: a workload, from a file to a file.
import type { Workload } from '../workloads/workload.ts';

export interface ContenderJob {
  readonly workload: Workload;
  readonly input: string;
  readonly output: string;
  readonly threads: number;
  /** Memory that the engine may use for state, in bytes; null = as it likes. Only template-run knows it. */
  readonly budgetBytes: number | null;
}

export interface Contender {
  /** Loads what has to be loaded; not measured. */
  prepare(job: ContenderJob): Promise<void>;
  /** Gives the peak memory in bytes where another process did the work, else null. */
  run(job: ContenderJob): Promise<number | null>;
}
