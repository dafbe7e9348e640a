// `template-run run`: applies a Template file to local files with the engine's own threads, without a server.
import { availableParallelism } from 'node:os';
import type { TemplateText } from '../../workers/template/template-text.ts';
import { MEMORY_BUDGET_BYTES_MAX, MEMORY_BUDGET_BYTES_MIN } from '../admission/memory-budget.ts';
import { defaultMemoryBudgetBytes } from '../admission/process-memory.ts';
import { parseBytes } from '../setting-reader.ts';
import { type Command, type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { delimiter } from './delimiter.ts';
import { endingNotes } from './ending-notes.ts';
import { failingRowLines } from './failing-row.ts';
import { flagsHelp, parseFlags } from './flags.ts';
import { LocalEngine } from './local-engine.ts';
import { readLocalTables, readLocalTemplate } from './local-template.ts';
import { type OutputTarget, outputTargets } from './output-targets.ts';
import { Progress } from './progress.ts';
import { progressLine } from './progress-line.ts';
import { refuseOverwriting } from './refuse-overwriting.ts';
import { refuseSamePath, rejectTargets } from './reject-targets.ts';
import { type LocalResult, summaryOf } from './run-summary.ts';

const FLAGS = {
  output: {
    kind: 'value',
    short: 'o',
    placeholder: 'PATH',
    purpose:
      'file, or folder when it is one, ends in / or there are several inputs; "-" is standard output (standard output)',
  },
  rejects: {
    kind: 'value',
    placeholder: 'PATH',
    purpose: 'file or folder, as -o, for rows that the Template rejects with on_error: reject (they are only counted)',
  },
  tables: { kind: 'value', placeholder: 'DIR', purpose: 'reference tables, NAME.csv (none)' },
  secrets: { kind: 'value', placeholder: 'DIR', purpose: 'keys for hash, each a file of its name (none)' },
  delimiter: { kind: 'value', placeholder: 'C', purpose: 'field delimiter (as the Template says, else detected)' },
  'header-row': {
    kind: 'value',
    placeholder: 'N',
    purpose: '0-based record of the header (as the Template says, else detected)',
  },
  workers: {
    kind: 'value',
    placeholder: 'N',
    purpose:
      'threads (one for each file, at most the number of cores, and where a core is left a second that reads ahead in ' +
      'a large CSV); a single file of more than 256 MiB is shared by so many where each operation looks at one row alone',
  },
  'memory-budget': {
    kind: 'value',
    placeholder: 'SIZE',
    purpose: 'such as 256MiB (60 % of what the process may use)',
  },
  'show-cell': {
    kind: 'switch',
    purpose: 'where a row ends the run, its cells as they came to that operation, on standard error (off)',
  },
  progress: {
    kind: 'switch',
    purpose:
      'how far it is, also where standard error is no terminal: lines that stay (on a terminal one, written over)',
  },
  json: { kind: 'switch', purpose: 'the summary as one JSON line for each input (off)' },
} as const;

export const command: Command = {
  name: 'run',
  usage: `template-run run TEMPLATE INPUT... [-o FILE or DIR]

Applies the Template file (JSON or YAML) to each input (CSV, XLSX, JSON or Parquet, also in gzip or ZIP; "-" is standard input). The
output goes to standard output, or with -o to a file, or into a folder (one file for each input). Progress and summary are on
standard error, failures as CODE: message.

${flagsHelp(FLAGS)}

Exit status: 0 all succeeded, 1 a file failed, 2 usage.`,
  run: runFiles,
};

async function runFiles(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, switches, positionals } = parseFlags(args, FLAGS);
  const [templatePath, ...inputs] = positionals;
  if (templatePath === undefined || inputs.length === 0)
    throw new UsageError('Write a Template file and an input file.');
  refuseSwapped(templatePath, inputs[0]!);
  const outputs = outputTargets(inputs, values.get('output') ?? null, io.stdout);
  const rejects = rejectTargets(inputs, values.get('rejects'), io.stdout);
  const read = readLocalTemplate(templatePath, io.stderr);
  if (read === null) {
    if (isYaml(inputs[0]!) && !isYaml(templatePath)) io.stderr.write(`${swapped(templatePath, inputs[0]!)}\n`);
    return EXIT_FAILED;
  }
  const { template, ending, otherEndings } = read;
  const folders = [values.get('tables'), values.get('secrets')].filter((folder) => folder !== undefined);
  const targets = outputs.map(({ path }) => path(ending));
  const rejectPaths = rejects.map(({ path }) => path(ending));
  refuseSamePath(targets, rejectPaths);
  refuseOverwriting([...targets, ...rejectPaths], { files: [templatePath, ...inputs], folders });
  // The summaries alone are JSON lines.
  if (!switches.has('json'))
    for (const note of endingNotes(targets, ending, otherEndings)) io.stderr.write(`${note}\n`);
  const workers = count(values, 'workers');
  const engine = new LocalEngine({
    threads: threadsFor(inputs.length, workers),
    cores: workers ?? availableParallelism(),
    inputs: inputs.length,
    memoryBudgetBytes: memoryBudget(values.get('memory-budget')),
    template,
    tables: readLocalTables(values.get('tables') ?? null),
    secretsDirectory: values.get('secrets') ?? null,
    overrides: { delimiter: delimiter(values.get('delimiter')), headerRow: count(values, 'header-row') },
  });
  let isInterrupted = false;
  const interrupt = (): void => {
    isInterrupted = true;
    void engine.close().then(() => process.exit(INTERRUPTED_STATUS));
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  let done = 0;
  const files = { all: outputs.length, done: () => done };
  const progress = new Progress(io.stderr, (seconds) => progressLine(files, engine, seconds), switches.has('progress'));
  const showCell = switches.has('show-cell') ? template : null;
  const runOne = async (output: OutputTarget, index: number): Promise<boolean> => {
    const kept = [output, ...rejects.slice(index, index + 1)];
    const succeeded = await runFile(engine, kept, { json: switches.has('json'), showCell }, { io, progress });
    done++;
    return succeeded;
  };
  try {
    const results = await Promise.all(outputs.map(runOne));
    return results.every(Boolean) ? EXIT_OK : EXIT_FAILED;
  } catch (error) {
    // Runs that lose their threads then are no fault.
    if (!isInterrupted) throw error;
    return INTERRUPTED_STATUS;
  } finally {
    progress.end();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await engine.close();
  }
}

/** 128 and the number of SIGINT, as shells have it. */
const INTERRUPTED_STATUS = 130;

interface Terminal {
  readonly io: CommandIo;
  readonly progress: Progress;
}

interface Telling {
  readonly json: boolean;
  /** The Template, where the row that ended the Run is to be shown. */
  readonly showCell: TemplateText | null;
}

async function runFile(
  engine: LocalEngine,
  targets: readonly OutputTarget[],
  { json, showCell }: Telling,
  { io, progress }: Terminal,
): Promise<boolean> {
  const { input } = targets[0]!;
  let result: LocalResult;
  try {
    result = await engine.run(input);
    progress.clear();
    if (result.outcome.failure === null) for (const target of targets) await target.keep(result);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    progress.clear();
    io.stderr.write(`template-run run: ${(error as Error).message}\n`);
    return false;
  } finally {
    engine.discard(input);
  }
  const { failure } = result.outcome;
  progress.clear();
  if (failure !== null) io.stderr.write(`${failure.code}: ${failure.message}\n`);
  if (failure?.place !== undefined && showCell !== null) {
    const lines = await failingRowLines(engine, input, showCell, failure.place);
    io.stderr.write(`${lines.join('\n')}\n`);
  }
  io.stderr.write(`${summaryOf(result, { json, keepsRejects: targets.length > 1 })}\n`);
  return failure === null;
}

/** A Template may have any name; one that is called so stands first. What ends in .json may be either. */
function refuseSwapped(templatePath: string, input: string): void {
  if (isYaml(templatePath) || /\.json$/i.test(templatePath) || !isYaml(input)) return;
  throw new UsageError(swapped(templatePath, input));
}

function swapped(templatePath: string, input: string): string {
  return `The Template stands first: write run ${input} ${templatePath}.`;
}

function isYaml(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

/** One for each file. A single one is shared by several only on demand: each takes 30 MB. */
function threadsFor(inputs: number, workers: number | null): number {
  return inputs === 1 ? (workers ?? 1) : Math.min(inputs, workers ?? availableParallelism());
}

function count(values: ReadonlyMap<string, string>, flag: string): number | null {
  const text = values.get(flag);
  if (text === undefined) return null;
  if (!/^\d{1,10}$/.test(text)) throw new UsageError(`--${flag} takes a whole number.`);
  if (flag === 'workers' && Number(text) === 0) throw new UsageError('--workers takes a number of at least 1.');
  return Number(text);
}

function memoryBudget(text: string | undefined): number {
  if (text === undefined) return Math.max(MEMORY_BUDGET_BYTES_MIN, defaultMemoryBudgetBytes());
  const bytes = parseBytes(text);
  if (bytes === null || bytes < MEMORY_BUDGET_BYTES_MIN || bytes > MEMORY_BUDGET_BYTES_MAX) {
    throw new UsageError(`--memory-budget takes a size of at least ${MEMORY_BUDGET_BYTES_MIN} bytes, such as 256MiB.`);
  }
  return bytes;
}
