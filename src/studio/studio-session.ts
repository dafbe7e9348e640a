// What a studio does, without HTTP: checks a Template's text, watches it over the sample, makes tests, saves.
import { createHash } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { basename, extname } from 'node:path';
import { checkTemplate } from '../../workers/plan/check-template.ts';
import { sampleProblems } from '../../workers/plan/sample-problems.ts';
import type { Template } from '../../workers/template/template.ts';
import { parseTemplate, type TemplateFormat, type TemplateText } from '../../workers/template/template-text.ts';
import type { RowsRequest, TraceRequest, Watched, WatchRequest } from '../../workers/watch/watch-messages.ts';
import type { RunTest } from '../template-tests/run-tests.ts';
import { NoTestError, withGoldenTest } from './golden-test.ts';
import { SampleFile, SampleGoneError } from './sample-file.ts';
import { SAMPLE_ROWS_MAX, SampleRows } from './sample-rows.ts';
import type { Looked, MadeTest, StudioState } from './studio-answers.ts';
import type { StoredTemplate, TemplateStore } from './template-store.ts';
import type { WatchThread } from './watch-thread.ts';

export interface StudioParts {
  readonly templatePath: string;
  readonly format: TemplateFormat;
  readonly samplePath: string;
  readonly store: TemplateStore;
  readonly thread: WatchThread;
  /** Another thread, which looks through a large sample in the background. */
  readonly openThread: () => WatchThread;
  /** What went wrong in the background. */
  readonly onFault: (fault: unknown) => void;
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
  /** The page shows rows, which stay while a text has problems. */
  readonly hasRows: boolean;
}

/** Up to here a sample is read to its end at each change, in bytes. */
export const WHOLE_SAMPLE_BYTES_MAX = 16 * 1024 * 1024;

/** Rows of a head: as many as the thread keeps to be shown behind a step. */
export const HEAD_ROWS_MAX = 2_000;

/** What shows the file where a Template cannot. */
const BARE = { format: 1, operations: [] };

/** What reads all of a file and keeps nothing of it. */
const READ_ALONE = [{ filter: { where: 'false' } }];

export class StudioSession {
  readonly #parts: StudioParts;
  readonly #sample: SampleFile;
  readonly #sampleRows: SampleRows;
  readonly #startedAt = new Date().toISOString();

  constructor(parts: StudioParts) {
    this.#parts = parts;
    this.#sample = new SampleFile(parts.samplePath);
    this.#sampleRows = new SampleRows(parts.openThread, parts.onFault);
  }

  state(): StudioState {
    const { templatePath, samplePath, format, store } = this.#parts;
    const { bytes, version } = this.#sample.state;
    return {
      template: basename(templatePath),
      sample: basename(samplePath),
      format,
      sampleBytes: bytes,
      sampleVersion: `${version} ${this.#sampleRows.scansDone}`,
      sampleRowsMax: bytes > WHOLE_SAMPLE_BYTES_MAX ? SAMPLE_ROWS_MAX : null,
      ...store.read(),
    };
  }

  save(source: string, before: string): StoredTemplate {
    return this.#parts.store.save(source, before);
  }

  async look({ source, step, whole, head, hasRows }: LookRequest): Promise<Looked> {
    const { format } = this.#parts;
    const checked = checkTemplate(source, format);
    const extent = this.#extent(whole, head);
    if ('problems' in checked) {
      // The rows of the last sound text stay; only a page that is new has none yet.
      const watched = hasRows ? null : await this.#watchBare(BARE, extent);
      const isHead = isCut(extent, watched);
      return { problems: checked.problems, watched, failure: null, isStale: false, isHead };
    }
    const watched = await this.#watch(source, format, step, extent);
    if (watched === null) return { problems: [], watched: null, failure: null, isStale: true, isHead: false };
    if (watched.steps.length === 0) return await this.#lookAtFile(source, checked.template, watched, extent);
    if (extent.isLarge) {
      if (whole) this.#sampleRows.noteTroubled(extent.version, watched.troubledRows);
      this.#scan(source, checked.template, extent);
    }
    const isHead = isCut(extent, watched);
    return { problems: [], watched, failure: watched.failure, isStale: false, isHead };
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

  /** The thread that it was given stays its owner's. */
  close(): Promise<void> {
    return this.#sampleRows.close();
  }

  /** @param rows of the file, from 1. Throws NoTestError. */
  async makeTest(source: string, rows: readonly number[]): Promise<MadeTest> {
    const { templatePath, format, thread, runTest } = this.#parts;
    const found = await thread.sourceRows({ rows });
    if (found === null || found.rows.length === 0) throw new NoTestError('None of these rows is at hand.');
    return withGoldenTest({ path: templatePath, source, format }, found, runTest);
  }

  /** The Run did not come to the first row: the rows of the file alone, and where the Template asks for what is not there. */
  async #lookAtFile(source: string, template: Template, { failure }: Watched, extent: Extent): Promise<Looked> {
    const { text, input } = this.#reading(source, template);
    const watched = await this.#watchBare({ ...BARE, input }, extent);
    const isAboutColumns = failure?.code === 'TEMPLATE_COLUMNS_MISSING';
    const problems =
      isAboutColumns && watched !== null && watched.steps.length > 0
        ? sampleProblems(template, text, { headers: watched.headers })
        : [];
    return { problems, watched, failure, isStale: watched === null, isHead: isCut(extent, watched) };
  }

  /** How a Template reads the file, without what it asks for. */
  #reading(source: string, template: Template) {
    const parsed = parseTemplate(source, this.#parts.format);
    if ('problems' in parsed) throw new Error('a checked Template cannot be read');
    const { input } = parsed.text.root.value as { readonly input?: Readonly<Record<string, unknown>> };
    // They tell the header from the rows above it, and may all be missing.
    const columns = template.input.columns.map(({ name, match }) => ({ name, match, required: false }));
    return { text: parsed.text, input: { ...input, columns, other_columns: 'keep' } };
  }

  /** Looks for odd rows of a large sample in the background: those of this look are shown by now. */
  #scan(source: string, template: Template, { version }: Extent): void {
    const { input } = this.#reading(source, template);
    const alone = JSON.stringify({ ...BARE, operations: READ_ALONE, input });
    if ('problems' in checkTemplate(alone, 'json')) return;
    this.#sampleRows.scan(version, { template: templateText(alone, 'json'), ...this.#file() });
  }

  async #watchBare(template: object, extent: Extent): Promise<Watched | null> {
    const source = JSON.stringify(template);
    if ('problems' in checkTemplate(source, 'json')) return null;
    return await this.#watch(source, 'json', 0, { ...extent, isWhole: false });
  }

  #watch(source: string, format: TemplateFormat, step: number, extent: Extent): Promise<Watched | null> {
    const { samplePath, thread } = this.#parts;
    if (this.#sample.isGone) throw new SampleGoneError();
    // Throws a system error where it may not be read.
    accessSync(samplePath, constants.R_OK);
    const { rowsMax, pickedRows } = rowsOf(extent);
    const template = templateText(source, format);
    return thread.watch({ template, profiledStep: step, rowsMax, pickedRows, ...this.#file() });
  }

  #file() {
    const { samplePath: path } = this.#parts;
    return { path, ending: extname(path).slice(1).toLowerCase(), startedAt: this.#startedAt };
  }

  #extent(isWhole: boolean, isHead: boolean): Extent {
    const { bytes, version } = this.#sample.state;
    const isLarge = bytes > WHOLE_SAMPLE_BYTES_MAX;
    return { isLarge, isWhole, isHead, version, picked: isLarge ? this.#sampleRows.picked(version) : null };
  }
}

/** How much of the sample a look is to read. */
interface Extent {
  readonly isLarge: boolean;
  readonly isWhole: boolean;
  readonly isHead: boolean;
  /** Of the file. */
  readonly version: string;
  /** See SampleRows. */
  readonly picked: readonly number[] | null;
}

function rowsOf({ isLarge, isWhole, isHead, picked }: Extent): Pick<WatchRequest, 'rowsMax' | 'pickedRows'> {
  if (isHead) return { rowsMax: isLarge ? SAMPLE_ROWS_MAX : HEAD_ROWS_MAX, pickedRows: null };
  if (isWhole || !isLarge) return { rowsMax: null, pickedRows: null };
  return picked === null ? { rowsMax: SAMPLE_ROWS_MAX, pickedRows: null } : { rowsMax: null, pickedRows: picked };
}

/** More rows are read when they are asked for without `isHead`. */
function isCut({ isLarge, isHead, picked }: Extent, watched: Watched | null): boolean {
  return isHead && watched?.isPartial === true && (!isLarge || picked !== null);
}

function templateText(source: string, format: TemplateFormat): TemplateText {
  return { source, format, sha256: createHash('sha256').update(source).digest('hex') };
}
