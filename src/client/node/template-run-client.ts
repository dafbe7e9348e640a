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
export { type ErrorCode, RunFailedError, SourceError, TemplateRunError } from '../errors.ts';
export type { CallOptions, ClientSettings, OutputName, Progress, RunOptions, TransferOptions } from '../runs-client.ts';
export type { Source } from './source.ts';

export interface DownloadOptions extends TransferOptions {
  /** 'rejects': the rows that the Template rejected; 'output' unless set. */
  readonly file?: OutputName;
}

export interface TransformOptions extends RunOptions {
  /** Where the rows go that the Template rejects, where it may reject any: as the target. Without it they are not fetched. */
  readonly rejects?: Target;
}

/** A path, or what gives it for the Run. */
export type Target = string | ((run: Run) => string);

export class TemplateRunClient extends RunsClient<Source> {
  readonly #transport: HttpTransport;

  constructor(settings: ClientSettings) {
    const transport = new HttpTransport();
    super(settings, transport);
    this.#transport = transport;
  }

  /**
   * Puts the Run's output at `path`: whole and compared with the service's digest, or not at all. A file that is there is
   * replaced, also behind a link, and its permissions stay; a pipe or a device is written into.
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
      await sink.keep(signal);
      isKept = true;
    } finally {
      if (!isKept) await sink.remove();
    }
  }

  /**
   * `run` and `download` in one: where the service lost the Run before its output was fetched, it is made again under the
   * same Idempotency-Key, and not charged again.
   * @param target of the output; a path is looked at before anything is sent
   * @returns where both files are; null: no rejected rows were fetched
   */
  async transform(
    template: string,
    source: Source,
    target: Target,
    options: TransformOptions = {},
  ): Promise<{ readonly run: Run; readonly path: string; readonly rejects: string | null }> {
    const withKey = { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
    // A Run is charged: that its output cannot be written is told before.
    for (const path of [target, options.rejects])
      if (typeof path === 'string') await (await FileSink.open(path)).remove();
    for (let losses = 0; ; losses += 1) {
      const run = await this.run(template, source, withKey);
      const path = pathOf(target, run);
      const rejects = options.rejects === undefined || run.rejects === undefined ? null : pathOf(options.rejects, run);
      try {
        await this.download(run, path, withKey);
        if (rejects !== null) await this.download(run, rejects, { ...withKey, file: 'rejects', onProgress: undefined });
        return { run, path, rejects };
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

function pathOf(target: Target, run: Run): string {
  return typeof target === 'string' ? target : target(run);
}
