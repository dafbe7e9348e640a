// The engine of this project as in a service: its threads are started, and share the file if the Template allows it.

import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { LocalEngine } from '../../src/commands/local-engine.ts';
import { PART_SIZES } from '../../src/pool/shared-run.ts';
import { REJECTS_SUFFIX, type RunOutcomeOutput, type TaskTable } from '../../workers/protocol/messages.ts';
import type { TemplateText } from '../../workers/template/template-text.ts';
import { writeTables } from '../operations/tables.ts';
import type { Job } from '../workloads/job.ts';
import type { Contender, ContenderJob } from './contender.ts';

/** Large files only are measured, so the service would share each of them between its threads. */
const SIZES = { ...PART_SIZES, fileBytesMin: 0 };

/** Without a limit, the engine never writes to disk for lack of memory, as the other contenders. */
const NO_LIMIT_BYTES = 8 * 1024 ** 3;

class TemplateRun implements Contender<Job> {
  #engine: LocalEngine | null = null;

  async prepare({ workload, output, threads, budgetBytes }: ContenderJob<Job>): Promise<void> {
    // The output is renamed, so the engine's temporary folder is on the same medium.
    process.env.TMPDIR = dirname(output);
    const source = JSON.stringify(workload.template);
    const template: TemplateText = {
      source,
      format: 'json',
      sha256: createHash('sha256').update(source).digest('hex'),
    };
    this.#engine = new LocalEngine({
      threads,
      cores: Math.min(threads, availableParallelism()),
      inputs: 1,
      ownThread: false,
      memoryBudgetBytes: budgetBytes ?? NO_LIMIT_BYTES,
      template,
      tables: tablesOf(`${output}.tables`, workload),
      secretsDirectory: null,
      overrides: { delimiter: null, headerRow: null },
      ...(threads > 1 && { partSizes: SIZES }),
    });
  }

  async run({ input, output }: ContenderJob<Job>): Promise<null> {
    const { outcome, outputPath } = await this.#engine!.run(input);
    if (outcome.failure !== null) throw new Error(`${outcome.failure.code}: ${outcome.failure.message}`);
    keep(outcome.output!, outputPath, output);
    if (outcome.rejects !== null) keep(outcome.rejects, outputPath + REJECTS_SUFFIX, output + REJECTS_SUFFIX);
    return null;
  }
}

export const templateRun: Contender<Job> = new TemplateRun();

/** Small outputs are in memory, and not in their file. */
function keep({ bytes }: RunOutcomeOutput, from: string, to: string): void {
  if (bytes === null) renameSync(from, to);
  else writeFileSync(to, bytes);
}

function tablesOf(folder: string, { tables = [] }: Job): Record<string, TaskTable> {
  const paths = Object.entries(writeTables(folder, tables));
  return Object.fromEntries(
    paths.map(([name, path]) => [
      name,
      { path, sha256: createHash('sha256').update(readFileSync(path)).digest('hex') },
    ]),
  );
}
