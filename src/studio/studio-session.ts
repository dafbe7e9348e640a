// What a studio does, without HTTP: checks a Template's text, watches it over the sample, makes tests, saves.
import { createHash } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { basename, extname } from 'node:path';
import { checkTemplate } from '../../workers/plan/check-template.ts';
import { sampleProblems } from '../../workers/plan/sample-problems.ts';
import type { Template } from '../../workers/template/template.ts';
import { parseTemplate, type TemplateFormat } from '../../workers/template/template-text.ts';
import type { RowsRequest, TraceRequest, Watched } from '../../workers/watch/watch-messages.ts';
import type { RunTest } from '../template-tests/run-tests.ts';
import { NoTestError, withGoldenTest } from './golden-test.ts';
import type { Looked, MadeTest, StudioState } from './studio-answers.ts';
import type { StoredTemplate, TemplateStore } from './template-store.ts';
import type { WatchThread } from './watch-thread.ts';

export interface StudioParts {
  readonly templatePath: string;
  readonly format: TemplateFormat;
  readonly samplePath: string;
  readonly sampleBytes: number;
  readonly store: TemplateStore;
  readonly thread: WatchThread;
  readonly runTest: RunTest;
}

export interface LookRequest {
  readonly source: string;
  /** Operations behind which the columns are profiled. */
  readonly step: number;
  /** All rows of a sample of which else only the first are read. */
  readonly whole: boolean;
  /** The first rows alone, which are here at once: who asks for them asks for the rest when they are shown. */
  readonly head: boolean;
}

/** Up to here a sample is read to its end at each change, in bytes. */
export const WHOLE_SAMPLE_BYTES_MAX = 16 * 1024 * 1024;

/** Rows that are read of a larger one. */
export const SAMPLE_ROWS_MAX = 1_000;

/** Rows of a head: as many as the thread keeps to be shown behind a step. */
export const HEAD_ROWS_MAX = 2_000;

/** What shows the file where a Template cannot. */
const BARE = { format: 1, operations: [] };

export class StudioSession {
  readonly #parts: StudioParts;
  /** Rows were shown once: those of the last sound text stay while a later one has problems. */
  #hasRows = false;
  readonly #startedAt = new Date().toISOString();

  constructor(parts: StudioParts) {
    this.#parts = parts;
  }

  state(): StudioState {
    const { templatePath, samplePath, format, sampleBytes, store } = this.#parts;
    return {
      template: basename(templatePath),
      sample: basename(samplePath),
      format,
      sampleBytes,
      sampleRowsMax: this.#sampleRowsMax(false),
      ...store.read(),
    };
  }

  save(source: string, before: string): StoredTemplate {
    return this.#parts.store.save(source, before);
  }

  async look({ source, step, whole, head }: LookRequest): Promise<Looked> {
    const { format } = this.#parts;
    const checked = checkTemplate(source, format);
    if ('problems' in checked) {
      // The rows of the last sound text stay; only at the beginning there are none yet.
      const watched = this.#hasRows ? null : await this.#watchBare(BARE, head);
      return {
        problems: checked.problems,
        watched,
        failure: null,
        isStale: false,
        isHead: this.#isHead(head, watched),
      };
    }
    const watched = await this.#watch(source, format, { step, whole, head });
    if (watched === null) return { problems: [], watched: null, failure: null, isStale: true, isHead: false };
    if (watched.steps.length > 0) {
      this.#hasRows = true;
      return { problems: [], watched, failure: watched.failure, isStale: false, isHead: this.#isHead(head, watched) };
    }
    return await this.#lookAtFile(source, checked.template, watched, head);
  }

  rows(request: Omit<RowsRequest, 'kind'>): ReturnType<WatchThread['rows']> {
    return this.#parts.thread.rows(request);
  }

  trace(request: Omit<TraceRequest, 'kind'>): ReturnType<WatchThread['trace']> {
    return this.#parts.thread.trace(request);
  }

  stop(): void {
    this.#parts.thread.stop();
  }

  /** @param rows of the file, from 1. Throws NoTestError. */
  async makeTest(source: string, rows: readonly number[]): Promise<MadeTest> {
    const { templatePath, format, thread, runTest } = this.#parts;
    const found = await thread.sourceRows({ rows });
    if (found === null || found.rows.length === 0) throw new NoTestError('None of these rows is at hand.');
    return withGoldenTest({ path: templatePath, source, format }, found, runTest);
  }

  /** The Run did not come to the first row: the rows of the file alone, and where the Template asks for what is not there. */
  async #lookAtFile(source: string, template: Template, { failure }: Watched, head: boolean): Promise<Looked> {
    const parsed = parseTemplate(source, this.#parts.format);
    if ('problems' in parsed) throw new Error('a checked Template cannot be read');
    const { input } = parsed.text.root.value as { readonly input?: Readonly<Record<string, unknown>> };
    // They tell the header from the rows above it, and may all be missing.
    const columns = template.input.columns.map(({ name, match }) => ({ name, match, required: false }));
    const watched = await this.#watchBare({ ...BARE, input: { ...input, columns, other_columns: 'keep' } }, head);
    const isAboutColumns = failure?.code === 'TEMPLATE_COLUMNS_MISSING';
    const problems =
      isAboutColumns && watched !== null && watched.steps.length > 0
        ? sampleProblems(template, parsed.text, { headers: watched.headers })
        : [];
    return { problems, watched, failure, isStale: watched === null, isHead: this.#isHead(head, watched) };
  }

  async #watchBare(template: object, head: boolean): Promise<Watched | null> {
    const source = JSON.stringify(template);
    if ('problems' in checkTemplate(source, 'json')) return null;
    const watched = await this.#watch(source, 'json', { step: 0, whole: false, head });
    if (watched !== null) this.#hasRows = true;
    return watched;
  }

  #watch(
    source: string,
    format: TemplateFormat,
    { step, whole, head }: Omit<LookRequest, 'source'>,
  ): Promise<Watched | null> {
    const { samplePath, thread } = this.#parts;
    const rowsMax = this.#sampleRowsMax(whole) ?? Number.POSITIVE_INFINITY;
    // Throws where the file is gone by now.
    accessSync(samplePath, constants.R_OK);
    const sha256 = createHash('sha256').update(source).digest('hex');
    return thread.watch({
      template: { source, format, sha256 },
      path: samplePath,
      ending: extname(samplePath).slice(1).toLowerCase(),
      profiledStep: step,
      rowsMax: head ? Math.min(HEAD_ROWS_MAX, rowsMax) : Number.isFinite(rowsMax) ? rowsMax : null,
      pickedRows: null,
      startedAt: this.#startedAt,
    });
  }

  /** More rows are read when they are asked for without `head`. */
  #isHead(head: boolean, watched: Watched | null): boolean {
    return (
      head && watched?.isPartial === true && watched.rowsRead < (this.#sampleRowsMax(false) ?? Number.POSITIVE_INFINITY)
    );
  }

  #sampleRowsMax(whole: boolean): number | null {
    return whole || this.#parts.sampleBytes <= WHOLE_SAMPLE_BYTES_MAX ? null : SAMPLE_ROWS_MAX;
  }
}
