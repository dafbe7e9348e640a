// The state of the console: a key that is kept only in memory, the account's Templates and usage, and the Runs of this
// tab. Nothing is written to the browser's storage.
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

/** Maximum size of a preview: what people can read at a glance. */
const PREVIEW_BYTES_MAX = 16 * 1024;
/** Media types of texts. Others are not previewed. */
const PREVIEWED = /^(?:text\/|application\/(?:json|x-ndjson|ndjson|jsonl))/;

export interface SendOptions {
  /** '' for automatic detection. */
  readonly delimiter: string;
  readonly headerRow: string;
}

/** A file that was sent from this tab. */
export interface TabRun {
  readonly number: number;
  readonly fileName: string;
  readonly template: string;
  readonly state: Signal<'sending' | 'working' | 'succeeded' | 'failed' | 'cancelled'>;
  readonly sentBytes: Signal<number>;
  readonly totalBytes: number;
  readonly run: Signal<Run | null>;
  readonly errorText: Signal<string | null>;
  /** null before it is requested. */
  readonly preview: Signal<string | null>;
  readonly cancel: () => void;
}

export class Console {
  readonly isOpen = signal(false);
  readonly templates = signal<readonly Template[]>([]);
  readonly usage = signal<Usage | null>(null);
  readonly runs = signal<readonly TabRun[]>([]);
  readonly errorText = signal<string | null>(null);
  readonly #baseUrl: URL;
  #client: TemplateRunClient | null = null;
  #ending = new AbortController();

  constructor(baseUrl: URL) {
    this.#baseUrl = baseUrl;
  }

  async open(key: string): Promise<void> {
    this.errorText.value = null;
    try {
      const client = new TemplateRunClient({ baseUrl: this.#baseUrl, apiKey: key, signal: this.#ending.signal });
      this.templates.value = await client.templates();
      this.#client = client;
      this.isOpen.value = true;
    } catch (error) {
      this.errorText.value = textOf(error);
      return;
    }
    await this.#readUsage();
  }

  /** Ends everything in progress and forgets the key, Templates and Runs. */
  forget(): void {
    this.#ending.abort();
    this.#ending = new AbortController();
    this.#client = null;
    this.isOpen.value = false;
    this.templates.value = [];
    this.usage.value = null;
    this.errorText.value = null;
    this.runs.value = [];
  }

  async send(template: string, file: File, { delimiter, headerRow }: SendOptions): Promise<void> {
    const client = this.#client;
    if (client === null) return;
    const cancelling = new AbortController();
    const tabRun: TabRun = {
      number: this.runs.value.length + 1,
      fileName: file.name,
      template,
      state: signal('sending'),
      sentBytes: signal(0),
      totalBytes: file.size,
      run: signal(null),
      errorText: signal(null),
      preview: signal(null),
      cancel: () => cancelling.abort(),
    };
    this.runs.value = [tabRun, ...this.runs.value];
    try {
      tabRun.run.value = await client.run(template, file, {
        signal: cancelling.signal,
        onProgress: ({ bytes }) => {
          tabRun.sentBytes.value = bytes;
          tabRun.state.value = bytes < file.size ? 'sending' : 'working';
        },
        ...(delimiter === '' ? {} : { delimiter }),
        ...(headerRow === '' ? {} : { headerRow: Number(headerRow) }),
      });
      tabRun.state.value = 'succeeded';
    } catch (error) {
      if (error instanceof RunFailedError) tabRun.run.value = error.run;
      tabRun.state.value = cancelling.signal.aborted ? 'cancelled' : 'failed';
      tabRun.errorText.value = cancelling.signal.aborted ? null : textOf(error);
    }
    await this.#readUsage();
  }

  async preview({ run, preview, errorText }: TabRun): Promise<void> {
    if (this.#client === null || run.value === null) return;
    try {
      const blob = await this.#client.preview(run.value, PREVIEW_BYTES_MAX);
      // A character that is cut off at the end is left out.
      preview.value = new TextDecoder().decode(await blob.arrayBuffer(), { stream: true });
    } catch (error) {
      errorText.value = textOf(error);
    }
  }

  async download({ run, errorText }: TabRun, file: OutputName): Promise<void> {
    const output = run.value?.[file];
    if (this.#client === null || run.value === null || output == null) return;
    errorText.value = null;
    try {
      keep(await this.#client.download(run.value, { file }), output.name);
    } catch (error) {
      errorText.value = textOf(error);
    }
  }

  async #readUsage(): Promise<void> {
    const client = this.#client;
    let usage: Usage | null = null;
    let errorText: string | null = null;
    try {
      usage = (await client?.usage()) ?? null;
    } catch (error) {
      // If the key may not read the usage, the page leaves it out.
      const isLeftOut = error instanceof TemplateRunError && error.code === 'INSUFFICIENT_SCOPE';
      errorText = isLeftOut ? null : textOf(error);
    }
    // The key may have been forgotten in the meantime.
    if (client !== this.#client) return;
    this.usage.value = usage;
    this.errorText.value = errorText;
  }
}

export function canPreview(run: Run): boolean {
  return run.output != null && PREVIEWED.test(run.output.mime_type);
}

/** Starts a download of the file in the browser. */
function keep(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function textOf(error: unknown): string {
  if (!(error instanceof TemplateRunError)) return (error as Error).message;
  return `${error.code}: ${error.message}${error.requestId === null ? '' : ` (request ${error.requestId})`}`;
}
