// `template draft`: proposes a Template from a whole sample, with the evidence for each line.
import { existsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Failed } from '../../workers/protocol/failure.ts';
import { parseTemplate } from '../../workers/template/template-text.ts';
import { defaultMemoryBudgetBytes, MEMORY_BUDGET_BYTES_MIN } from '../admission/memory-budget.ts';
import type { DraftProgress } from '../drafts/draft-progress.ts';
import { draftTemplate } from '../drafts/draft-template.ts';
import { readTarget, TargetRefusedError } from '../drafts/like/read-target.ts';
import {
  DECLARED,
  type DeclaredReading,
  type RunSample,
  SampleRefusedError,
  templateText,
} from '../drafts/sample-profile.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, parseFlags, UsageError } from './command.ts';
import { LocalEngine } from './local-engine.ts';
import {
  checkReadable,
  refuseSecondStandardInput,
  STANDARD_INPUT,
  TemporaryFolder,
  withLocalFile,
} from './local-input.ts';
import { problemLines, readTemplateFile } from './template-file.ts';
import { DRAFT_FLAGS } from './template-flags.ts';
import { Progress, printable, progressShown } from './terminal.ts';

/** Begins with "./", which makes editors resolve the path relative to the Template's folder. */
const INSTALLED_SCHEMA = './node_modules/template-run/dist/schema.json';

const PACKAGE_PATH = fileURLToPath(PACKAGE_FOLDER);

export async function draftFile(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals, values, switches } = parseFlags(args, DRAFT_FLAGS);
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new UsageError('Write one sample file.');
  const like = values.get('like') ?? null;
  const reading = values.get('template');
  refuseSecondStandardInput([path, like, reading]);
  for (const file of like === null ? [path] : [path, like]) {
    if (file !== STANDARD_INPUT) checkReadable(file);
  }
  const declared = reading === undefined ? null : await readingOf(reading, io);
  if (declared === undefined) return EXIT_FAILED;
  const describe = (seconds: number): string => `${printable(path)}: being drafted, ${seconds} s`;
  const progress = new Progress(io.stderr, describe, progressShown(switches));
  // This thread stays free for the progress line.
  const signal = progress.isShown ? new AbortController().signal : undefined;
  try {
    const draft = (sample: string): Promise<string> =>
      like === null
        ? draftOf({ path: sample, declared, signal })
        : withLocalFile(like, (target) => draftOf({ path: sample, like: target, declared, signal }));
    const text = await withLocalFile(path, draft);
    progress.clear();
    io.stdout.write(text);
    return EXIT_OK;
  } catch (error) {
    progress.clear();
    if (!isSampleRefused(error)) throw error;
    const what = error instanceof TargetRefusedError ? '' : 'The file cannot be read: ';
    // The message names a setting of a Template. A draft takes such settings from a Template too.
    const asksForSettings = declared === null && /\binput\.\w+/.test(error.message);
    const hint = asksForSettings
      ? ' Then draft with --template FILE, which reads the sample as that Template says.'
      : '';
    io.stderr.write(`${what}${error.message}${hint}\n`);
    return EXIT_FAILED;
  } finally {
    progress.end();
  }
}

/** Settings of `input` that belong to the columns, which the draft finds itself. */
const COLUMN_SETTINGS: readonly string[] = ['columns', 'other_columns', 'header_match'];

/** Returns undefined if the Template has problems, which are printed. */
async function readingOf(path: string, io: CommandIo): Promise<DeclaredReading | undefined> {
  const file = await readTemplateFile(path);
  io.stderr.write(problemLines(file));
  if (file.template === null) return undefined;
  const parsed = parseTemplate(file.source, file.format);
  if ('problems' in parsed) throw new Error('a valid Template cannot be parsed');
  const { input = {} } = parsed.text.root.value as { readonly input?: object };
  const settings = Object.entries(input).filter(([key]) => !COLUMN_SETTINGS.includes(key));
  return { template: file.template, settings: Object.fromEntries(settings), evidence: DECLARED };
}

export interface DraftRequest {
  readonly path: string;
  /** How the sample is read; null: everything is detected. */
  readonly declared?: DeclaredReading | null;
  /** Target whose column names the draft uses. */
  readonly like?: string | null;
  /** Folder of the Template. */
  readonly folder?: string;
  /** Given: the work is done in another thread, until the signal aborts. Default: this thread does it. */
  readonly signal?: AbortSignal | undefined;
  readonly progress?: DraftProgress;
}

export async function draftOf(request: DraftRequest): Promise<string> {
  const { path, like = null, folder = '.', signal, progress, declared = null } = request;
  const temporaryFolder = new TemporaryFolder('template-run-');
  const engine = new LocalEngine({
    temporaryFolder: temporaryFolder.path,
    ownThread: signal === undefined,
    threads: 1,
    cores: availableParallelism(),
    inputs: 2,
    memoryBudgetBytes: Math.max(MEMORY_BUDGET_BYTES_MIN, defaultMemoryBudgetBytes()),
    template: templateText('operations: []', 'yaml'),
    tables: {},
    secretsDirectory: null,
    overrides: { delimiter: null, headerRow: null },
  });
  const stop = (): void => void engine.close();
  signal?.addEventListener('abort', stop);
  try {
    const targets = like === null ? null : await readTarget(like, runsOf(engine, like));
    const before = engine.progress.bytes;
    const sizeBytes = Math.max(1, statSync(path).size);
    progress?.follow(() => (engine.progress.bytes - before) / sizeBytes);
    return await draftTemplate(path, runsOf(engine, path), targets, schemaFrom(folder), progress, declared);
  } finally {
    signal?.removeEventListener('abort', stop);
    await engine.close();
    temporaryFolder.remove();
  }
}

/**
 * Path of the schema in the package that is installed beside the Template, or in the checkout that contains the folder;
 * null: neither exists. A remote address is not used because nothing is published at it.
 */
function schemaFrom(folder: string): string | null {
  if (existsSync(join(folder, INSTALLED_SCHEMA))) return INSTALLED_SCHEMA;
  const path = relative(resolve(folder), join(PACKAGE_PATH, 'dist', 'schema.json'));
  const isInCheckout = `${resolve(folder)}${sep}`.startsWith(PACKAGE_PATH);
  if (!isInCheckout || !existsSync(join(folder, path))) return null;
  return `${path.startsWith('..') ? '' : './'}${path.split(sep).join('/')}`;
}

/** Each Run leaves an output as large as the sample. The previous output has been read, so it is removed first. */
export function runsOf(engine: LocalEngine, file: string): RunSample {
  return (template) => {
    engine.discard(file);
    return engine.run(file, template);
  };
}

/** True if the sample or the target is at fault: a file that cannot be read yields no draft. */
export function isSampleRefused(error: unknown): error is Error {
  return [SampleRefusedError, TargetRefusedError, Failed].some((kind) => error instanceof kind);
}
