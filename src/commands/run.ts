// `template-run run`: applies a Template file to local files with an engine in this process, without a server.

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { outputFormats } from '../../workers/output/index.ts';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import type { Failure, RowPlace } from '../../workers/protocol/failure.ts';
import type { TaskOverrides } from '../../workers/protocol/messages.ts';
import type { TemplateOperation } from '../../workers/template/template.ts';
import { parseTemplate, type TemplateText } from '../../workers/template/template-text.ts';
import { suggestion } from '../../workers/values/suggestion.ts';
import {
  defaultMemoryBudgetBytes,
  MEMORY_BUDGET_BYTES_MAX,
  MEMORY_BUDGET_BYTES_MIN,
} from '../admission/memory-budget.ts';
import { parseBytes } from '../setting-reader.ts';
import {
  type Command,
  type CommandIo,
  delimiter,
  EXIT_FAILED,
  EXIT_INTERRUPTED,
  EXIT_OK,
  type Flags,
  flagsHelp,
  onInterrupt,
  parseFlags,
  QUIET_FLAG,
  UsageError,
} from './command.ts';
import { LocalEngine, type NamedInput, nameOf } from './local-engine.ts';
import { refuseSecondStandardInput, systemErrorText, TemporaryFolder } from './local-input.ts';
import { operationsTemplate, TABLE_DELIMITER, TEXT_TABLES, TO_FORMATS, withFormat } from './operations-template.ts';
import {
  ARCHIVE_ENDING,
  areCombined,
  keepOutput,
  type OutputTarget,
  outputTargets,
  type ReadFiles,
  refuseOverwriting,
  refuseSamePath,
  rejectTargets,
} from './output-targets.ts';
import { type LocalResult, summaryOf } from './run-summary.ts';
import { detectedReading } from './sample-head.ts';
import {
  type LocalTemplate,
  localSecrets,
  localTableNames,
  readLocalTables,
  readLocalTemplate,
} from './template-file.ts';
import { alignedLines, markdownLines, Progress, painted } from './terminal.ts';

// The arguments of `run`: which of them is the Template, which are the inputs, and which format the output has.

export interface RunArguments {
  /** Path of the Template; null: the operations are on the command line, or the files are converted only. */
  readonly templatePath: string | null;
  readonly inputs: readonly string[];
  /** One of TEXT_TABLES: the CSV output is converted to this format. null: it is not converted. */
  readonly textTable: string | null;
  /** The Template if it is valid; otherwise null, after its problems have been written to `stderr`. */
  read(stderr: NodeJS.WritableStream): LocalTemplate | null;
}

/** @throws UsageError if a file is missing, or if an operation or the format is not valid */
function runArguments({ values, lists, positionals }: Flags): RunArguments {
  const expressions = lists.get('expression') ?? [];
  const to = formatOf(values.get('to'));
  const isConversion = to !== null && isConverted(positionals);
  const textTable = TEXT_TABLES.find((format) => format === to) ?? null;
  if (expressions.length > 0 || isConversion) {
    if (positionals.length === 0) throw new UsageError('Write an input file; "-" is standard input.');
    const template = positionals.find(isYaml);
    if (template !== undefined) {
      throw new UsageError(`With -e all files are inputs: leave ${template} out, or write the operations into it.`);
    }
    const format = to ?? formatOfEnding(values.get('output')) ?? 'csv';
    const read = operationsTemplate(expressions, format, {
      tables: values.has('tables') ? localTableNames(values.get('tables')!) : [],
      hasHeader: values.get('header-row') !== 'none',
    });
    return { templatePath: null, inputs: positionals, textTable, read: () => read };
  }
  const [templatePath, ...inputs] = positionals;
  if (templatePath === undefined || inputs.length === 0) {
    throw new UsageError('Write a Template file and an input file, or operations with -e and an input file.');
  }
  refuseSwapped(templatePath, inputs[0]!);
  return {
    templatePath,
    inputs,
    textTable,
    read(stderr) {
      const read = readLocalTemplate(templatePath, stderr);
      if (read !== null) return to === null ? read : withFormat(read.template, to);
      if (isYaml(inputs[0]!) && !isYaml(templatePath)) stderr.write(`${swapped(templatePath, inputs[0]!)}\n`);
      return null;
    },
  };
}

/** True if no file can be a Template. A single file is an input, unless it is YAML. */
function isConverted(files: readonly string[]): boolean {
  if (files.length === 1) return !isYaml(files[0]!);
  return files.length > 0 && files.every((file) => file === '-' || DATA_FILE.test(file));
}

const DATA_FILE = /\.(?:csv|tsv|tab|txt|xls[xm]|ndjson|jsonl|parquet|gz|zst|zip)$/i;

function formatOf(to: string | undefined): string | null {
  if (to === undefined || TO_FORMATS.includes(to)) return to ?? null;
  throw new UsageError(`--to takes ${TO_FORMATS.join(', ')}.${suggestion(to, TO_FORMATS)}`);
}

/** Without a Template, the extension of the output file determines the format. */
function formatOfEnding(output = ''): string | undefined {
  const ending = extname(output).slice(1).toLowerCase();
  return [...outputFormats.keys()].find((format) => format === ending);
}

/**
 * Detects a swapped Template and input. Only refuses if the input is YAML and the Template is not, because a .json
 * file may be either.
 */
function refuseSwapped(templatePath: string, input: string): void {
  if (isYaml(templatePath) || /\.json$/i.test(templatePath) || !isYaml(input)) return;
  throw new UsageError(swapped(templatePath, input));
}

function swapped(templatePath: string, input: string): string {
  return `The Template comes first: write run ${input} ${templatePath}.`;
}

function isYaml(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

// The progress line of `run`. Contains only counts, nothing from the files.

const BYTES_PER_MB = 1_000_000;

/** @param files total number of files, and the number done so far */
export function progressLine(
  files: { readonly all: number; readonly done: () => number },
  engine: Pick<LocalEngine, 'progress' | 'inputBytes' | 'writtenBytes'>,
  seconds: number,
): string {
  const { rows, bytes } = engine.progress;
  const { inputBytes, writtenBytes } = engine;
  // With --show-cell a file is read twice, so its bytes can exceed its size.
  const percentage = inputBytes === 0 ? 0 : Math.min(100, Math.floor((bytes / inputBytes) * 100));
  return [
    ...(files.all === 1 ? [] : [`${files.done()} of ${files.all} files done`]),
    `${percentage} % (${megabytes(bytes)} of ${megabytes(inputBytes)} MB) read`,
    `${rows} rows`,
    `${megabytes(writtenBytes)} MB written`,
    `${seconds} s`,
  ].join(', ');
}

function megabytes(bytes: number): string {
  return (bytes / BYTES_PER_MB).toFixed(1);
}

// Warns if an output file has the extension of a different format than the Template writes. Spreadsheet programs call
// a CSV named report.xlsx broken, and the format depends on the Template only.

/** Other common extensions of a format. */
const OTHER_ENDINGS: ReadonlyMap<string, string> = new Map([
  ['jsonl', 'ndjson'],
  ['tab', 'tsv'],
  ['xls', 'xlsx'],
  ['xlsm', 'xlsx'],
]);

/** Extensions of compressed files, which `run` does not write. */
const COMPRESSED: readonly string[] = ['gz', 'zst', 'zip'];

/**
 * @param paths paths of the outputs; null: standard output
 * @param ending extension of the Template's outputs, without a dot
 * @param others other extensions that also fit the format
 * @returns one line for each file with an unsuitable extension
 */
function endingNotes(paths: readonly (string | null)[], ending: string, others: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    const own = path === null ? '' : extname(path).slice(1).toLowerCase();
    if (own === ending) return [];
    if (ending === ARCHIVE_ENDING && own !== '')
      return [`note: ${path} will contain a zip archive, because output.split_by makes several files.`];
    if (COMPRESSED.includes(own))
      return [`note: ${path} will contain uncompressed ${ending}: run does not compress its outputs.`];
    const format = OTHER_ENDINGS.get(own) ?? own;
    if (!outputFormats.has(format) || format === ending || others.includes(format)) return [];
    return [
      `note: ${path} will contain ${ending}, as the Template says. For ${own}, write output: {format: ${format}} in the Template.`,
    ];
  });
}

// `run --show-cell`: shows the row that ended a Run, as it was before the failing operation, on the author's own
// terminal. Messages and reports never contain cell values, so the file is read a second time, with only the
// operations before the failing one.

/** Shown after a row error without --show-cell. The error itself does not say which text the cell has. */
const SHOW_CELL_HINT = '  Add --show-cell to see the cells of this row.';

/** Maximum number of cells shown, which is more than fills a screen. */
const CELLS_MAX = 40;

/** Maximum number of characters shown per cell. */
const CELL_CHARACTERS_MAX = 500;

/**
 * Lines for the terminal: the failing cell, then the whole row. If the row cannot be reproduced, a line that says so.
 */
async function failingRowLines(
  engine: LocalEngine,
  [input, ...more]: readonly string[],
  template: TemplateText,
  place: RowPlace,
): Promise<readonly string[]> {
  if (place.row === null) return ['  the row cannot be shown: an operation added it, it is not in the file'];
  const { outcome } = await engine.run(input!, failingRowTemplate(template, place), nameOf(input!), more.map(named));
  engine.discard(input!);
  const bytes = outcome.output?.bytes;
  const text = bytes === undefined || bytes === null ? '' : Buffer.from(bytes).toString('utf8');
  const [line = ''] = text.split('\n');
  if (outcome.failure !== null || line === '')
    return ['  the row cannot be shown: it is not among the rows before that operation'];
  const row = Object.entries(JSON.parse(line) as Readonly<Record<string, unknown>>);
  const { column } = place;
  const shown = column === null ? row : row.filter(([name]) => name === column);
  const rest = column === null ? [] : row.filter(([name]) => name !== column);
  const cells = [...shown, ...rest].slice(0, CELLS_MAX);
  const hidden = row.length - cells.length;
  return [
    ...cells.map(
      ([name, cell], index) => `  ${index < shown.length && column !== null ? '>' : ' '} ${cellText(name, cell)}`,
    ),
    ...(hidden > 0 ? [`    and ${hidden} more columns`] : []),
  ];
}

function cellText(name: string, cell: unknown): string {
  const text = JSON.stringify(cell);
  const cut =
    text.length > CELL_CHARACTERS_MAX ? `${text.slice(0, CELL_CHARACTERS_MAX)}... (${text.length} characters)` : text;
  return `${JSON.stringify(name)}: ${cut}`;
}

/** A Template that outputs the one row as it was before the operation. Rows that fail earlier are dropped. */
export function failingRowTemplate({ source, format }: TemplateText, { row, step }: RowPlace): TemplateText {
  const checked = checkTemplate(source, format);
  const parsed = parseTemplate(source, format);
  if ('problems' in checked || 'problems' in parsed) throw new Error('a Template that ran is not valid');
  const { input, tables, defaults } = parsed.text.root.value as Readonly<Record<string, object | undefined>>;
  const before = checked.template.operations.slice(0, step).map(written);
  const json = JSON.stringify({
    input,
    tables,
    defaults: { ...defaults, on_error: 'drop_row', max_errors: null, max_error_ratio: null },
    operations: [...before, { op: 'filter', where: `run.row == ${row}` }],
    output: { format: 'ndjson' },
  });
  return { source: json, format: 'json', sha256: createHash('sha256').update(json).digest('hex') };
}

/** The operation in the form of a Template file. */
function written({ name, where, ifMissing, onError, parameters }: TemplateOperation): object {
  return {
    ...parameters,
    op: name,
    ...(where === null ? {} : { where }),
    if_missing: ifMissing,
    on_error: onError === 'fail' || onError === 'reject' ? 'drop_row' : onError,
  };
}

// The output of `run --to table` and `run --to markdown`: the CSV of a Run, written again with aligned columns.

/** Extensions of tables in a folder. */
const TABLE_ENDINGS: Readonly<Record<string, string>> = { table: 'txt', markdown: 'md' };

/** The result with the table as its output, in a file beside the CSV. */
async function asTable(result: LocalResult, form: string): Promise<LocalResult> {
  const ending = TABLE_ENDINGS[form]!;
  const { outcome, outputPath } = result;
  const output = outcome.output!;
  const { bytes } = output;
  const open = (): AsyncIterable<string> =>
    bytes === null ? createReadStream(outputPath, 'utf8') : Readable.from([Buffer.from(bytes).toString('utf8')]);
  const path = `${outputPath}.${ending}`;
  const lines = form === 'table' ? alignedLines(open, TABLE_DELIMITER) : markdownLines(open, TABLE_DELIMITER);
  await pipeline(Readable.from(lines), createWriteStream(path, { mode: 0o600 }));
  const table = { ...output, bytes: null, sizeBytes: statSync(path).size, ending };
  return { ...result, outputPath: path, outcome: { ...outcome, output: table } };
}

const FLAGS = {
  expression: {
    kind: 'list',
    short: 'e',
    placeholder: 'OPERATION',
    purpose: "an operation as in a Template, such as 'sort: amount'; repeatable, instead of a Template (none)",
  },
  to: {
    kind: 'value',
    placeholder: 'FORMAT',
    purpose: `output format, one of ${TO_FORMATS.join(', ')}; table is text with aligned columns, markdown a table for documents (as the Template says)`,
  },
  output: {
    kind: 'value',
    short: 'o',
    placeholder: 'PATH',
    purpose:
      'file for the rows of all inputs, or a folder for one output of each input: a path that exists as a folder, ends with / ' +
      'or, with several inputs, has no extension of an output format; "-" is standard output (standard output)',
  },
  rejects: {
    kind: 'value',
    placeholder: 'PATH',
    purpose:
      'file or folder, as -o, for rows that the Template rejects with on_error: reject; "-" is standard output (they are ' +
      'only counted)',
  },
  tables: { kind: 'value', placeholder: 'DIR', purpose: 'reference tables, NAME.csv (none)' },
  secrets: { kind: 'value', placeholder: 'DIR', purpose: 'keys for hash, one file for each (none)' },
  delimiter: { kind: 'value', placeholder: 'C', purpose: 'field delimiter (as in the Template, otherwise detected)' },
  'header-row': {
    kind: 'value',
    placeholder: 'N',
    purpose:
      '0-based record of the header. none, only without a Template: the file has no header (as in the Template, otherwise detected)',
  },
  workers: {
    kind: 'value',
    placeholder: 'N',
    purpose:
      'threads (one for each file, at most one for each core; for a single file, one for each core, at most 8). They ' +
      'share a single CSV, NDJSON or Parquet file from 256 MiB if the Template allows it. No more threads than cores share a ' +
      'file. If a core is free, another thread reads ahead in a large file',
  },
  'memory-budget': {
    kind: 'value',
    placeholder: 'SIZE',
    purpose: 'such as 256MiB (60 % of the memory that the process may use)',
  },
  'show-cell': {
    kind: 'switch',
    purpose: 'if a row ends the run, prints its cells before that operation on standard error (off)',
  },
  progress: {
    kind: 'switch',
    purpose: 'prints progress lines even if standard error is not a terminal (off: one line, on a terminal only)',
  },
  quiet: QUIET_FLAG,
  json: { kind: 'switch', purpose: 'the summary as one JSON line for each input (off)' },
} as const;

export const command: Command = {
  name: 'run',
  usage: `template-run run TEMPLATE INPUT... [-o FILE or DIR]
       template-run run -e OPERATION... INPUT... [-o FILE or DIR]
       template-run run --to FORMAT INPUT [-o FILE or DIR]

Applies the Template file (JSON or YAML) to each input (CSV, XLSX, JSON or Parquet, also in gzip or ZIP; "-" is standard
input). With -e, the operations come from the command line instead of a Template file. With --to and data files only, the
files are converted. The output goes to standard output or, with -o, to a file: the rows of several inputs then follow
one another, and the inputs must have the same columns. If -o is a folder, each input has an output of its own there.
Progress and summary are on standard error, failures as CODE: message.

${flagsHelp(FLAGS)}

Exit status: 0 all succeeded, 1 a file failed, 2 usage.`,
  run: (args, io) => runFiles(args, io, 'run'),
};

/** @param name name of the command in messages: `run`, or `head`, which calls this function */
export async function runFiles(args: readonly string[], io: CommandIo, name: string): Promise<number> {
  const flags = parseFlags(args, FLAGS);
  const { values, switches } = flags;
  const { templatePath, inputs, textTable, read: readTemplate } = runArguments(flags);
  refuseSecondStandardInput([templatePath, ...inputs]);
  const isCombined = areCombined(inputs, values.get('output') ?? null);
  const targetInputs = isCombined ? inputs.slice(0, 1) : inputs;
  const outputs = outputTargets(targetInputs, values.get('output') ?? null, io.stdout);
  const rejects = rejectTargets(targetInputs, values.get('rejects'), io.stdout);
  const read = readTemplate(io.stderr);
  if (read === null) return EXIT_FAILED;
  const { template, otherEndings } = read;
  const ending = textTable === null ? read.ending : TABLE_ENDINGS[textTable]!;
  refuseBinaryOnTerminal(outputs, ending, io.stdout);
  const targets = outputs.map(({ path }) => path(ending));
  const rejectPaths = rejects.map(({ path }) => path(ending));
  refuseSamePath(targets, rejectPaths);
  refuseOverwriting([...targets, ...rejectPaths], readBy(flags, templatePath, inputs));
  // With --json only the summaries are printed, as JSON lines.
  const isJson = switches.has('json');
  const isQuiet = switches.has('quiet') || name === 'head';
  const notes = isJson || isQuiet || textTable !== null ? [] : endingNotes(targets, ending, otherEndings);
  for (const note of notes) io.stderr.write(`${painted(io, 'stderr', 'note', note)}\n`);
  const workers = count(values, 'workers');
  const overrides = { delimiter: delimiter(values.get('delimiter')), headerRow: headerRow(values, templatePath) };
  const temporaryFolder = new TemporaryFolder('template-run-');
  const engine = new LocalEngine({
    temporaryFolder: temporaryFolder.path,
    threads: isCombined ? 1 : threadsFor(inputs.length, workers),
    cores: Math.min(workers ?? Infinity, availableParallelism()),
    inputs: outputs.length,
    memoryBudgetBytes: memoryBudget(values.get('memory-budget')),
    template,
    tables: readLocalTables(values.get('tables') ?? null),
    secretsDirectory: localSecrets(values.get('secrets')),
    overrides,
  });
  let isInterrupted = false;
  const endInterrupts = onInterrupt(() => {
    isInterrupted = true;
    void engine.close().then(() => process.exit(EXIT_INTERRUPTED));
  });
  let done = 0;
  const files = { all: outputs.length, done: () => done };
  const shows = switches.has('quiet') ? 'never' : switches.has('progress') ? 'always' : 'auto';
  const progress = new Progress(io.stderr, (seconds) => progressLine(files, engine, seconds), shows);
  const more = isCombined ? inputs.slice(1) : [];
  const [isOnly, showsCell] = [outputs.length === 1, switches.has('show-cell')];
  const reporting = { name, isJson, isQuiet, isOnly, textTable, template, overrides, more, showsCell };
  const runOne = async (output: OutputTarget, index: number): Promise<boolean> => {
    const kept = [output, ...rejects.slice(index, index + 1)];
    const succeeded = await runFile(engine, kept, reporting, { io, progress });
    done++;
    return succeeded;
  };
  try {
    const results = await Promise.all(outputs.map(runOne));
    return results.every(Boolean) ? EXIT_OK : EXIT_FAILED;
  } catch (error) {
    // After an interrupt, Runs fail because their threads are gone; that is not a fault.
    if (!isInterrupted) throw error;
    return EXIT_INTERRUPTED;
  } finally {
    progress.end();
    endInterrupts();
    await engine.close();
    temporaryFolder.remove();
  }
}

function readBy({ values }: Flags, templatePath: string | null, inputs: readonly string[]): ReadFiles {
  const folders = [values.get('tables'), values.get('secrets')].filter((folder) => folder !== undefined);
  return { files: [...(templatePath === null ? [] : [templatePath]), ...inputs], folders };
}

interface Terminal {
  readonly io: CommandIo;
  readonly progress: Progress;
}

interface Reporting {
  /** Name of the command in messages. */
  readonly name: string;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** True if only one file is processed, so that a failure need not name it. */
  readonly isOnly: boolean;
  readonly textTable: string | null;
  readonly template: TemplateText;
  readonly overrides: TaskOverrides;
  /** Inputs whose rows follow those of the first one in the same output. */
  readonly more: readonly string[];
  /** Whether to show the row that ended the Run. */
  readonly showsCell: boolean;
}

async function runFile(
  engine: LocalEngine,
  targets: readonly OutputTarget[],
  { name, isJson, isQuiet, isOnly, textTable, template, overrides, more, showsCell }: Reporting,
  { io, progress }: Terminal,
): Promise<boolean> {
  const { input } = targets[0]!;
  let result: LocalResult;
  try {
    result = await engine.run(input, template, nameOf(input), more.map(named));
    progress.clear();
    const [output, ...rejects] = targets;
    if (result.outcome.failure === null) {
      await keepOutput(output!, textTable === null ? result : await asTable(result, textTable));
      for (const target of rejects) await keepOutput(target, result);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    progress.clear();
    io.stderr.write(`${painted(io, 'stderr', 'error', `template-run ${name}:`)} ${systemErrorText(error as Error)}\n`);
    return false;
  } finally {
    engine.discard(input);
  }
  const { failure } = result.outcome;
  progress.clear();
  if (failure !== null) {
    const hint = more.length > 0 ? null : await readingHint(input, failure, { template, overrides });
    const message = hint === null ? failure.message : `${failure.message} ${hint}`;
    io.stderr.write(`${painted(io, 'stderr', 'error', `${failure.code}:`)} ${message}\n`);
  }
  if (failure?.place !== undefined) {
    const lines = showsCell
      ? await failingRowLines(engine, [input, ...more], template, failure.place)
      : [SHOW_CELL_HINT];
    if (showsCell || !isQuiet) io.stderr.write(`${lines.join('\n')}\n`);
  }
  const isSummarized = !isQuiet || (failure !== null && !isOnly);
  if (isJson || isSummarized)
    io.stderr.write(`${summaryOf(result, { json: isJson, keepsRejects: targets.length > 1 })}\n`);
  return failure === null;
}

function named(input: string): NamedInput {
  return { input, name: nameOf(input) };
}

/** Suggests another delimiter or header row for a file that does not fit its Template; null: no suggestion. */
async function readingHint(
  input: string,
  { code, message, columns }: Failure,
  { template, overrides }: Pick<Reporting, 'template' | 'overrides'>,
): Promise<string | null> {
  const isAboutReading = code === 'TEMPLATE_COLUMNS_MISSING' || code === 'MALFORMED_FILE';
  // Standard input cannot be read a second time.
  if (input === '-' || !isAboutReading) return null;
  const detected = await detectedReading(input, template, { overrides, missing: columns?.length ?? null });
  const isUnknown = message.includes('send delimiter and header_row');
  return detected ?? (isUnknown ? 'On the command line, these are --delimiter and --header-row.' : null);
}

/** Workbooks, Parquet files and archives are not text, and would garble a terminal. */
function refuseBinaryOnTerminal(outputs: readonly OutputTarget[], ending: string, stdout: NodeJS.WritableStream): void {
  const isTerminal = (stdout as { readonly isTTY?: boolean }).isTTY === true;
  if (!isTerminal || !BINARY_ENDINGS.includes(ending) || outputs[0]!.path(ending) !== null) return;
  throw new UsageError(`The output is ${ending}, which a terminal cannot show. Write -o FILE.${ending}.`);
}

const BINARY_ENDINGS: readonly string[] = ['xlsx', 'parquet', ARCHIVE_ENDING];

/** Default maximum of threads that share one file. Each takes 30 MB, and they write to one output in turn. */
const SHARING_THREADS_MAX = 8;

/** One thread per file. The threads that share a single file are only started if it can be split. */
function threadsFor(inputs: number, workers: number | null): number {
  const cores = availableParallelism();
  return inputs === 1 ? (workers ?? Math.min(cores, SHARING_THREADS_MAX)) : Math.min(inputs, workers ?? cores);
}

/** Null: not given, or none without a Template. The Template of the command line then declares that no header exists. */
function headerRow(values: ReadonlyMap<string, string>, templatePath: string | null): number | null {
  if (values.get('header-row') !== 'none') return count(values, 'header-row');
  if (templatePath === null) return null;
  throw new UsageError(
    'With a Template, --header-row takes a number. Write header_row: none below input.csv in the Template.',
  );
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
