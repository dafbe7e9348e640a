// What every part of the service's benchmark is given.
import type { Progress } from '../progress.ts';

export interface ServiceSettings {
  /** For files, catalogs and data folders; memory where the disk's speed should not count. */
  readonly folder: string;
  /** Of a large upload. */
  readonly bytes: number;
  readonly rounds: number;
  /** Of each load of small requests. */
  readonly loadSeconds: number;
  /** Runs that the service keeps before small ones are measured. */
  readonly keptRuns: number;
  readonly progress: Progress;
}
