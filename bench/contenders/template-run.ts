// The engine of this project as in a service: its threads are started, and share the file if the Template allows it.

import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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

/**
 * Duration of a warm-up. A second thread starts in a tenth of a second. Each thread compiles its own code, which takes
 * many Runs: after half of this time, the compiler still took a tenth of the processor time of a measured Run with two
 * threads.
 */
export const WARM_MILLISECONDS = 3000;

/** Size of the file for a warm-up. */
export const WARM_BYTES = 16 * 1024 * 1024;

class TemplateRun implements Contender<Job> {
  #engine: LocalEngine | null = null;

  async prepare({ workload, output, threads, budgetBytes, warmUp }: ContenderJob<Job>): Promise<void> {
    // The output is renamed, so the engine's temporary folder is on the same medium.
    process.env.TMPDIR = dirname(output);
    const source = JSON.stringify(workload.template);
    const template: TemplateText = {
      source,
      format: 'json',
      sha256: createHash('sha256').update(source).digest('hex'),
    };
    const engine = new LocalEngine({
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
    this.#engine = engine;
    if (warmUp === undefined) return;
    for (const end = performance.now() + warmUp.milliseconds; performance.now() < end; ) {
      await this.#runOnce(engine, warmUp.input, output);
    }
    removeOutput(output);
  }

  async run({ input, output }: ContenderJob<Job>): Promise<null> {
    await this.#runOnce(this.#engine!, input, output);
    return null;
  }

  async #runOnce(engine: LocalEngine, input: string, output: string): Promise<void> {
    const { outcome, outputPath } = await engine.run(input);
    if (outcome.failure !== null) throw new Error(`${outcome.failure.code}: ${outcome.failure.message}`);
    keep(outcome.output!, outputPath, output);
    if (outcome.rejects !== null) keep(outcome.rejects, outputPath + REJECTS_SUFFIX, output + REJECTS_SUFFIX);
  }
}

export const templateRun: Contender<Job> = new TemplateRun();

/** Small outputs are in memory, and not in their file. */
function keep({ bytes }: RunOutcomeOutput, from: string, to: string): void {
  if (bytes === null) renameSync(from, to);
  else writeFileSync(to, bytes);
}

function removeOutput(output: string): void {
  for (const path of [output, output + REJECTS_SUFFIX]) rmSync(path, { force: true });
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
