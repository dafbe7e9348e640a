// `template draft`: a Template that is proposed from a whole sample, with the evidence for each line.
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Failed } from '../../workers/protocol/failure.ts';
import { MEMORY_BUDGET_BYTES_MIN } from '../admission/memory-budget.ts';
import { defaultMemoryBudgetBytes } from '../admission/process-memory.ts';
import { draftTemplate } from '../drafts/draft-template.ts';
import { readTarget, TargetRefusedError } from '../drafts/like/read-target.ts';
import { SampleRefusedError } from '../drafts/sample-profile.ts';
import { type RunSample, templateText } from '../drafts/sample-run.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { parseFlags } from './flags.ts';
import { LocalEngine } from './local-engine.ts';
import { DRAFT_FLAGS } from './template-draft-flags.ts';

export async function draftFile(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals, values } = parseFlags(args, DRAFT_FLAGS);
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new UsageError('Write one sample file.');
  const like = values.get('like') ?? null;
  for (const file of like === null ? [path] : [path, like]) {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw new UsageError(`${file} is no file.`);
  }
  try {
    io.stdout.write(await draftOf(path, like));
    return EXIT_OK;
  } catch (error) {
    if (!isSampleRefused(error)) throw error;
    const what = error instanceof TargetRefusedError ? '' : 'The file cannot be read: ';
    io.stderr.write(`${what}${error.message}\n`);
    return EXIT_FAILED;
  }
}

/** With an engine of its own, in this thread. */
export async function draftOf(path: string, like: string | null = null): Promise<string> {
  const engine = new LocalEngine({
    threads: 1,
    cores: availableParallelism(),
    inputs: 2,
    memoryBudgetBytes: Math.max(MEMORY_BUDGET_BYTES_MIN, defaultMemoryBudgetBytes()),
    template: templateText('operations: []', 'yaml'),
    tables: {},
    secretsDirectory: null,
    overrides: { delimiter: null, headerRow: null },
  });
  try {
    const targets = like === null ? null : await readTarget(like, runsOf(engine, like));
    return await draftTemplate(path, runsOf(engine, path), targets);
  } finally {
    await engine.close();
  }
}

/** Each Run leaves an output as large as the sample: the one before was read, and goes first. */
export function runsOf(engine: LocalEngine, file: string): RunSample {
  return (template) => {
    engine.discard(file);
    return engine.run(file, template);
  };
}

/** The sample's or the target's fault: what cannot be read makes no draft. */
export function isSampleRefused(error: unknown): error is Error {
  return [SampleRefusedError, TargetRefusedError, Failed].some((kind) => error instanceof kind);
}
