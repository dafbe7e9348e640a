// The state of the page and everything that changes it: the text, its result and the chosen step. All requests to the
// server start here.
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Problem } from '../../../workers/template/template.ts';
import type { RowFilter, TracedCell, Watched, WatchedRow, WatchedStep } from '../../../workers/watch/watch-messages.ts';
import type {
  Evaluation,
  Language,
  MadeTest,
  OpenedTable,
  RecoveredText,
  StudioState,
  TestedAnswer,
} from '../studio-answers.ts';
import { AskError, ask, askFile, messageOf, saveFile, sendFile } from './ask.ts';
import { itemOfRunning, operationList } from './operation-list.ts';
import { type Facet, itemOf, type OpenMenu, type OtherText, type Reviewed, type Traced } from './page-parts.ts';
import { keptSignal } from './panes.tsx';
import { TextHistory } from './text-history.ts';
import { TextKeeper } from './text-keeper.ts';

/** Delay between the last keystroke and the evaluation of the text, in milliseconds. */
const PAUSE_MILLISECONDS = 120;

/** Interval between checks whether another program has changed the file, in milliseconds. */
const POLL_MILLISECONDS = 3_000;

const PROGRESS_MILLISECONDS = 300;

/** Interval between questions whether the draft is ready, in milliseconds. */
const DRAFT_MILLISECONDS = 500;

export class Studio {
  readonly file: StudioState;
  /** Name of the sample's file. */
  readonly sample: Signal<string>;
  /** Number of leading sample rows that are read unless all rows are requested; null: all rows. */
  readonly sampleRowsMax: Signal<number | null>;
  readonly language: Language;
  readonly text: Signal<string>;
  readonly history: TextHistory;
  readonly isHistoryShown = signal(false);
  readonly saved: Signal<OtherText>;
  readonly problems = signal<readonly Problem[]>([]);
  /** Index of the first operation with a mistake; only the steps above it are live. Null: none. */
  readonly mistakeItem = signal<number | null>(null);
  /** True if the rows are those of an earlier text, because the mistake is above all steps. */
  readonly isOld = signal(false);
  /** Offset of the text that is to be shown, for example of a step with a mistake. */
  readonly shownOffset = signal<number | null>(null);
  readonly failure = signal<Evaluation['failure']>(null);
  readonly watched = signal<Watched | null>(null);
  /** Only the head of the sample has been watched so far; the rest is being fetched. */
  readonly isHead = signal(false);
  /** Number of watched results. Rows of an earlier result must be fetched again. */
  readonly version = signal(0);
  readonly step: Signal<number>;
  readonly filter = signal<RowFilter>('all');
  /** Results of the tests; null: not shown. */
  readonly tested = signal<readonly TestedAnswer[] | null>(null);
  /** True while the tests or the whole file are run. */
  readonly isRunning = signal(false);
  /** Widths of columns that the user has changed, by name, in pixels. */
  readonly widths = keptSignal<Readonly<Record<string, number>>>('widths', {});
  readonly facet = signal<Facet | null>(null);
  readonly isBusy = signal(false);
  readonly rowsRead = signal(0);
  readonly traced = signal<Traced | null>(null);
  /** The menu of a column, or of a cell, that is open. */
  readonly menu = signal<OpenMenu | null>(null);
  /** Column whose profile is open. */
  readonly profiled = signal<number | null>(null);
  /** How the similar values in the open profile are found; null: they are not shown. */
  readonly reviewed = signal<Reviewed | null>(null);
  /** Names of the columns whose headers are selected. */
  readonly selected = signal<ReadonlySet<string>>(new Set());
  readonly marked = signal<ReadonlySet<number>>(new Set());
  readonly message = signal('');
  /** The version that another program has written while the text here has unsaved changes. */
  readonly other = signal<OtherText | null>(null);
  /** A text with an edit that is not applied yet; null: no preview. */
  readonly preview = signal<string | null>(null);
  /** Problems of the preview. */
  readonly previewProblems = signal<readonly Problem[]>([]);
  readonly keeper: TextKeeper;
  /** False: the file of the Template does not exist yet. */
  readonly isStored: Signal<boolean>;
  /** True while the server makes a draft. */
  readonly isDrafting: Signal<boolean>;
  readonly draftPercent: Signal<number>;
  readonly isChanged: ReadonlySignal<boolean> = computed(() => this.text.value !== this.saved.value.source);
  readonly chosen: ReadonlySignal<WatchedStep | null> = computed(
    () => this.watched.value?.steps[this.step.value] ?? this.watched.value?.steps.at(-1) ?? null,
  );
  readonly #page: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of requests for rows. Only the answer to the last one is shown. */
  #asked = 0;
  /** The request for rows that the user has stopped. */
  #stopped = 0;
  /** Number of requests for the trace of a cell or the profile of a column. Only the last one is shown. */
  #detailsAsked = 0;
  /** Another page has ended the last request of this page. */
  #isReplaced = false;
  /** Number of saves that have begun. */
  #saves = 0;
  /** Number of samples that this page has opened. */
  #samplesOpened = 0;
  /** The result of the test that is being made, see `#makeTest`; null: no test is being made. */
  #testInWork: Promise<string | null> | null = null;
  /** Number of saves that wait for their answer. */
  #runningSaves = 0;
  /** True while the message is an error, which is cleared when rows arrive again. */
  #isErrorShown = false;
  #chosenStep: number;
  /** Version of the sample whose rows were watched last. Rows of a whole sample stay until it or the text changes. */
  #sampleVersion: string;
  /** The text whose rows are shown; null: no valid text so far. */
  #shownSource: string | null = null;

  static async open(): Promise<Studio> {
    const page = crypto.randomUUID();
    const [file, language, recovered] = await Promise.all([
      ask<StudioState>('GET /api/state'),
      ask<Language>('GET /api/language'),
      ask<RecoveredText | null>('POST /api/recovered', { page, seen: [] }),
    ]);
    return new Studio(page, file, language, recovered);
  }

  constructor(page: string, file: StudioState, language: Language, recovered: RecoveredText | null) {
    this.#page = page;
    this.file = file;
    this.isStored = signal(file.isStored);
    this.isDrafting = signal(file.isDrafting);
    this.draftPercent = signal(file.draftPercent);
    if (file.isDrafting) this.#waitForDraft();
    this.keeper = new TextKeeper(page, recovered, (error) => this.#showError(error));
    this.sample = signal(file.sample);
    this.sampleRowsMax = signal(file.sampleRowsMax);
    this.#sampleVersion = file.sampleVersion;
    this.language = language;
    this.text = signal(file.source);
    this.history = new TextHistory(file.source);
    // The page begins with the result, because most new steps follow the last one.
    this.#chosenStep = operationList(file.source).items.filter(({ isOff }) => !isOff).length;
    this.step = signal(this.#chosenStep);
    // An unsaved draft differs from the file, because the file does not exist yet.
    this.saved = signal({ source: file.isStored ? file.source : '', sha256: file.sha256 });
    void this.evaluate();
    setInterval(() => void this.#poll(), POLL_MILLISECONDS);
  }

  /**
   * Takes over a text.
   * @param label name of the change in the history; null: it comes from the editor
   */
  write(text: string, label: string | null): void {
    if (text === this.text.value) return;
    this.history.note(text, label);
    this.#show(text);
  }

  undo(): void {
    if (this.history.canUndo.value) this.goTo(this.history.current.value - 1);
  }

  redo(): void {
    if (this.history.canRedo.value) this.goTo(this.history.current.value + 1);
  }

  /** Shows a version of the history, given by its index. */
  goTo(index: number): void {
    const version = this.history.versions.value[index];
    if (version === undefined) return;
    this.history.current.value = index;
    if (version.text !== this.text.value) this.#show(version.text);
  }

  #show(text: string): void {
    this.text.value = text;
    this.message.value = '';
    this.#keep();
    this.#evaluateSoon();
  }

  /** Keeps only changes by the user, not a text that another program has written or that equals the file. */
  #keep(): void {
    this.keeper.keep(this.isChanged.value ? this.text.value : null);
  }

  /**
   * Shows the rows of a text without taking it over, after the step `step`. Null ends the preview.
   */
  showPreview(text: string | null, step: number): void {
    if (text === this.preview.value && step === this.#chosenStep) return;
    batch(() => {
      this.preview.value = text;
      this.previewProblems.value = [];
      this.#chosenStep = step;
      this.filter.value = 'all';
      this.facet.value = null;
    });
    this.#evaluateSoon();
  }

  #evaluateSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.evaluate(), PAUSE_MILLISECONDS);
  }

  async evaluate(whole = false): Promise<void> {
    const asked = ++this.#asked;
    this.isBusy.value = true;
    const progress = setInterval(() => void this.#askProgress(), PROGRESS_MILLISECONDS);
    try {
      const source = this.preview.value ?? this.text.value;
      // If the rows of this text are already shown, fetching only the head would show fewer rows.
      const isHeadAsked = !whole && source !== this.#shownSource;
      const evaluation = await this.#requestEvaluation(asked, source, { whole, head: isHeadAsked });
      if (asked === this.#asked && evaluation.isHead)
        await this.#requestEvaluation(asked, source, { whole, head: false });
    } catch (error) {
      this.#showError(error);
    } finally {
      clearInterval(progress);
      if (asked === this.#asked) this.isBusy.value = false;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = this.#asked;
    await ask('POST /api/stop', {});
    this.message.value = 'Stopped.';
  }

  choose(step: number): void {
    this.#chosenStep = step;
    if (step === this.step.value) return;
    batch(() => {
      this.step.value = step;
      this.filter.value = 'all';
      this.facet.value = null;
      this.profiled.value = null;
    });
    void this.evaluate();
  }

  /** Chooses a step that the text has only now: its rows are on the way. */
  expectStep(step: number): void {
    this.#chosenStep = step;
  }

  /** Index in the list of operations, and number of the step, of a new operation: it follows the chosen step. */
  placeOfNewStep(): { readonly item: number; readonly step: number } {
    const { items } = operationList(this.text.value);
    const steps = this.watched.value?.steps ?? [];
    // While the rows of the last change are on the way, only the text has the chosen step.
    const isPending = this.preview.value === null && this.#chosenStep !== this.step.value;
    const chosen = isPending ? this.#chosenStep : this.step.value;
    const item = chosen === 0 ? -1 : isPending ? itemOfRunning(items, chosen) : itemOf(steps[chosen]);
    if (item !== null) return { item: item + 1, step: chosen + 1 };
    const running = items.filter(({ isOff }) => !isOff).length;
    return { item: items.length, step: Math.max(running + 1, steps.length) };
  }

  /** Marks a row for a test. Tests consist of rows of the file, so rows added by an operation cannot be marked. */
  mark({ fileRow }: WatchedRow): void {
    if (fileRow === null) return;
    const marked = new Set(this.marked.value);
    if (!marked.delete(fileRow)) marked.add(fileRow);
    this.marked.value = marked;
  }

  /** Selects a column besides the others, or not any more. */
  selectColumn(name: string): void {
    const selected = new Set(this.selected.value);
    if (!selected.delete(name)) selected.add(name);
    this.selected.value = selected;
  }

  selectColumns(names: readonly string[]): void {
    this.selected.value = new Set(names);
  }

  /** While a text of another page is offered, nothing is saved: it may be wanted. A test in work is saved too. */
  async save(): Promise<void> {
    if (this.keeper.recovered.peek() !== null) return;
    const testError = await this.#testInWork;
    const source = this.text.value;
    this.#saves++;
    this.#runningSaves++;
    try {
      const saved = await ask<OtherText>('PUT /api/template', {
        page: this.#page,
        source,
        sha256: this.saved.value.sha256,
      });
      this.saved.value = { source, sha256: saved.sha256 };
      this.isStored.value = true;
      // The server has removed the copy, but the text may have changed meanwhile.
      this.#keep();
      this.message.value = testError === null ? 'Saved.' : `Saved without the test. ${testError}`;
    } catch (error) {
      const { source: theirs, sha256 } = error instanceof AskError ? error.body : {};
      if (theirs !== undefined && sha256 !== undefined) this.#takeOther({ source: theirs, sha256 });
      else this.#showError(error);
    } finally {
      this.#runningSaves--;
    }
  }

  /** Adds a test of the marked rows to the text. Does not save it. */
  async addTest(): Promise<void> {
    await this.#run('The test is being made…', async () => {
      this.#testInWork = this.#makeTest();
      const error = await this.#testInWork;
      this.#testInWork = null;
      return error ?? this.message.value;
    });
  }

  /** @returns why there is no new test; null: the text contains it */
  async #makeTest(): Promise<string | null> {
    const rows = [...this.marked.value].sort((a, b) => a - b);
    const source = this.text.value;
    try {
      const made = await ask<MadeTest>('POST /api/test', { source, rows });
      if (this.text.value !== source) return 'The text has changed while the test was made. Add the test again.';
      this.write(made.source, `Add the test "${made.name}"`);
      this.shownOffset.value = made.source.lastIndexOf('\n', made.source.lastIndexOf(made.name)) + 1;
      this.marked.value = new Set();
      this.message.value = `Added the test "${made.name}". Look at it, then save.`;
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Runs the tests of the text, and shows their results. */
  async runTests(): Promise<void> {
    await this.#run('The tests are running…', async () => {
      const tested = await ask<readonly TestedAnswer[]>('POST /api/run-tests', { source: this.text.value });
      this.closeDetails();
      this.tested.value = tested;
      const failed = tested.filter(({ passed }) => !passed).length;
      if (tested.length === 0) return 'The Template has no tests. Mark rows with Space, then press + Test.';
      return failed === 0 ? 'All tests passed.' : `${failed} of ${tested.length} tests failed.`;
    });
  }

  /** Runs the whole sample, and saves the output as a file of the browser. */
  async download(): Promise<void> {
    await this.#run('The whole file is running…', async () => {
      const { blob, ending } = await askFile('/api/output', { source: this.text.value });
      const name = `${this.sample.value.replace(/\.[^.]*$/, '')}-output.${ending}`;
      saveFile(blob, name);
      return `The output is saved as ${name}.`;
    });
  }

  /** Shows the rows of another sample, which the server copies. */
  async openSample(file: File): Promise<void> {
    await this.#run(`${file.name} is being opened…`, async () => {
      const state = await sendFile<StudioState>('/api/sample', file);
      this.#samplesOpened++;
      this.#sampleVersion = state.sampleVersion;
      this.#takeSample(state);
      void this.evaluate();
      return `The sample is ${state.sample} now.`;
    });
  }

  #takeSample({ sample, sampleRowsMax }: StudioState): void {
    this.#shownSource = null;
    batch(() => {
      this.sample.value = sample;
      this.sampleRowsMax.value = sampleRowsMax;
      // They are rows of the other sample.
      this.marked.value = new Set();
      this.facet.value = null;
      this.closeDetails();
    });
  }

  /** Makes a file a reference table. Null: it cannot be read, or something else is running. */
  async addTable(file: File): Promise<OpenedTable | null> {
    let table: OpenedTable | null = null;
    await this.#run(`${file.name} is being opened…`, async () => {
      table = await sendFile<OpenedTable>('/api/table', file);
      return `The table "${table.name}" is known until the studio ends. For other commands, keep it as ${table.name}.csv in a folder, and name the folder with --tables.`;
    });
    return table;
  }

  /** @param work returns the message for its end */
  async #run(begins: string, work: () => Promise<string>): Promise<void> {
    if (this.isRunning.value) {
      this.message.value = 'Something else is running. Try again after its end.';
      return;
    }
    this.isRunning.value = true;
    this.message.value = begins;
    try {
      this.message.value = await work();
    } catch (error) {
      this.#showError(error);
    } finally {
      this.isRunning.value = false;
    }
  }

  async trace({ sourceRow, repeat, fileRow }: WatchedRow, columnId: number, column: string): Promise<void> {
    const asked = ++this.#detailsAsked;
    try {
      const steps = await ask<readonly TracedCell[] | null>('POST /api/trace', { sourceRow, repeat, columnId });
      if (asked !== this.#detailsAsked) return;
      batch(() => {
        this.#hideDetails();
        this.traced.value = steps === null ? null : { fileRow, column, steps };
      });
    } catch (error) {
      this.#showError(error);
    }
  }

  /** True if the pane beside the table has something to show besides forms. */
  get hasDetails(): boolean {
    const details = [this.traced.value, this.profiled.value, this.tested.value];
    return this.isHistoryShown.value || details.some((shown) => shown !== null);
  }

  /** @param column its index after the chosen step */
  showProfile(column: number, reviewed: Reviewed | null = null): void {
    this.#detailsAsked++;
    batch(() => {
      this.#hideDetails();
      this.profiled.value = column;
      this.reviewed.value = reviewed;
    });
  }

  /** Shows the history, or hides it. */
  showHistory(): void {
    const isShown = this.isHistoryShown.value;
    this.closeDetails();
    this.isHistoryShown.value = !isShown;
  }

  closeDetails(): void {
    this.#detailsAsked++;
    batch(() => this.#hideDetails());
  }

  #hideDetails(): void {
    this.traced.value = null;
    this.tested.value = null;
    this.profiled.value = null;
    this.isHistoryShown.value = false;
  }

  /** Takes over the text that another page did not save. Undo restores the previous text. */
  async restore(): Promise<void> {
    const recovered = this.keeper.recovered.value;
    if (recovered === null) return;
    await this.keeper.decide('take');
    this.write(recovered.source, 'Restore the unsaved text');
    this.message.value = 'The unsaved text is back. Save it to keep it.';
  }

  /** Replaces the text with the version of the other program. The replaced text can be restored with undo. */
  takeTheirs(): void {
    const other = this.other.value;
    if (other === null) return;
    batch(() => {
      this.saved.value = other;
      this.other.value = null;
    });
    this.write(other.source, 'Take the text of another program');
  }

  /** Keeps the text here; the next save overwrites the version of the other program. */
  keepMine(): void {
    const other = this.other.value;
    if (other === null) return;
    batch(() => {
      this.saved.value = other;
      this.other.value = null;
      this.message.value = 'Your text is kept. Save it to overwrite the text of the other program.';
    });
  }

  async #requestEvaluation(
    number: number,
    source: string,
    extent: { readonly whole: boolean; readonly head: boolean },
  ): Promise<Evaluation> {
    const hasRows = this.watched.value !== null;
    const request = { page: this.#page, number, source, step: this.#chosenStep, hasRows, ...extent };
    const evaluation = await ask<Evaluation>('POST /api/evaluate', request);
    if (number !== this.#asked) return evaluation;
    this.#isReplaced = evaluation.isStale && number !== this.#stopped;
    if (!evaluation.isStale) this.#take(evaluation, source);
    return evaluation;
  }

  #take({ problems, mistakeItem, watched, failure, isHead }: Evaluation, source: string): void {
    batch(() => {
      if (this.preview.value === null) this.problems.value = problems;
      else this.previewProblems.value = problems;
      this.failure.value = failure;
      this.mistakeItem.value = mistakeItem;
      this.isOld.value = watched === null;
      if (this.#isErrorShown) this.message.value = '';
      this.#isErrorShown = false;
      if (watched === null) return;
      this.watched.value = watched;
      this.isHead.value = isHead;
      this.#shownSource = problems.length === 0 ? source : null;
      this.version.value++;
      // A mistake in the Template leaves only the file step. When the mistake is fixed, the chosen step is shown
      // again.
      this.step.value = Math.max(0, Math.min(this.#chosenStep, watched.steps.length - 1));
    });
  }

  #takeOther({ source, sha256 }: OtherText): void {
    if (source === this.text.value) {
      this.saved.value = { source, sha256 };
      this.#keep();
      return;
    }
    if (this.isChanged.value) {
      this.other.value = { source, sha256 };
      return;
    }
    this.saved.value = { source, sha256 };
    this.write(source, 'Take the text of another program');
    this.message.value = 'Another program changed the file. The studio now shows the new text.';
  }

  /** The file is gone, perhaps only for a moment. The text stays, and can be saved again. */
  #lose(sha256: string): void {
    this.saved.value = { source: '', sha256 };
    this.message.value = 'The Template file no longer exists. Save the text to write it again.';
    this.#keep();
  }

  async #poll(): Promise<void> {
    // While a save runs, the file may already contain the text of this page, or not yet.
    if (document.hidden || this.#runningSaves > 0) return;
    const [saves, samples] = [this.#saves, this.#samplesOpened];
    try {
      const state = await ask<StudioState>('GET /api/state');
      const { source, sha256, isStored, sampleVersion, sampleRowsMax } = state;
      // An answer from before a save would look like a change by another program.
      if (saves !== this.#saves || samples !== this.#samplesOpened) return;
      if (!isStored && this.isStored.value) this.#lose(sha256);
      this.isStored.value = isStored;
      if (this.other.value === null && sha256 !== this.saved.value.sha256) this.#takeOther({ source, sha256 });
      // Another window has opened it.
      if (state.sample !== this.sample.value) this.#takeSample(state);
      this.sampleRowsMax.value = sampleRowsMax;
      if ((sampleVersion === this.#sampleVersion && !this.#isReplaced) || this.isBusy.value) return;
      this.#sampleVersion = sampleVersion;
      await this.evaluate();
    } catch (error) {
      this.#showError(error);
    }
  }

  /** Takes the draft when it is ready, unless the user has begun to write. */
  #waitForDraft(): void {
    const timer = setInterval(async () => {
      const state = await ask<StudioState>('GET /api/state').catch(() => null);
      if (state?.isDrafting === true) this.draftPercent.value = state.draftPercent;
      if (state === null || state.isDrafting || !this.isDrafting.value) return;
      const { source } = state;
      clearInterval(timer);
      this.isDrafting.value = false;
      if (this.text.value !== this.file.source || source === this.file.source) return;
      this.#chosenStep = operationList(source).items.filter(({ isOff }) => !isOff).length;
      this.write(source, 'Draft');
      this.message.value = 'The draft is ready.';
    }, DRAFT_MILLISECONDS);
  }

  async #askProgress(): Promise<void> {
    try {
      this.rowsRead.value = (await ask<{ rowsRead: number }>('GET /api/progress')).rowsRead;
    } catch {
      // The request for rows reports why the server does not answer.
    }
  }

  #showError(error: unknown): void {
    this.#isErrorShown = true;
    this.message.value = messageOf(error);
  }
}
