// Where `run` puts the rows that a Template rejects (`on_error: reject`): a file, or one for each input in a folder.
import { REJECTS_SUFFIX } from '../../workers/protocol/messages.ts';
import { UsageError } from './command.ts';
import { type OutputTarget, outputTargets } from './output-targets.ts';

/** @param target of --rejects; none where it was not given */
export function rejectTargets(
  inputs: readonly string[],
  target: string | undefined,
  stdout: NodeJS.WritableStream,
): readonly OutputTarget[] {
  if (target === undefined) return [];
  if (target === '-') throw new UsageError('--rejects takes the path of a file or folder.');
  return outputTargets(inputs, target, stdout).map((one) => ({
    input: one.input,
    // Whatever the format of the output is, rejected rows are CSV.
    path: () => one.path('csv'),
    async keep(result) {
      const { outcome, outputPath } = result;
      if (outcome.rejects === null) return;
      await one.keep({
        ...result,
        outcome: { ...outcome, output: outcome.rejects },
        outputPath: outputPath + REJECTS_SUFFIX,
      });
    },
  }));
}

/** @throws UsageError where two would be written to one path */
export function refuseSamePath(outputs: readonly (string | null)[], rejects: readonly (string | null)[]): void {
  const same = rejects.find((path) => path !== null && outputs.includes(path));
  if (same !== undefined) throw new UsageError(`Output and rejected rows would both be written to ${same}.`);
}
