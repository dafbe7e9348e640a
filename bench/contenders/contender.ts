// What a contender of the engine's benchmark offers: a job, from a file to a file.
import type { Job } from '../workloads/job.ts';
import type { Workload } from '../workloads/workload.ts';

/** Of an engine with a language of its own any job, of others a workload, which tells them how. */
export interface ContenderJob<Work extends Job = Workload> {
  readonly workload: Work;
  readonly input: string;
  readonly output: string;
  readonly threads: number;
  /** Memory that the engine may use for state, in bytes; null = as it likes. Only template-run knows it. */
  readonly budgetBytes: number | null;
}

export interface Contender<Work extends Job = Workload> {
  /** Loads what has to be loaded; not measured. */
  prepare(job: ContenderJob<Work>): Promise<void>;
  /** Gives the peak memory in bytes where another process did the work, else null. */
  run(job: ContenderJob<Work>): Promise<number | null>;
}
