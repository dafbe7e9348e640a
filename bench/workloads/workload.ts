// A workload: a job that programs without a query language also perform, and the minimum steps of any program.
import type { JavaScriptProgram } from './javascript-program.ts';
import type { Job } from './job.ts';

export interface Workload extends Job {
  /** Main flags (`-S`: all cells are text), then verbs joined by `then`. */
  readonly miller: { readonly flags: readonly string[]; readonly verbs: readonly string[] };
  readonly javascript: JavaScriptProgram;
  /**
   * Minimum steps of any program, in sequence: reading the input once, copying it once in memory, writing the output.
   */
  readonly limit: readonly PhysicalStep[];
}

export type PhysicalStep = 'scan' | 'memcpy' | 'write';
