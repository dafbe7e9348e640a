// The state of the page, and what changes it: the text, what came of it, the step that is looked at. The server is asked here.
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Problem } from '../../../workers/template/template.ts';
import type { RowFilter, TracedCell, Watched, WatchedStep } from '../../../workers/watch/watch-messages.ts';
import type { Language, Looked, MadeTest, StudioState } from '../studio-answers.ts';
import { AskError, ask } from './ask.ts';

/** How long after the last keystroke the text is looked at, in milliseconds. */
const PAUSE_MILLISECONDS = 120;

/** How often it is asked whether another program has changed the file, in milliseconds. */
const POLL_MILLISECONDS = 3_000;

const PROGRESS_MILLISECONDS = 300;

export interface Traced {
  readonly sourceRow: number;
  readonly column: string;
  readonly steps: readonly TracedCell[];
}

export interface OtherText {
  readonly source: string;
  readonly sha256: string;
}

export class Studio {
  readonly file: StudioState;
  /** First rows that are read of the sample unless all are asked for; null: all. */
  readonly sampleRowsMax: Signal<number | null>;
  readonly language: Language;
  readonly text: Signal<string>;
  readonly saved: Signal<OtherText>;
  readonly problems = signal<readonly Problem[]>([]);
  readonly failure = signal<Looked['failure']>(null);
  readonly watched = signal<Watched | null>(null);
  /** What was watched is the head of the sample: the rest is on its way. */
  readonly isHead = signal(false);
  /** Counts what was watched: rows of an earlier one are asked for again. */
  readonly version = signal(0);
  readonly step = signal(0);
  readonly filter = signal<RowFilter>('all');
  readonly isBusy = signal(false);
  readonly rowsRead = signal(0);
  readonly traced = signal<Traced | null>(null);
  /** Column whose profile is open. */
  readonly profiled = signal<number | null>(null);
  readonly marked = signal<ReadonlySet<number>>(new Set());
  readonly message = signal('');
  /** What another program has written while the text here is not saved. */
  readonly other = signal<OtherText | null>(null);
  readonly isChanged: ReadonlySignal<boolean> = computed(() => this.text.value !== this.saved.value.source);
  readonly chosen: ReadonlySignal<WatchedStep | null> = computed(
    () => this.watched.value?.steps[this.step.value] ?? this.watched.value?.steps.at(-1) ?? null,
  );
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;
  /** The message tells of trouble, which is over when rows come again. */
  #isTroubleTold = false;
  #chosenStep = 0;
  /** Of the rows that were looked at last; those of a whole sample stay until it changes or somebody writes. */
  #sampleVersion: string;
  /** The text whose rows are shown; null: none was sound. */
  #shownSource: string | null = null;

  static async open(): Promise<Studio> {
    const [file, language] = await Promise.all([
      ask<StudioState>('GET /api/state'),
      ask<Language>('GET /api/language'),
    ]);
    return new Studio(file, language);
  }

  constructor(file: StudioState, language: Language) {
    this.file = file;
    this.sampleRowsMax = signal(file.sampleRowsMax);
    this.#sampleVersion = file.sampleVersion;
    this.language = language;
    this.text = signal(file.source);
    this.saved = signal({ source: file.source, sha256: file.sha256 });
    void this.look();
    setInterval(() => void this.#poll(), POLL_MILLISECONDS);
  }

  /** The text as the editor has it now. */
  write(text: string): void {
    if (text === this.text.value) return;
    this.text.value = text;
    this.message.value = '';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.look(), PAUSE_MILLISECONDS);
  }

  async look(whole = false): Promise<void> {
    const asked = ++this.#asked;
    this.isBusy.value = true;
    const progress = setInterval(() => void this.#askProgress(), PROGRESS_MILLISECONDS);
    try {
      const source = this.text.value;
      // Of a text whose rows are shown, the head would be fewer of them.
      let looked = await this.#ask(source, { whole, head: !whole && source !== this.#shownSource });
      if (asked === this.#asked && !looked.isStale) this.#take(looked, source);
      if (asked === this.#asked && looked.isHead) {
        looked = await this.#ask(source, { whole, head: false });
        if (asked === this.#asked && !looked.isStale) this.#take(looked, source);
      }
    } catch (error) {
      this.#tell(error);
    } finally {
      clearInterval(progress);
      if (asked === this.#asked) this.isBusy.value = false;
    }
  }

  async stop(): Promise<void> {
    await ask('POST /api/stop', {});
    this.message.value = 'Stopped.';
  }

  choose(step: number): void {
    this.#chosenStep = step;
    if (step === this.step.value) return;
    batch(() => {
      this.step.value = step;
      this.filter.value = 'all';
      this.profiled.value = null;
    });
    void this.look();
  }

  mark(sourceRow: number): void {
    const marked = new Set(this.marked.value);
    if (!marked.delete(sourceRow)) marked.add(sourceRow);
    this.marked.value = marked;
  }

  async save(): Promise<void> {
    const source = this.text.value;
    try {
      const saved = await ask<OtherText>('PUT /api/template', { source, sha256: this.saved.value.sha256 });
      this.saved.value = { source, sha256: saved.sha256 };
      this.message.value = 'Saved.';
    } catch (error) {
      const { source: theirs, sha256 } = error instanceof AskError ? error.body : {};
      if (theirs !== undefined && sha256 !== undefined) this.#takeOther({ source: theirs, sha256 });
      else this.#tell(error);
    }
  }

  /** Adds a test of the marked rows to the text, which is not saved by that. */
  async addTest(): Promise<void> {
    const rows = [...this.marked.value].sort((a, b) => a - b);
    try {
      const made = await ask<MadeTest>('POST /api/test', { source: this.text.value, rows });
      this.write(made.source);
      this.marked.value = new Set();
      this.message.value = `Added the test "${made.name}". Look at it, then save.`;
    } catch (error) {
      this.#tell(error);
    }
  }

  async trace(sourceRow: number, repeat: number, columnId: number, column: string): Promise<void> {
    try {
      const steps = await ask<readonly TracedCell[] | null>('POST /api/trace', { sourceRow, repeat, columnId });
      batch(() => {
        this.profiled.value = null;
        this.traced.value = steps === null ? null : { sourceRow, column, steps };
      });
    } catch (error) {
      this.#tell(error);
    }
  }

  /** The text of the other program; what stood here can be had again by undo. */
  takeTheirs(): void {
    const other = this.other.value;
    if (other === null) return;
    batch(() => {
      this.saved.value = other;
      this.other.value = null;
    });
    this.write(other.source);
  }

  /** The next save writes over what the other program wrote. */
  keepMine(): void {
    const other = this.other.value;
    if (other === null) return;
    batch(() => {
      this.saved.value = other;
      this.other.value = null;
      this.message.value = 'Kept. Save to write over the other text.';
    });
  }

  #ask(source: string, extent: { readonly whole: boolean; readonly head: boolean }): Promise<Looked> {
    const hasRows = this.watched.value !== null;
    return ask<Looked>('POST /api/look', { source, step: this.#chosenStep, hasRows, ...extent });
  }

  #take({ problems, watched, failure, isHead }: Looked, source: string): void {
    batch(() => {
      this.problems.value = problems;
      this.failure.value = failure;
      if (this.#isTroubleTold) this.message.value = '';
      this.#isTroubleTold = false;
      if (watched === null) return;
      this.watched.value = watched;
      this.isHead.value = isHead;
      this.#shownSource = problems.length === 0 ? source : null;
      this.version.value++;
      // A mistake leaves the file alone to be seen; when it is mended, the chosen step is there again.
      this.step.value = Math.max(0, Math.min(this.#chosenStep, watched.steps.length - 1));
    });
  }

  #takeOther({ source, sha256 }: OtherText): void {
    if (this.isChanged.value) {
      this.other.value = { source, sha256 };
      return;
    }
    this.saved.value = { source, sha256 };
    this.write(source);
    this.message.value = 'Another program changed the file: this is its text.';
  }

  async #poll(): Promise<void> {
    if (document.hidden) return;
    try {
      const { source, sha256, sampleVersion, sampleRowsMax } = await ask<StudioState>('GET /api/state');
      if (this.other.value === null && sha256 !== this.saved.value.sha256) this.#takeOther({ source, sha256 });
      this.sampleRowsMax.value = sampleRowsMax;
      if (sampleVersion === this.#sampleVersion || this.isBusy.value) return;
      this.#sampleVersion = sampleVersion;
      await this.look();
    } catch (error) {
      this.#tell(error);
    }
  }

  async #askProgress(): Promise<void> {
    this.rowsRead.value = (await ask<{ rowsRead: number }>('GET /api/progress')).rowsRead;
  }

  #tell(error: unknown): void {
    this.#isTroubleTold = true;
    this.message.value =
      error instanceof AskError
        ? `${error.body.code}: ${error.message}`
        : 'The studio does not answer. Is it still running?';
  }
}
