// What a workload is: a job of which programs without a language of their own take part too, and what no program can avoid.
import type { JavaScriptProgram } from './javascript-program.ts';
import type { Job } from './job.ts';

export interface Workload extends Job {
  /** Main flags (`-S`: all cells are text), then verbs joined by `then`. */
  readonly miller: { readonly flags: readonly string[]; readonly verbs: readonly string[] };
  readonly javascript: JavaScriptProgram;
  /** What no program can avoid, in turn: reading the input once, copying it once in memory, writing the output. */
  readonly limit: readonly PhysicalStep[];
}

export type PhysicalStep = 'scan' | 'memcpy' | 'write';
