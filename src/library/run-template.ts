// The engine as a library: applies one Template to one source in a separate thread, without a service.

import { createHash, randomUUID } from 'node:crypto';
import { constants, createReadStream, createWriteStream, type Stats } from 'node:fs';
import { access, chmod, mkdtemp, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import { REJECTS_SUFFIX, type TaskTable } from '../../workers/protocol/messages.ts';
import type { TemplateText } from '../../workers/template/template-text.ts';
import { MEMORY_BUDGET_BYTES_MIN } from '../admission/memory-budget.ts';
import type { Report, RunError } from '../client/api-schemas.ts';
import { LocalEngine, type NamedInput } from '../commands/local-engine.ts';
import { ARCHIVE_ENDING, overwritten, unpackArchive } from '../commands/output-targets.ts';

/** A path, bytes, or a stream, which is first copied into a temporary file. */
export type TemplateSource = string | Uint8Array | Readable;

export interface RunTemplateOptions {
  /** File extension of the source, such as "xlsx", if the source is not a path. */
  readonly ending?: string;
  /** Name of the source for the expression `run.file`, if the source is not a path. */
  readonly fileName?: string;
  readonly delimiter?: string;
  /** The record with the header, counted from 0. */
  readonly headerRow?: number;
  /** Folder of reference tables, NAME.csv. */
  readonly tables?: string;
  /** Folder of keys for hashes, one file per key. */
  readonly secrets?: string;
  /**
   * Destination of the rows that the Template rejects (CSV). Without it, rejected rows are only counted in the
   * report.
   */
  readonly rejects?: TemplateSink;
  /** Memory that the Run may use before it writes to disk; 256 MiB by default. */
  readonly memoryBytesMax?: number;
  /**
   * Maximum number of threads that share one large CSV, NDJSON or Parquet file if the Template allows it, 1 by default.
   * No more threads than cores share a file. The output does not depend on the number.
   */
  readonly threads?: number;
}

export interface RunResult {
  readonly rowsWritten: number;
  /** The output was cut because its format allows no more rows. */
  readonly truncated: boolean;
  readonly report: Report;
}

export interface TemplateProblem {
  readonly code: string;
  readonly message: string;
  readonly pointer: string;
  readonly line: number;
  readonly column: number;
}

/** The Template is invalid. */
export class TemplateRefusedError extends Error {
  readonly problems: readonly TemplateProblem[];

  constructor(problems: readonly TemplateProblem[]) {
    const [first] = problems;
    super(`The Template has ${problems.length} problems, first at line ${first?.line}: ${first?.message}`);
    this.name = 'TemplateRefusedError';
    this.problems = problems;
  }
}

/** The source cannot be read as the Template requires, or violates one of its rules. */
export class RunRefusedError extends Error {
  readonly code: RunError['code'];
  readonly report: Report;

  constructor(code: RunError['code'], message: string, report: Report) {
    super(message);
    this.name = 'RunRefusedError';
    this.code = code;
    this.report = report;
  }
}

/** The names of split outputs come from cells, so a source could be overwritten by accident. */
function refuseSources(targets: readonly string[], sources: readonly string[]): void {
  const found = overwritten(targets, { files: sources, folders: [] });
  if (found !== null) throw new RangeError(`${found.target} is also a source: it is not overwritten`);
}

const MEMORY_BYTES = 256 * 1024 * 1024;

/**
 * Rejects with TemplateRefusedError, RunRefusedError, RangeError, or a system error of the source, the sink or the tables.
 * @param template YAML or JSON text, or the object that the text would describe
 * @param source one source, or several with the same columns, whose rows follow one another
 */
export async function runTemplate(
  template: string | object,
  source: TemplateSource | readonly TemplateSource[],
  sink: TemplateSink,
  options: RunTemplateOptions = {},
): Promise<RunResult> {
  const text = templateText(template);
  const { threads = 1 } = options;
  if (!Number.isInteger(threads) || threads < 1) throw new RangeError('threads is a whole number of at least 1');
  const tables = await readTables(options.tables);
  const engine = new LocalEngine({
    threads,
    cores: Math.min(threads, availableParallelism()),
    inputs: 1,
    ownThread: false,
    memoryBudgetBytes: Math.max(MEMORY_BUDGET_BYTES_MIN, options.memoryBytesMax ?? MEMORY_BYTES),
    template: text,
    tables,
    secretsDirectory: options.secrets ?? null,
    overrides: { delimiter: options.delimiter ?? null, headerRow: options.headerRow ?? null },
  });
  let folder: string | null = null;
  try {
    folder = await mkdtemp(join(tmpdir(), 'template-run-'));
    const files: NamedInput[] = [];
    for (const [index, each] of (isList(source) ? source : [source]).entries()) {
      const input = await localPath(each, join(folder, `source${index}.${options.ending ?? 'csv'}`));
      files.push({ input, name: typeof each === 'string' ? basename(each) : (options.fileName ?? null) });
    }
    const [first, ...more] = files;
    if (first === undefined) throw new RangeError('the list of sources is empty');
    const result = await engine.run(first.input, text, first.name, more);
    const { failure, report, rowsWritten, truncated } = result.outcome;
    if (failure !== null) throw new RunRefusedError(failure.code, failure.message, report);
    const { output, rejects } = result.outcome;
    if (output!.ending === ARCHIVE_ENDING && typeof sink === 'string' && (await isFolder(sink))) {
      const read = files.map(({ input }) => input);
      await unpackArchive({ bytes: output!.bytes, path: result.outputPath }, sink, (paths) =>
        refuseSources(paths, read),
      );
    } else await deliver(output!.bytes, result.outputPath, sink);
    if (rejects !== null && options.rejects !== undefined) {
      await deliver(rejects.bytes, result.outputPath + REJECTS_SUFFIX, options.rejects);
    }
    return { rowsWritten: rowsWritten ?? 0, truncated, report };
  } finally {
    await engine.close();
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  }
}

function templateText(template: string | object): TemplateText {
  const source = typeof template === 'string' ? template : JSON.stringify(template);
  const format = source.trimStart().startsWith('{') ? 'json' : 'yaml';
  const checked = checkTemplate(source, format);
  if (!('template' in checked)) throw new TemplateRefusedError(checked.problems);
  return { source, format, sha256: sha256(source) };
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The tables of a folder by name: NAME.csv is the table NAME. */
async function readTables(folder: string | undefined): Promise<Readonly<Record<string, TaskTable>>> {
  if (folder === undefined) return {};
  const tables: [string, TaskTable][] = [];
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.csv'))) {
    const path = resolve(folder, name);
    tables.push([name.slice(0, -'.csv'.length), { path, sha256: sha256(await readFile(path)) }]);
  }
  return Object.fromEntries(tables);
}

function isList(source: TemplateSource | readonly TemplateSource[]): source is readonly TemplateSource[] {
  return Array.isArray(source);
}

/** Path of the source as a file, because the engine reads by position. */
async function localPath(source: TemplateSource, copyPath: string): Promise<string> {
  if (typeof source === 'string') return source;
  if (source instanceof Uint8Array) await writeFile(copyPath, source, { mode: 0o600 });
  else await pipeline(source, createWriteStream(copyPath, { mode: 0o600 }));
  return copyPath;
}

// Delivers the output of a Run to a stream, a file, a pipe or a device. A file is written completely or not at all,
// and links to it are kept. Pipes and devices are written directly and never replaced.

/**
 * A path, to which the output is written completely or not at all; or a stream, which is ended. If the output has several
 * files (`output.split_by`), they are written to the path if it ends with `/` or is a folder. Any other path or stream
 * receives a ZIP archive.
 */
export type TemplateSink = string | Writable;

/** Permission bits of a mode, without the file type. */
const PERMISSIONS = 0o777;

/**
 * @param bytes the output; null: it is in the file at `path`
 * @param path path of the file with the output, if `bytes` is null
 */
export async function deliver(bytes: Uint8Array | null, path: string, sink: TemplateSink): Promise<void> {
  const output = (): Readable => (bytes === null ? createReadStream(path) : Readable.from([bytes]));
  if (typeof sink !== 'string') return pipeline(output(), sink);
  const known = await statsOf(sink);
  if (known !== null && !known.isFile()) return pipeline(output(), createWriteStream(sink));
  await place(output, sink, known);
}

async function place(output: () => Readable, name: string, known: Stats | null): Promise<void> {
  // A rename only needs write permission for the folder. This check respects files that were made read-only.
  if (known !== null) await access(name, constants.W_OK);
  const target = known === null ? name : await realpath(name);
  const mode = known === null ? null : known.mode & PERMISSIONS;
  const beside = join(dirname(target), `.${randomUUID()}.part`);
  try {
    await pipeline(output(), createWriteStream(beside, { flags: 'wx', ...(mode === null ? {} : { mode }) }));
    // Restores the permission bits that the umask removed.
    if (mode !== null) await chmod(beside, mode);
    await rename(beside, target);
  } finally {
    await rm(beside, { force: true });
  }
}

async function isFolder(path: string): Promise<boolean> {
  return path.endsWith('/') || (await statsOf(path))?.isDirectory() === true;
}

/** Null: the path does not exist. */
async function statsOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
