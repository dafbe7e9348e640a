// Settings of all parts of the service benchmark.
import type { Progress } from '../progress.ts';

export interface ServiceSettings {
  /** Folder for files, catalogs and data; in memory if the speed of the disk should not count. */
  readonly folder: string;
  /** Size of a large upload. */
  readonly bytes: number;
  readonly rounds: number;
  /** Duration of each load of small requests. */
  readonly loadSeconds: number;
  /** Number of Runs stored by the service before small Runs are measured. */
  readonly keptRuns: number;
  readonly progress: Progress;
}
