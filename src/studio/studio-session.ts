// The functions of a studio, independent of HTTP, and the rows of a large sample that it watches.

import { createHash } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { operationTable } from '../../workers/operations/index.ts';
import { sampleProblems } from '../../workers/plan/sample-problems.ts';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import { Failed } from '../../workers/protocol/failure.ts';
import { operationEntries } from '../../workers/template/operation-forms.ts';
import type { Problem, Template } from '../../workers/template/template.ts';
import { parseTemplate, type TemplateFormat, type TemplateText } from '../../workers/template/template-text.ts';
import type {
  RowsRequest,
  ShapesRequest,
  TraceRequest,
  Watched,
  WatchRequest,
} from '../../workers/watch/watch-messages.ts';
import { type SampleReading, SampleRefusedError, sheetNames } from '../drafts/sample-profile.ts';
import { type RunTest, runTests, type TemplateTest } from '../template-tests/run-tests.ts';
import { NoTestError, withGoldenTest } from './golden-test.ts';
import type { OpenedFiles } from './opened-files.ts';
import { RecoveryFiles } from './recovery-files.ts';
import { similarValues } from './similar-values.ts';
import {
  ABOVE_LIST,
  type Evaluation,
  type MadeTest,
  type OpenedTable,
  type ReadOperation,
  type RecoveredText,
  type RecoveryDecision,
  type SimilarityMethod,
  type SimilarValuesAnswer,
  type StudioState,
  type Suggestion,
  type TestedAnswer,
} from './studio-answers.ts';
import { suggestionRows, suggestionsFor } from './suggestions.ts';
import { SampleFile, SampleGoneError, type StoredTemplate, type TemplateStore } from './template-store.ts';
import { validPart, withMissingColumns } from './valid-part.ts';
import type { WatchThread } from './watch-thread.ts';
import { NoOutputError, type WholeOutput } from './whole-output.ts';

// Reads one operation of a Template's text, and single values in YAML, for the forms of the page.

/** The text, or the operation in it, cannot be read. */
export class OperationUnreadableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperationUnreadableError';
  }
}

/** @param item index in the list of operations */
export function readOperation(source: string, format: TemplateFormat, item: number): ReadOperation {
  const { operations } = rootOf(source, format);
  const entry = operationEntries(operations, '/operations', operationTable, () => {})[item];
  if (entry === undefined || entry.broken || !operationTable.has(entry.name)) {
    throw new OperationUnreadableError('This step has no form. Edit it in the text.');
  }
  const { op: _, ...parameters } = entry.value;
  return { name: entry.name, parameters };
}

/**
 * Reads a section of the text; the section may be absent.
 * @throws OperationUnreadableError if the text has mistakes, or if the section is not a mapping
 */
export function readSection(source: string, format: TemplateFormat, name: string): ReadOperation {
  const { [name]: section = {} } = rootOf(source, format);
  if (typeof section === 'object' && section !== null && !Array.isArray(section))
    return { name, parameters: section as ReadOperation['parameters'] };
  throw new OperationUnreadableError(`The section ${name} is not a mapping. Correct it in the text.`);
}

function rootOf(source: string, format: TemplateFormat): Readonly<Record<string, unknown>> {
  const parsed = parseTemplate(source, format);
  if (!('problems' in parsed)) return parsed.text.root.value as Readonly<Record<string, unknown>>;
  const [problem] = parsed.problems;
  throw new OperationUnreadableError(`Correct line ${problem!.line} of the text first: ${problem!.message}`);
}

/** The value that a text in YAML means. A mistake is an answer, because every text is wrong while it is typed. */
export function readValue(text: string): { readonly value: unknown } | { readonly mistake: string } {
  const parsed = parseTemplate(text, 'yaml');
  return 'problems' in parsed ? { mistake: parsed.problems[0]!.message } : { value: parsed.text.root.value };
}

// The functions of a studio, independent of HTTP, and the rows of a large sample that it watches.

// Selects the rows of a large sample that are watched in addition to the first ones: rows with cell shapes that the
// first rows do not have, found by a background thread that reads the whole file once, and rows that had errors in
// the last Run over the whole file. The selection is valid until the file changes.

/** Number of leading rows that are read if a sample is not read whole. */
export const SAMPLE_ROWS_MAX = 1_000;

export type ShapeScan = Omit<ShapesRequest, 'kind' | 'firstRows'>;

class SampleRows {
  readonly #openThread: () => WatchThread;
  readonly #onFault: (fault: unknown) => void;
  /** Version of the file that the rows below belong to. */
  #version = '';
  #shapes: readonly number[] = [];
  #rowsWithErrors: readonly number[] = [];
  /** Version of the file, and the settings for reading it, of the last scan for shapes. */
  #scanned = '';
  #scanning: WatchThread | null = null;
  /** Work in progress; each entry is removed when its thread has been closed. */
  readonly #underWay = new Set<Promise<void>>();
  #scansDone = 0;

  constructor(openThread: () => WatchThread, onFault: (fault: unknown) => void) {
    this.#openThread = openThread;
    this.#onFault = onFault;
  }

  /** Number of completed scans, each of which may have changed the selection. */
  get scansDone(): number {
    return this.#scansDone;
  }

  /** Source rows in ascending order; null: no rows besides the first ones. */
  picked(version: string): readonly number[] | null {
    this.#hold(version);
    const rows = new Set([...this.#shapes, ...this.#rowsWithErrors]);
    for (let row = 1; row <= SAMPLE_ROWS_MAX; row++) rows.add(row);
    return rows.size > SAMPLE_ROWS_MAX ? [...rows].sort((a, b) => a - b) : null;
  }

  /** @param rows source rows of the whole file */
  noteRowsWithErrors(version: string, rows: readonly number[]): void {
    this.#hold(version);
    this.#rowsWithErrors = rows;
  }

  /**
   * Scans for shapes, unless this version of the file was already scanned with these settings. Until the scan has
   * finished, the rows found with earlier settings are used.
   */
  scan(version: string, scan: ShapeScan): void {
    this.#hold(version);
    const key = `${version} ${scan.template.sha256}`;
    if (key === this.#scanned) return;
    this.#scanned = key;
    this.#follow(this.#findShapes(scan));
  }

  /** Resolves when all threads have ended and their folders are removed. */
  async close(): Promise<void> {
    this.#leave();
    await Promise.all(this.#underWay);
  }

  /** Abandons the current scan. */
  #leave(): void {
    const scanning = this.#scanning;
    this.#scanning = null;
    if (scanning !== null) this.#follow(scanning.close());
  }

  #follow(work: Promise<void>): void {
    const followed = work.catch(this.#onFault).finally(() => this.#underWay.delete(followed));
    this.#underWay.add(followed);
  }

  #hold(version: string): void {
    if (version === this.#version) return;
    this.#version = version;
    this.#shapes = [];
    this.#rowsWithErrors = [];
    this.#scanned = '';
    this.#leave();
  }

  async #findShapes(scan: ShapeScan): Promise<void> {
    this.#leave();
    const thread = this.#openThread();
    this.#scanning = thread;
    try {
      const rows = await thread.shapes({ ...scan, firstRows: SAMPLE_ROWS_MAX });
      if (this.#scanning !== thread || rows === null) return;
      this.#shapes = rows;
      this.#scansDone++;
    } finally {
      if (this.#scanning === thread) this.#scanning = null;
      await thread.close();
    }
  }
}

// The functions of a studio, independent of HTTP: checks a Template's text, watches it over the sample, creates
// tests, saves.

export interface StudioParts {
  readonly templatePath: string;
  readonly format: TemplateFormat;
  /** The sample at first. */
  readonly samplePath: string;
  /** Files that the page has sent, and all reference tables. */
  readonly files: OpenedFiles;
  readonly store: TemplateStore;
  readonly thread: WatchThread;
  /** Opens another thread, which scans a large sample in the background. */
  readonly openThread: () => WatchThread;
  /** Receives faults of background work. */
  readonly onFault: (fault: unknown) => void;
  readonly runTest: RunTest;
  /** Runs a valid Template over a whole file. Throws NoOutputError. */
  readonly runWhole: (template: TemplateText, path: string) => Promise<WholeOutput>;
  /** The text of a draft for a file. */
  readonly draft: (path: string) => Promise<string>;
  /** The text of a new Template for the sample, which is read with the settings of an `input` section. */
  readonly newDraft: (path: string, settings: SampleReading) => Promise<string>;
  /** Progress of the draft for the first sample. */
  readonly draftPercent: () => number;
}

export interface EvaluationRequest {
  /** The page that asks, and a number that never falls within one page. Null: the order of arrival counts. */
  readonly asked: { readonly page: string; readonly number: number } | null;
  readonly source: string;
  /** The columns are profiled after this many operations. */
  readonly step: number;
  /** Read all rows, even if normally only the first rows of the sample are read. */
  readonly whole: boolean;
  /** Read only the first rows, which are available at once. The page requests the rest after it has shown them. */
  readonly head: boolean;
  /** The page already shows rows, which stay while the text has problems. */
  readonly hasRows: boolean;
}

/** Samples up to this size are read completely after each change, in bytes. */
export const WHOLE_SAMPLE_BYTES_MAX = 16 * 1024 * 1024;

/** Rows of a head: the number of rows that the thread keeps for display after a step. */
export const HEAD_ROWS_MAX = 2_000;

/** A Template that shows the file if the actual Template cannot. */
const BARE = { format: 1, operations: [] };

/** The answer to a request that a later one has replaced. */
const STALE: Evaluation = {
  problems: [],
  mistakeItem: null,
  watched: null,
  failure: null,
  isStale: true,
  isHead: false,
};

/** Operations that read the whole file and keep no row. */
const READ_ALONE = [{ filter: { where: 'false' } }];

export class StudioSession {
  readonly #parts: StudioParts;
  #sample: SampleFile;
  readonly #recovery: RecoveryFiles;
  readonly #sampleRows: SampleRows;
  readonly #startedAt = new Date().toISOString();
  /** What the page shows. */
  #shown: Watched | null = null;
  /** The newest request for rows. */
  #newest: { readonly page: string; readonly number: number } = { page: '', number: 0 };

  constructor(parts: StudioParts) {
    this.#parts = parts;
    this.#sample = new SampleFile(parts.samplePath);
    this.#recovery = new RecoveryFiles(parts.templatePath);
    this.#sampleRows = new SampleRows(parts.openThread, parts.onFault);
  }

  state(): StudioState {
    const { templatePath, format, store, draftPercent } = this.#parts;
    const { bytes, version } = this.#sample.state;
    return {
      template: basename(templatePath),
      sample: basename(this.#sample.path),
      format,
      sampleBytes: bytes,
      sampleVersion: `${version} ${this.#sampleRows.scansDone}`,
      sampleRowsMax: bytes > WHOLE_SAMPLE_BYTES_MAX ? SAMPLE_ROWS_MAX : null,
      isDrafting: store.isDrafting,
      draftPercent: draftPercent(),
      ...store.read(),
    };
  }

  /** Reads another sample from now on. */
  async openSample(name: string, bytes: Readable): Promise<StudioState> {
    this.#sample = new SampleFile(await this.#parts.files.store(name, bytes));
    return this.state();
  }

  addTable(fileName: string, bytes: Readable): Promise<OpenedTable> {
    return this.#parts.files.addTable(fileName, bytes);
  }

  save(page: string, source: string, before: string): StoredTemplate {
    const saved = this.#parts.store.save(source, before);
    this.#recovery.remove(page);
    return saved;
  }

  /**
   * Returns a text that another page did not save, or null if there is none.
   * @param seen names of the texts about which the page has decided
   */
  recovered(page: string, seen: readonly string[]): RecoveredText | null {
    return this.#recovery.offered(page, this.#parts.store.read().source, seen);
  }

  /** Carries out the user's choice for a recovered text: `take` continues with it, `drop` deletes it. */
  decide(page: string, { does, name, source }: RecoveryDecision): void {
    if (does === 'take') this.#recovery.take(page, name, source);
    else this.#recovery.drop(name, source);
  }

  /**
   * Keeps the text of the page until it is saved. A text that is stored, or an untouched draft, needs no copy; null: the
   * page has no other text than the file.
   */
  keep(page: string, source: string | null): void {
    if (source === null || source === this.#parts.store.read().source) this.#recovery.remove(page);
    else this.#recovery.write(page, source);
  }

  async evaluate({ asked, source, step, whole, head, hasRows }: EvaluationRequest): Promise<Evaluation> {
    const { format } = this.#parts;
    if (this.#isOvertaken(asked)) return STALE;
    const checked = checkTemplate(source, format);
    const extent = this.#extent(whole, head);
    if ('problems' in checked)
      return await this.#evaluateValidPart(source, checked.problems, { step, hasRows }, extent);
    const watched = await this.#watch(source, format, step, extent);
    if (watched === null) return STALE;
    if (watched.steps.length === 0)
      return await this.#evaluateFileOnly(source, checked.template, watched, step, extent);
    if (extent.isLarge) {
      if (whole) this.#sampleRows.noteRowsWithErrors(extent.version, watched.rowsWithErrors);
      this.#scan(source, checked.template, extent);
    }
    const isHead = isCut(extent, watched);
    return { problems: [], mistakeItem: null, watched, failure: watched.failure, isStale: false, isHead };
  }

  /**
   * Shows the steps above the first mistake. If no step can be shown, the rows of the last valid text stay, and a page
   * without rows gets those of the file.
   */
  async #evaluateValidPart(
    source: string,
    problems: readonly Problem[],
    { step, hasRows }: Pick<EvaluationRequest, 'step' | 'hasRows'>,
    extent: Extent,
  ): Promise<Evaluation> {
    const part = validPart(source, this.#parts.format, problems);
    const above = part === null ? null : await this.#watch(part.source, 'json', Math.min(step, part.steps), extent);
    if (part !== null && above === null) return STALE;
    if (part !== null && above !== null && above.steps.length > 0) {
      const steps = above.steps.map((each) => ({
        ...each,
        line: each.pointer === null ? null : part.lineOf(each.pointer),
      }));
      // Without the output, the number of rows written and the end of a Run are unknown.
      const watched = { ...above, steps, rowsWritten: null };
      const { mistakeItem } = part;
      const names = above.steps[0]!.columns.map(({ name }) => name);
      const explained = withMissingColumns(source, this.#parts.format, problems, names);
      return { problems: explained, mistakeItem, watched, failure: null, isStale: false, isHead: isCut(extent, above) };
    }
    const watched = hasRows ? null : await this.#watchBare(BARE, extent);
    const mistakeItem = watched === null ? null : ABOVE_LIST;
    return { problems, mistakeItem, watched, failure: null, isStale: false, isHead: isCut(extent, watched) };
  }

  /** True if a later request of the same page arrived first, because browsers send requests over several connections. */
  #isOvertaken(asked: EvaluationRequest['asked']): boolean {
    if (asked === null) return false;
    const { page, number } = this.#newest;
    if (asked.page === page && asked.number < number) return true;
    this.#newest = asked;
    return false;
  }

  /** An operation of the text, for its form. Throws OperationUnreadableError. */
  operation(source: string, item: number): ReadOperation {
    return readOperation(source, this.#parts.format, item);
  }

  /** A section of the text, for its form. Throws OperationUnreadableError. */
  section(source: string, name: string): ReadOperation {
    return readSection(source, this.#parts.format, name);
  }

  /** A new Template for the sample. Throws SampleRefusedError or Failed. */
  async newDraft(settings: SampleReading): Promise<{ readonly source: string }> {
    return { source: await this.#parts.newDraft(this.#sample.path, settings) };
  }

  /** Names of the sheets of the sample. Empty if the sample is not a workbook or cannot be read. */
  async sheets(): Promise<readonly string[]> {
    try {
      return await sheetNames(this.#sample.path);
    } catch {
      // The page shows the reason where it would show the rows of the sample.
      return [];
    }
  }

  rows(request: Omit<RowsRequest, 'kind'>): ReturnType<WatchThread['rows']> {
    return this.#parts.thread.rows(request);
  }

  trace(request: Omit<TraceRequest, 'kind'>): ReturnType<WatchThread['trace']> {
    return this.#parts.thread.trace(request);
  }

  /** Suggestions for the columns after a step of the Run that is shown. */
  async suggestions(step: number): Promise<readonly Suggestion[]> {
    const columns = this.#shown?.steps[step]?.columns ?? [];
    const request = { step, filter: 'all', from: 0, count: suggestionRows(columns.length) } as const;
    const found = await this.#parts.thread.rows(request);
    if (found === null || found.rows[0]?.cells.length !== columns.length) return [];
    try {
      return await suggestionsFor({ columns, rows: found.rows.map(({ cells }) => cells) }, this.#parts.draft);
    } catch (error) {
      // A page without suggestions is better than no page. Rows that cannot be read again as a file are not a fault.
      if (!(error instanceof SampleRefusedError || error instanceof Failed)) this.#parts.onFault(error);
      return [];
    }
  }

  /** Groups of similar values of a column, from the rows that are shown. */
  async similar(step: number, column: number, method: SimilarityMethod): Promise<SimilarValuesAnswer> {
    const found = await this.#parts.thread.rows({ step, filter: 'all', from: 0, count: HEAD_ROWS_MAX });
    return similarValues(
      (found?.rows ?? []).map(({ cells }) => cells[column] ?? null),
      method,
    );
  }

  /** Runs the tests of the text. Files of tests are beside the Template. Throws NoTestError. */
  async runTests(source: string): Promise<readonly TestedAnswer[]> {
    const { templatePath, format, runTest } = this.#parts;
    const checked = checkTemplate(source, format);
    if ('problems' in checked) throw new NoTestError('The Template has problems. Correct them first.');
    const tests = checked.template.tests as readonly TemplateTest[];
    const read = async (name: string): Promise<Uint8Array | string> => {
      try {
        return await readFile(resolve(dirname(templatePath), name));
      } catch (error) {
        return `cannot be read: ${(error as Error).message}`;
      }
    };
    return await runTests({ source, format, tests, read }, runTest);
  }

  /** The output of the text for the whole sample. Throws NoOutputError. */
  async output(source: string): Promise<WholeOutput> {
    const { format, runWhole } = this.#parts;
    const checked = checkTemplate(source, format);
    if ('problems' in checked)
      throw new NoOutputError('TEMPLATE_INVALID', 'The Template has problems. Correct them first.');
    if (this.#sample.isGone) throw new SampleGoneError();
    return await runWhole(templateText(source, format), this.#sample.path);
  }

  stop(): void {
    this.#parts.thread.stop();
  }

  /** Does not close the main thread, which belongs to the caller. */
  close(): Promise<void> {
    return this.#sampleRows.close();
  }

  /** @param rows row numbers of the file, from 1. Throws NoTestError. */
  async makeTest(source: string, rows: readonly number[]): Promise<MadeTest> {
    const { templatePath, format, thread, runTest } = this.#parts;
    const found = await thread.sourceRows({ rows });
    if (found === null || found.rows.length === 0)
      throw new NoTestError('None of these rows can be read again from the sample.');
    return withGoldenTest({ path: templatePath, source, format }, found, runTest);
  }

  /**
   * Used if the Run failed before the first row. Shows the rows of the file only, and marks where the Template asks
   * for columns that do not exist.
   */
  async #evaluateFileOnly(
    source: string,
    template: Template,
    { failure }: Watched,
    step: number,
    extent: Extent,
  ): Promise<Evaluation> {
    const { text, input } = this.#reading(source, template);
    const watched = await this.#watchBare({ ...BARE, input }, extent);
    const isAboutColumns = failure?.code === 'TEMPLATE_COLUMNS_MISSING';
    const problems =
      isAboutColumns && watched !== null && watched.steps.length > 0
        ? sampleProblems(template, text, { headers: watched.headers })
        : [];
    if (problems.length > 0 && problems.every(({ pointer }) => pointer.startsWith('/operations/')))
      return { ...(await this.#evaluateValidPart(source, problems, { step, hasRows: false }, extent)), failure };
    const isHead = isCut(extent, watched);
    const mistakeItem = watched === null ? null : ABOVE_LIST;
    return { problems, mistakeItem, watched, failure, isStale: watched === null, isHead };
  }

  /** The settings with which a Template reads the file, without its requirements on columns. */
  #reading(source: string, template: Template) {
    const parsed = parseTemplate(source, this.#parts.format);
    if ('problems' in parsed) throw new Error('a checked Template cannot be read');
    const { input } = parsed.text.root.value as { readonly input?: Readonly<Record<string, unknown>> };
    // Column names help header detection to distinguish the header from the rows above it, but no column is required.
    const columns = template.input.columns.map(({ name, match }) => ({ name, match, required: false }));
    return { text: parsed.text, input: { ...input, columns, other_columns: 'keep' } };
  }

  /** Scans a large sample for unusual rows in the background, after the rows of this request have been read. */
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

  async #watch(source: string, format: TemplateFormat, step: number, extent: Extent): Promise<Watched | null> {
    const { thread } = this.#parts;
    if (this.#sample.isGone) throw new SampleGoneError();
    // Throws a system error if the sample may not be read.
    accessSync(this.#sample.path, constants.R_OK);
    const { rowsMax, pickedRows } = rowsOf(extent);
    const template = templateText(source, format);
    const watched = await thread.watch({ template, profiledStep: step, rowsMax, pickedRows, ...this.#file() });
    this.#shown = watched ?? this.#shown;
    return watched;
  }

  #file() {
    const { path } = this.#sample;
    const { tables } = this.#parts.files;
    return { path, ending: extname(path).slice(1).toLowerCase(), tables, startedAt: this.#startedAt };
  }

  #extent(isWhole: boolean, isHead: boolean): Extent {
    const { bytes, version } = this.#sample.state;
    const isLarge = bytes > WHOLE_SAMPLE_BYTES_MAX;
    return { isLarge, isWhole, isHead, version, picked: isLarge ? this.#sampleRows.picked(version) : null };
  }
}

/** The part of the sample that a request reads. */
interface Extent {
  readonly isLarge: boolean;
  readonly isWhole: boolean;
  readonly isHead: boolean;
  /** Version of the file. */
  readonly version: string;
  /** See SampleRows. */
  readonly picked: readonly number[] | null;
}

function rowsOf({ isLarge, isWhole, isHead, picked }: Extent): Pick<WatchRequest, 'rowsMax' | 'pickedRows'> {
  if (isHead) return { rowsMax: isLarge ? SAMPLE_ROWS_MAX : HEAD_ROWS_MAX, pickedRows: null };
  if (isWhole || !isLarge) return { rowsMax: null, pickedRows: null };
  return picked === null ? { rowsMax: SAMPLE_ROWS_MAX, pickedRows: null } : { rowsMax: null, pickedRows: picked };
}

/** True if a request without `head` would read more rows. */
function isCut({ isLarge, isHead, picked }: Extent, watched: Watched | null): boolean {
  return isHead && watched?.isPartial === true && (!isLarge || picked !== null);
}

function templateText(source: string, format: TemplateFormat): TemplateText {
  return { source, format, sha256: createHash('sha256').update(source).digest('hex') };
}
