// The engine of this project in normal operation: one Run, file to file.

import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { inputFormats } from '../../workers/input/index.ts';
import { ReadAheadThread } from '../../workers/input/read-ahead/read-ahead-thread.ts';
import { FileSource } from '../../workers/input/source/file-source.ts';
import { compileKernels } from '../../workers/kernel/bindings/kernel.ts';
import {
  BUDGET_LIMIT,
  type BudgetShare,
  budgetSlots,
  RUN_RESERVATION_BYTES,
  threadShare,
  unitsOf,
  unlimitedShare,
} from '../../workers/memory/budget.ts';
import { NO_COLLECTOR } from '../../workers/memory/collector.ts';
import { KernelPool } from '../../workers/memory/kernel-pool.ts';
import { TemplateCache } from '../../workers/plan/template-cache.ts';
import type { TaskTable } from '../../workers/protocol/messages.ts';
import { runTemplate } from '../../workers/run/run.ts';
import { CoreShare, newCoreCounts } from '../../workers/scheduling/core-share.ts';
import { runCoroutine } from '../../workers/scheduling/coroutine.ts';
import { writeTables } from '../operations/tables.ts';
import type { Job } from '../workloads/job.ts';
import type { Contender, ContenderJob } from './contender.ts';

const START_LOOK_MILLISECONDS = 1;

/**
 * With two threads, one of them is the read-ahead thread of the other, and is started before the measurement: a node
 * that reads several large files already has it, while the command starts it with the file, 45 ms before it is ready.
 */
class TemplateRun implements Contender<Job> {
  #readAhead: ReadAheadThread | null = null;

  async prepare({ input, threads }: ContenderJob<Job>): Promise<void> {
    this.#readAhead = new ReadAheadThread(new CoreShare(newCoreCounts(threads - 1, 1), 0));
    if (threads > 1) this.#readAhead.prepare({ path: input, from: 0, to: statSync(input).size, ends: true });
    while (this.#readAhead.isStarting) await new Promise((resolve) => setTimeout(resolve, START_LOOK_MILLISECONDS));
  }

  async run({ workload, input, output, budgetBytes }: ContenderJob<Job>): Promise<null> {
    const source = JSON.stringify(workload.template);
    const text = { source, format: 'json' as const, sha256: createHash('sha256').update(source).digest('hex') };
    const budget = budgetBytes === null ? unlimitedShare() : limitedShare(budgetBytes);
    const file = new FileSource(input);
    file.grown(statSync(input).size, true);
    const outcome = await runCoroutine(
      runTemplate({
        formats: inputFormats,
        task: {
          task: 1,
          template: text,
          source: { kind: 'file', path: input },
          ending: 'csv',
          overrides: { delimiter: null, headerRow: null },
          limits: { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null },
          output: { path: output, memoryBytesMax: 0 },
          spillDirectory: `${output}.spill`,
          tables: tablesOf(`${output}.tables`, workload),
          secretsDirectory: null,
          startedAt: new Date().toISOString(),
          reservationBytes: RUN_RESERVATION_BYTES,
        },
        prepared: new TemplateCache().get(text),
        source: file,
        kernels: new KernelPool(compileKernels(), budget, NO_COLLECTOR),
        budget,
        largeRow: new Int32Array(new SharedArrayBuffer(4)),
        largeRowOwner: 1,
        readAhead: this.#readAhead!,
        cancelled: () => false,
        beat: () => {},
      }),
    );
    if (outcome.failure !== null) throw new Error(`${outcome.failure.code}: ${outcome.failure.message}`);
    return null;
  }
}

export const templateRun: Contender<Job> = new TemplateRun();

export function tablesOf(folder: string, { tables = [] }: Job): Record<string, TaskTable> {
  const paths = Object.entries(writeTables(folder, tables));
  return Object.fromEntries(
    paths.map(([name, path]) => [
      name,
      { path, sha256: createHash('sha256').update(readFileSync(path)).digest('hex') },
    ]),
  );
}

/** The share of a thread in a node with this memory budget, after the Run's reservation. */
function limitedShare(budgetBytes: number): BudgetShare {
  const counters = new Int32Array(new SharedArrayBuffer(budgetSlots(1) * Int32Array.BYTES_PER_ELEMENT));
  counters[BUDGET_LIMIT] = unitsOf(budgetBytes - RUN_RESERVATION_BYTES);
  return threadShare(counters, 0);
}
