// The state of the console: a key that is kept only in memory, the account's Templates and usage, and the Runs of this
// tab. Files are sent one after the other. States of a file: waiting -> sending -> working -> succeeded or failed; also
// cancelled, and interrupted if the page was closed before the service had the file.
import { type Signal, signal } from '@preact/signals';
import {
  type OutputName,
  type Run,
  RunFailedError,
  type Template,
  TemplateRunClient,
  TemplateRunError,
  type Usage,
} from '../../client/browser/template-run-client.ts';
import { type ErrorText, errorText } from './error-texts.ts';
import { previewTable } from './output-preview.ts';
import type { PreviewTable } from './parquet-preview.ts';

/** Name under which the tab's storage keeps the Runs, so that a reload does not lose them. */
const KEPT_NAME = 'template-run-console';

export interface SendOptions {
  /** '' for automatic detection. */
  readonly delimiter: string;
  readonly headerRow: string;
}

export type RunState = 'waiting' | 'sending' | 'working' | 'succeeded' | 'failed' | 'cancelled' | 'interrupted';

/** A file that was sent from this tab. */
export interface TabRun {
  readonly number: number;
  readonly fileName: string;
  readonly template: string;
  /** As it was when the file was sent: a reloaded page has no list of Templates before the key is entered. */
  readonly templateName: string;
  readonly state: Signal<RunState>;
  readonly sentBytes: Signal<number>;
  readonly totalBytes: number;
  readonly run: Signal<Run | null>;
  readonly error: Signal<ErrorText | null>;
  /** null before it is requested. */
  readonly preview: Signal<PreviewTable | null>;
  /** null: it was sent before the page was reloaded. */
  readonly cancel: (() => void) | null;
}

/** What the tab's storage keeps of a Run: names and numbers, and no row of a file. */
interface KeptRun {
  readonly fileName: string;
  readonly template: string;
  readonly templateName: string;
  readonly totalBytes: number;
  readonly state: RunState;
  readonly run: Run | null;
  readonly error: ErrorText | null;
}

/** A column that a Template reads. */
export interface NeededColumn {
  readonly headers: readonly string[];
  readonly isRequired: boolean;
}

interface Sending {
  readonly tabRun: TabRun;
  readonly file: File;
  readonly options: SendOptions;
  readonly cancelling: AbortController;
}

export class Console {
  readonly isOpen = signal(false);
  readonly templates = signal<readonly Template[]>([]);
  readonly usage = signal<Usage | null>(null);
  readonly runs: Signal<readonly TabRun[]>;
  readonly error = signal<ErrorText | null>(null);
  readonly #baseUrl: URL;
  #client: TemplateRunClient | null = null;
  #key = '';
  #ending = new AbortController();
  #queue: Sending[] = [];
  #isSending = false;

  constructor(baseUrl: URL) {
    this.#baseUrl = baseUrl;
    this.runs = signal(keptRuns().map((kept, index, all) => restored(kept, all.length - index)));
  }

  /** True while the end of the page would lose files that the service does not have yet. */
  get isBusy(): boolean {
    return this.runs.value.some(({ state }) => state.value === 'waiting' || state.value === 'sending');
  }

  async open(key: string): Promise<void> {
    this.error.value = null;
    try {
      const client = new TemplateRunClient({ baseUrl: this.#baseUrl, apiKey: key, signal: this.#ending.signal });
      this.templates.value = await client.templates();
      this.#client = client;
      this.#key = key;
      this.isOpen.value = true;
    } catch (error) {
      this.error.value = errorText(error);
      return;
    }
    await Promise.all([this.#readUsage(), ...this.runs.value.map((tabRun) => this.#follow(tabRun))]);
  }

  /** Ends everything in progress and forgets the key, Templates and Runs. */
  forget(): void {
    this.#ending.abort();
    this.#ending = new AbortController();
    this.#client = null;
    this.#key = '';
    this.#queue = [];
    this.isOpen.value = false;
    this.templates.value = [];
    this.usage.value = null;
    this.error.value = null;
    this.runs.value = [];
    this.#keepRuns();
  }

  /** Adds files to the queue, which are sent one after the other. */
  async send(template: string, files: readonly File[], options: SendOptions): Promise<void> {
    const templateName = this.templates.value.find(({ id }) => id === template)?.name ?? template;
    for (const file of files) {
      const cancelling = new AbortController();
      const sent = { fileName: file.name, template, templateName, totalBytes: file.size };
      const tabRun: TabRun = {
        ...newRun(this.runs.value.length + 1, sent),
        cancel: () => {
          cancelling.abort();
          if (tabRun.state.value === 'waiting') tabRun.state.value = 'cancelled';
        },
      };
      this.runs.value = [tabRun, ...this.runs.value];
      this.#queue.push({ tabRun, file, options, cancelling });
    }
    this.#keepRuns();
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) await this.#sendOne(next);
    } finally {
      this.#isSending = false;
    }
  }

  async #sendOne({ tabRun, file, options: { delimiter, headerRow }, cancelling }: Sending): Promise<void> {
    const client = this.#client;
    if (client === null || cancelling.signal.aborted) return;
    tabRun.state.value = 'sending';
    try {
      tabRun.run.value = await client.run(tabRun.template, file, {
        signal: cancelling.signal,
        onProgress: ({ bytes }) => {
          tabRun.sentBytes.value = bytes;
          tabRun.state.value = bytes < file.size ? 'sending' : 'working';
        },
        onCreated: (run) => {
          tabRun.run.value = run;
          this.#keepRuns();
        },
        ...(delimiter === '' ? {} : { delimiter }),
        ...(headerRow === '' ? {} : { headerRow: Number(headerRow) }),
      });
      tabRun.state.value = 'succeeded';
    } catch (error) {
      end(tabRun, error, cancelling.signal.aborted);
    }
    // The key may have been forgotten in the meantime.
    if (client !== this.#client) return;
    this.#keepRuns();
    await this.#readUsage();
  }

  /** Reads the end of a Run that was started before the page was reloaded. */
  async #follow(tabRun: TabRun): Promise<void> {
    const client = this.#client;
    const id = tabRun.run.value?.id;
    if (client === null || id === undefined || tabRun.state.value !== 'working') return;
    try {
      const run = await client.wait(id);
      if (run.status === 'failed') throw new RunFailedError(run);
      tabRun.run.value = run;
      tabRun.state.value = 'succeeded';
    } catch (error) {
      end(tabRun, error, false);
    }
    if (client === this.#client) this.#keepRuns();
  }

  /** The columns that a Template reads; none if the service does not answer. */
  async columns(template: string): Promise<readonly NeededColumn[]> {
    try {
      const response = await fetch(new URL(`console/templates/${encodeURIComponent(template)}`, this.#baseUrl), {
        headers: { Authorization: `Bearer ${this.#key}` },
        signal: this.#ending.signal,
      });
      return response.ok ? ((await response.json()) as { readonly columns: readonly NeededColumn[] }).columns : [];
    } catch {
      return [];
    }
  }

  async preview({ run, preview, error: shown }: TabRun): Promise<void> {
    const client = this.#client;
    const { value } = run;
    if (client === null || value?.output == null) return;
    const read = async (from: number, to: number): Promise<Uint8Array<ArrayBuffer>> => {
      const part = await client.preview(value, to - from, { offsetBytes: from });
      return new Uint8Array(await part.arrayBuffer());
    };
    try {
      shown.value = null;
      preview.value = await previewTable(value.output.mime_type, value.output.size_bytes, read);
    } catch (error) {
      const advice = 'This output cannot be shown here. Download it instead.';
      shown.value = error instanceof TemplateRunError ? errorText(error) : { ...errorText(error), advice };
    }
  }

  async download({ run, error: shown }: TabRun, file: OutputName): Promise<void> {
    const output = run.value?.[file];
    if (this.#client === null || run.value === null || output == null) return;
    shown.value = null;
    try {
      keep(await this.#client.download(run.value, { file }), output.name);
    } catch (error) {
      shown.value = errorText(error);
    }
  }

  async #readUsage(): Promise<void> {
    const client = this.#client;
    let usage: Usage | null = null;
    let failure: ErrorText | null = null;
    try {
      usage = (await client?.usage()) ?? null;
    } catch (error) {
      // If the key may not read the usage, the page leaves it out.
      const isLeftOut = error instanceof TemplateRunError && error.code === 'INSUFFICIENT_SCOPE';
      failure = isLeftOut ? null : errorText(error);
    }
    // The key may have been forgotten in the meantime.
    if (client !== this.#client) return;
    this.usage.value = usage;
    this.error.value = failure;
  }

  #keepRuns(): void {
    const kept = this.runs.value.map(({ state, run, error, ...tabRun }): KeptRun => {
      const { fileName, template, templateName, totalBytes } = tabRun;
      const now = { state: state.value, run: run.value, error: error.value };
      return { fileName, template, templateName, totalBytes, ...now };
    });
    try {
      if (kept.length === 0) sessionStorage.removeItem(KEPT_NAME);
      else sessionStorage.setItem(KEPT_NAME, JSON.stringify(kept));
    } catch {
      // A browser may forbid the storage, or it is full. The page works without it.
    }
  }
}

function newRun(
  number: number,
  file: Pick<TabRun, 'fileName' | 'template' | 'templateName' | 'totalBytes'>,
): Omit<TabRun, 'cancel'> {
  return {
    ...file,
    number,
    state: signal('waiting'),
    sentBytes: signal(0),
    run: signal(null),
    error: signal(null),
    preview: signal(null),
  };
}

function end(tabRun: TabRun, error: unknown, isCancelled: boolean): void {
  if (error instanceof RunFailedError) tabRun.run.value = error.run;
  tabRun.state.value = isCancelled ? 'cancelled' : 'failed';
  tabRun.error.value = isCancelled ? null : errorText(error);
}

function keptRuns(): readonly KeptRun[] {
  try {
    return (JSON.parse(sessionStorage.getItem(KEPT_NAME) ?? '[]') ?? []) as readonly KeptRun[];
  } catch {
    return [];
  }
}

/** Removes the Runs of the tab's storage. */
export function forgetKeptRuns(): void {
  sessionStorage.removeItem(KEPT_NAME);
}

/** Runs that the service has started continue; files that have not arrived are lost. */
function restored({ state, run, error, ...file }: KeptRun, number: number): TabRun {
  const tabRun = { ...newRun(number, file), cancel: null };
  const isOver = !['waiting', 'sending', 'working'].includes(state);
  tabRun.state.value = isOver ? state : run === null ? 'interrupted' : 'working';
  tabRun.run.value = run;
  tabRun.error.value = error;
  return tabRun;
}

/** Starts a download of the file in the browser. */
function keep(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
