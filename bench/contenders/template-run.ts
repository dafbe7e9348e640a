// The engine of this project on its normal path: one Run, file to file.
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import {
  BUDGET_LIMIT,
  type BudgetShare,
  budgetSlots,
  RUN_RESERVATION_BYTES,
  threadShare,
  unitsOf,
  unlimitedShare,
} from '../../workers/budget.ts';
import { NO_COLLECTOR } from '../../workers/collector.ts';
import { CoreShare, newCoreCounts } from '../../workers/core-share.ts';
import { FileSource } from '../../workers/input/file-source.ts';
import { Scout } from '../../workers/input/scout/scout.ts';
import { compileKernels } from '../../workers/kernel/kernel.ts';
import { KernelPool } from '../../workers/kernel/kernel-pool.ts';
import { runTemplate } from '../../workers/run.ts';
import { TemplateCache } from '../../workers/template/template-cache.ts';
import { settle } from '../../workers/waits.ts';
import type { Contender, ContenderJob } from './contender.ts';

const START_LOOK_MILLISECONDS = 1;

/**
 * With two threads one of them is the scout of the other, started before: a node that reads one large file after the other
 * has it, while the command starts it with the file, 45 ms before it is there.
 */
class TemplateRun implements Contender {
  #scout: Scout | null = null;

  async prepare({ input, threads }: ContenderJob): Promise<void> {
    this.#scout = new Scout(new CoreShare(newCoreCounts(threads - 1, 1), 0));
    if (threads > 1) this.#scout.prepare({ path: input, from: 0, to: statSync(input).size, ends: true });
    while (this.#scout.isStarting) await new Promise((resolve) => setTimeout(resolve, START_LOOK_MILLISECONDS));
  }

  async run({ workload, input, output, budgetBytes }: ContenderJob): Promise<null> {
    const source = JSON.stringify(workload.template);
    const text = { source, format: 'json' as const, sha256: createHash('sha256').update(source).digest('hex') };
    const budget = budgetBytes === null ? unlimitedShare() : limitedShare(budgetBytes);
    const file = new FileSource(input);
    file.grown(statSync(input).size, true);
    const outcome = await settle(
      runTemplate({
        task: {
          task: 1,
          template: text,
          source: { kind: 'file', path: input },
          ending: 'csv',
          overrides: { delimiter: null, headerRow: null },
          limits: { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null },
          output: { path: output, memoryBytesMax: 0 },
          spillDirectory: `${output}.spill`,
          tables: {},
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
        scout: this.#scout!,
        cancelled: () => false,
        beat: () => {},
      }),
    );
    if (outcome.failure !== null) throw new Error(`${outcome.failure.code}: ${outcome.failure.message}`);
    return null;
  }
}

export const templateRun: Contender = new TemplateRun();

/** As one thread of a node with this memory budget has it, the Run's reservation taken. */
function limitedShare(budgetBytes: number): BudgetShare {
  const counters = new Int32Array(new SharedArrayBuffer(budgetSlots(1) * Int32Array.BYTES_PER_ELEMENT));
  counters[BUDGET_LIMIT] = unitsOf(budgetBytes - RUN_RESERVATION_BYTES);
  return threadShare(counters, 0);
}
