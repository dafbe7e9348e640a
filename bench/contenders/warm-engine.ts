// The engine as in a node that has worked for a while: its threads are started and its code is compiled. One Run, file
// to file, which several threads share if its Template allows it.

import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { LocalEngine } from '../../src/commands/local-engine.ts';
import { PART_SIZES } from '../../src/pool/shared-run.ts';
import type { TemplateText } from '../../workers/template/template-text.ts';
import type { Job } from '../workloads/job.ts';
import type { Contender, ContenderJob } from './contender.ts';
import { tablesOf } from './template-run.ts';

/** Large files only are measured, so the service would share each of them between its threads. */
const SIZES = { ...PART_SIZES, fileBytesMin: 0 };

/** The engine never writes to disk for lack of memory, as the other contenders. */
const BUDGET_BYTES = 8 * 1024 ** 3;

/** Bytes at the beginning of the input on which the engine works before the measurement. */
const WARM_BYTES = 16 * 1024 * 1024;

/**
 * A second thread starts in a tenth of a second. Each thread compiles its own code, which takes many Runs: after half of
 * this time, the compiler still took a tenth of the processor time of a measured Run with two threads.
 */
const WARM_MILLISECONDS = 3000;

class WarmEngine implements Contender<Job> {
  #engine: LocalEngine | null = null;

  async prepare({ workload, input, output, threads }: ContenderJob<Job>): Promise<void> {
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
      memoryBudgetBytes: BUDGET_BYTES,
      template,
      tables: tablesOf(`${output}.tables`, workload),
      secretsDirectory: null,
      overrides: { delimiter: null, headerRow: null },
      ...(threads > 1 && { partSizes: SIZES }),
    });
    const beginning = `${output}.beginning.csv`;
    writeFileSync(beginning, beginningOf(input));
    for (const end = performance.now() + WARM_MILLISECONDS; performance.now() < end; ) {
      await this.#runOnce(engine, beginning, output);
    }
    rmSync(beginning);
    rmSync(output);
    this.#engine = engine;
  }

  async run({ input, output }: ContenderJob<Job>): Promise<null> {
    await this.#runOnce(this.#engine!, input, output);
    return null;
  }

  async #runOnce(engine: LocalEngine, input: string, output: string): Promise<void> {
    const { outcome, outputPath } = await engine.run(input);
    if (outcome.failure !== null) throw new Error(`${outcome.failure.code}: ${outcome.failure.message}`);
    const { bytes } = outcome.output!;
    if (bytes === null) renameSync(outputPath, output);
    else writeFileSync(output, bytes);
  }
}

export const warmEngine: Contender<Job> = new WarmEngine();

/** The first lines of a file. */
function beginningOf(path: string): Buffer {
  const bytes = Buffer.alloc(Math.min(WARM_BYTES, statSync(path).size));
  const descriptor = openSync(path, 'r');
  readSync(descriptor, bytes, 0, bytes.length, 0);
  closeSync(descriptor);
  return bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
}
