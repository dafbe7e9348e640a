// The interface of a contender in the engine benchmark: a job from file to file.
import type { Job } from '../workloads/job.ts';
import type { Workload } from '../workloads/workload.ts';

/** Engines with a query language accept any job. Others accept workloads, which contain their program. */
export interface ContenderJob<Work extends Job = Workload> {
  readonly workload: Work;
  readonly input: string;
  readonly output: string;
  readonly threads: number;
  /** Memory that the engine may use for state, in bytes, or null for no limit. Only template-run supports it. */
  readonly budgetBytes: number | null;
}

export interface Contender<Work extends Job = Workload> {
  /** Loads and starts what is needed; not measured. `run` may be called several times. */
  prepare(job: ContenderJob<Work>): Promise<void>;
  /** Returns the peak memory in bytes if another process did the work, otherwise null. */
  run(job: ContenderJob<Work>): Promise<number | null>;
}
