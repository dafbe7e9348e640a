// Applies a Template to a text with the real engine, in this thread, with batches of any size.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InputFormat } from '../../workers/input/format.ts';
import { inputFormats } from '../../workers/input/index.ts';
import { BytesSource } from '../../workers/input/source/bytes-source.ts';
import { compileKernels } from '../../workers/kernel/bindings/kernel.ts';
import { type BudgetShare, RUN_RESERVATION_BYTES, unlimitedShare } from '../../workers/memory/budget.ts';
import { NO_COLLECTOR, ThreadCollector } from '../../workers/memory/collector.ts';
import { KernelPool } from '../../workers/memory/kernel-pool.ts';
import { checkTemplate, PreparedTemplate, TemplateCache } from '../../workers/plan/template-cache.ts';
import type { RunOutcome, RunTask } from '../../workers/protocol/messages.ts';
import { runTemplate } from '../../workers/run/run.ts';
import type { RunWatch } from '../../workers/run/run-job.ts';
import { type Coroutine, runCoroutine } from '../../workers/scheduling/coroutine.ts';
import { TemplateChecker } from '../../workers/template/check.ts';
import type { TemplateLanguage } from '../../workers/template/language.ts';

/**
 * One folder for the files of all Runs in this process: on some file systems, making a folder for each Run took much more time
 * than the Run.
 */
const folder = mkdtempSync(join(tmpdir(), 'apply-template-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let runs = 0;

const budget = unlimitedShare();
const compiled = compileKernels();
const kernels = new KernelPool(compiled, budget, NO_COLLECTOR);
/** Caches plans as a worker thread does: a Template that is applied again reuses its plan. */
const templates = new TemplateCache();

export interface Applied {
  /** The output as a text; null if the Run failed. */
  readonly text: string | null;
  /** The bytes of the output. */
  readonly bytes: Buffer | null;
  readonly outcome: RunOutcome;
}

/** Reference tables as files, whose names begin with `prefix`. */
function writeTables(prefix: string, tables: Readonly<Record<string, string>>): RunTask['tables'] {
  const written = Object.entries(tables).map(([name, text]) => {
    const path = `${prefix}-${name}.csv`;
    writeFileSync(path, text);
    return [name, { path, sha256: createHash('sha256').update(text).digest('hex') }];
  });
  return Object.fromEntries(written);
}

/** One checker for each language, because making a checker costs more than checking a Template. */
const checkers = new Map<TemplateLanguage, TemplateChecker>();

function checkerOf(language: TemplateLanguage): TemplateChecker {
  const checker = checkers.get(language) ?? new TemplateChecker(language);
  checkers.set(language, checker);
  return checker;
}

/** The pool of one Run. */
function poolOf(share: BudgetShare): KernelPool {
  return new KernelPool(compiled, share, new ThreadCollector());
}

/** Refuses state beyond a Run's reservation plus `stateBytes`. */
function refusing(stateBytes: number): BudgetShare {
  const share = unlimitedShare();
  return { ...share, take: (bytes) => share.takenBytes + bytes <= stateBytes && share.take(bytes) };
}

export interface Limits {
  readonly outputRowsMax?: number;
  /** State beyond the reservation goes to files. */
  readonly spills?: boolean;
  /** Only with `spills`: bytes of state that are allowed beyond the reservation. */
  readonly stateBytes?: number;
  readonly outputBytesMax?: number;
  readonly rowsMax?: number;
  readonly cancelled?: () => boolean;
  /** Failures name headers of the file, as on the command line. */
  readonly showsHeaders?: boolean;
  /** A language with additional operations or formats for a test. */
  readonly language?: TemplateLanguage;
  readonly watch?: RunWatch;
  /** Input formats in addition to those of the product. */
  readonly formats?: readonly InputFormat[];
  /** Separate memory and collector for a test. */
  readonly kernels?: KernelPool;
  /** Drives the Run differently from a thread. */
  readonly drive?: (work: Coroutine<RunOutcome>) => Promise<RunOutcome>;
}

/**
 * @param template a text is used as the JSON source itself
 * @throws the problems of an invalid Template
 */
export async function applyTemplate(
  template: object | string,
  input: string | Uint8Array,
  batchRowsMax = 4096,
  tables: Readonly<Record<string, string>> = {},
  limits: Limits = {},
): Promise<Applied> {
  const source = typeof template === 'string' ? template : JSON.stringify({ format: 1, ...template });
  const { language } = limits;
  const checked = language === undefined ? checkTemplate(source, 'json') : checkerOf(language).check(source, 'json');
  if ('problems' in checked) {
    throw new Error(checked.problems.map(({ pointer, code, message }) => `${pointer} ${code} ${message}`).join('\n'));
  }
  const text = { source, format: 'json', sha256: createHash('sha256').update(source).digest('hex') } as const;
  runs += 1;
  const prefix = join(folder, String(runs));
  const path = `${prefix}.output`;
  const spillDirectory = `${prefix}.spill`;
  const tableFiles = writeTables(prefix, tables);
  const bytes = new BytesSource(Buffer.from(input));
  const share = limits.spills === true ? refusing(limits.stateBytes ?? 0) : budget;
  try {
    const task: RunTask = {
      task: 1,
      template: text,
      source: { kind: 'bytes', bytes: new Uint8Array() },
      ending: 'csv',
      overrides: { delimiter: null, headerRow: null },
      limits: {
        rowsMax: limits.rowsMax ?? null,
        outputRowsMax: limits.outputRowsMax ?? null,
        outputBytesMax: limits.outputBytesMax ?? null,
        inflatedBytesMax: null,
      },
      output: { path, memoryBytesMax: 1_048_576 },
      spillDirectory,
      tables: tableFiles,
      secretsDirectory: null,
      startedAt: '2026-01-31T12:00:00Z',
      reservationBytes: RUN_RESERVATION_BYTES,
      showsHeaders: limits.showsHeaders ?? false,
    };
    const outcome = await (limits.drive ?? runCoroutine)(
      runTemplate({
        task,
        prepared: language === undefined ? templates.get(text) : new PreparedTemplate(checked.template, language),
        source: bytes,
        kernels: limits.kernels ?? (limits.spills === true ? poolOf(share) : kernels),
        budget: share,
        largeRow: new Int32Array(new SharedArrayBuffer(4)),
        largeRowOwner: 1,
        cancelled: limits.cancelled ?? (() => false),
        beat: () => undefined,
        batchRowsMax,
        ...(limits.watch === undefined ? {} : { watch: limits.watch }),
        formats: [...inputFormats, ...(limits.formats ?? [])],
      }),
    );
    const { output } = outcome;
    const made = output === null ? null : (output.bytes ?? readFileSync(path));
    const written = made === null ? null : Buffer.from(made);
    return { text: written?.toString() ?? null, bytes: written, outcome };
  } finally {
    bytes.close();
    for (const table of Object.values(tableFiles)) rmSync(table.path, { force: true });
    rmSync(path, { force: true });
    rmSync(spillDirectory, { recursive: true, force: true });
  }
}
