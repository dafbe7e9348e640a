// Applies a Template to a text with the engine itself, in this thread, with batches of any size.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InputFormat } from '../../workers/input/format.ts';
import { inputFormats } from '../../workers/input/index.ts';
import { BytesSource } from '../../workers/input/source/bytes-source.ts';
import { compileKernels } from '../../workers/kernel/bindings/kernel.ts';
import { type BudgetShare, RUN_RESERVATION_BYTES, unlimitedShare } from '../../workers/memory/budget.ts';
import { NO_COLLECTOR } from '../../workers/memory/collector.ts';
import { KernelPool } from '../../workers/memory/kernel-pool.ts';
import { checkTemplate } from '../../workers/plan/check-template.ts';
import { PreparedTemplate } from '../../workers/plan/prepared-template.ts';
import { TemplateCache } from '../../workers/plan/template-cache.ts';
import type { RunOutcome, RunTask } from '../../workers/protocol/messages.ts';
import { runTemplate } from '../../workers/run/run.ts';
import type { RunWatch } from '../../workers/run/run-watch.ts';
import { TemplateChecker } from '../../workers/template/check.ts';
import type { TemplateLanguage } from '../../workers/template/language.ts';
import { type Coroutine, runCoroutine } from '../../workers/thread/coroutine.ts';

const budget = unlimitedShare();
const kernels = new KernelPool(compileKernels(), budget, NO_COLLECTOR);
/** As in a thread: a Template that is applied again finds its plan. */
const templates = new TemplateCache();

export interface Applied {
  /** The output as a text, null when the Run failed. */
  readonly text: string | null;
  /** The same as it is. */
  readonly bytes: Buffer | null;
  readonly outcome: RunOutcome;
}

/** Reference tables as files. */
function writeTables(folder: string, tables: Readonly<Record<string, string>>): RunTask['tables'] {
  const written = Object.entries(tables).map(([name, text]) => {
    const path = join(folder, `${name}.csv`);
    writeFileSync(path, text);
    return [name, { path, sha256: createHash('sha256').update(text).digest('hex') }];
  });
  return Object.fromEntries(written);
}

/** One for each language: to make one costs more than to check a Template. */
const checkers = new Map<TemplateLanguage, TemplateChecker>();

function checkerOf(language: TemplateLanguage): TemplateChecker {
  const checker = checkers.get(language) ?? new TemplateChecker(language);
  checkers.set(language, checker);
  return checker;
}

/** Refuses state beyond a Run's reservation and so many bytes. */
function refusing(stateBytes: number): BudgetShare {
  const share = unlimitedShare();
  return { ...share, take: (bytes) => share.takenBytes + bytes <= stateBytes && share.take(bytes) };
}

export interface Limits {
  readonly outputRowsMax?: number;
  /** State beyond the reservation goes to files. */
  readonly spills?: boolean;
  /** With it: but for so many bytes. */
  readonly stateBytes?: number;
  readonly outputBytesMax?: number;
  readonly cancelled?: () => boolean;
  /** With operations or formats of a test's own. */
  readonly language?: TemplateLanguage;
  readonly watch?: RunWatch;
  /** Formats of the input beside those of the product. */
  readonly formats?: readonly InputFormat[];
  /** Drives the Run in another way than a thread does. */
  readonly drive?: (work: Coroutine<RunOutcome>) => Promise<RunOutcome>;
}

/**
 * @param template a text is the source itself, as JSON
 * @throws with the problems of a Template that is not sound
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
  const folder = mkdtempSync(join(tmpdir(), 'apply-template-'));
  const bytes = new BytesSource(Buffer.from(input));
  const share = limits.spills === true ? refusing(limits.stateBytes ?? 0) : budget;
  try {
    const path = join(folder, 'output');
    const task: RunTask = {
      task: 1,
      template: text,
      source: { kind: 'bytes', bytes: new Uint8Array() },
      ending: 'csv',
      overrides: { delimiter: null, headerRow: null },
      limits: {
        rowsMax: null,
        outputRowsMax: limits.outputRowsMax ?? null,
        outputBytesMax: limits.outputBytesMax ?? null,
        inflatedBytesMax: null,
      },
      output: { path, memoryBytesMax: 1_048_576 },
      spillDirectory: join(folder, 'spill'),
      tables: writeTables(folder, tables),
      secretsDirectory: null,
      startedAt: '2026-01-31T12:00:00Z',
      reservationBytes: RUN_RESERVATION_BYTES,
    };
    const outcome = await (limits.drive ?? runCoroutine)(
      runTemplate({
        task,
        prepared: language === undefined ? templates.get(text) : new PreparedTemplate(checked.template, language),
        source: bytes,
        kernels: limits.spills === true ? new KernelPool(compileKernels(), share, NO_COLLECTOR) : kernels,
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
    rmSync(folder, { recursive: true, force: true });
  }
}
