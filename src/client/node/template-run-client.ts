// The package's entry `template-run/client` on Node: sources are files, bytes or streams, outputs become files.
import type { Run } from '../api-schemas.ts';
import { TemplateRunError } from '../errors.ts';
import { resumedDownload } from '../resumed-download.ts';
import {
  type ClientSettings,
  type OutputName,
  type RunOptions,
  RunsClient,
  type TransferOptions,
} from '../runs-client.ts';
import { FileSink } from './file-sink.ts';
import { HttpTransport } from './http-transport.ts';
import type { Source } from './source.ts';

// What the package shows of the client.
export type { Ceilings, Quota, Report, Run, RunError, RunOutput, Template, Usage } from '../api-schemas.ts';
export { type ErrorCode, RunFailedError, TemplateRunError } from '../errors.ts';
export type { CallOptions, ClientSettings, OutputName, Progress, RunOptions, TransferOptions } from '../runs-client.ts';
export type { Source } from './source.ts';

export interface DownloadOptions extends TransferOptions {
  /** 'rejects': the rows that the Template rejected; 'output' unless set. */
  readonly file?: OutputName;
}

export class TemplateRunClient extends RunsClient<Source> {
  readonly #transport: HttpTransport;

  constructor(settings: ClientSettings) {
    const transport = new HttpTransport();
    super(settings, transport);
    this.#transport = transport;
  }

  /**
   * Puts the Run's output at `path`: whole and compared with the service's digest, or not at all. A file that is there is
   * replaced.
   */
  async download(run: Pick<Run, 'id'>, path: string, options: DownloadOptions = {}): Promise<void> {
    const { file = 'output', onProgress } = options;
    const signal = this.signalOf(options);
    signal.throwIfAborted();
    const sink = await FileSink.open(path);
    let isKept = false;
    try {
      await resumedDownload(
        { retries: this.retries, signal },
        {
          sink,
          ask: (headers) => this.askOutput(run, file, headers, signal),
          onReceived: (bytes, totalBytes) => onProgress?.({ phase: 'download', bytes, totalBytes }),
        },
      );
      await sink.keep();
      isKept = true;
    } finally {
      if (!isKept) await sink.remove();
    }
  }

  /**
   * `run` and `download` in one: where the service lost the Run before its output was fetched, it is made again under the
   * same Idempotency-Key, and not charged again.
   * @param target path of the output, which is looked at before anything is sent, or what gives it for the Run
   */
  async transform(
    template: string,
    source: Source,
    target: string | ((run: Run) => string),
    options: RunOptions = {},
  ): Promise<{ readonly run: Run; readonly path: string }> {
    const withKey = { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
    // A Run is charged: that its output cannot be written is told before.
    if (typeof target === 'string') await (await FileSink.open(target)).remove();
    for (let losses = 0; ; losses += 1) {
      const run = await this.run(template, source, withKey);
      const path = typeof target === 'string' ? target : target(run);
      try {
        await this.download(run, path, withKey);
        return { run, path };
      } catch (error) {
        const isLost = error instanceof TemplateRunError && error.code === 'RUN_NOT_FOUND';
        if (!isLost || losses >= this.retries) throw error;
      }
    }
  }

  /** Closes idle connections. Without it they keep no process alive. */
  close(): void {
    this.#transport.close();
  }
}
