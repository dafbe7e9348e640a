// The engine of this project as `template-run run` has it: file to file, in the process's own thread.
import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { LocalEngine } from '../../src/commands/local-engine.ts';
import type { Contender } from './contender.ts';

/** More than any state needs. */
const BUDGET_BYTES = 8 * 1024 ** 3;

export const templateRun: Contender = {
  async prepare() {},
  async run({ workload, input, output, threads, budgetBytes }) {
    // The engine's folder: where the output is made.
    process.env['TMPDIR'] = dirname(output);
    const source = JSON.stringify(workload.template);
    const engine = new LocalEngine({
      threads,
      inputs: 1,
      memoryBudgetBytes: budgetBytes ?? BUDGET_BYTES,
      template: { source, format: 'json', sha256: createHash('sha256').update(source).digest('hex') },
      tables: {},
      secretsDirectory: null,
      overrides: { delimiter: null, headerRow: null },
    });
    try {
      const { outcome, outputPath } = await engine.run(input);
      const { failure } = outcome;
      if (failure !== null) throw new Error(`${failure.code}: ${failure.message}`);
      const bytes = outcome.output?.bytes ?? null;
      if (bytes === null) renameSync(outputPath, output);
      else writeFileSync(output, bytes);
    } finally {
      await engine.close();
    }
    return null;
  },
};
