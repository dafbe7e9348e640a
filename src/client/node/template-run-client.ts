// The entry point `template-run/client` of the package for Node. Sources are files, bytes or streams; outputs become
// files.
import { TemplateRunError } from '../errors.ts';
import { resumedDownload } from '../retries.ts';
import type { SucceededRun } from '../run.ts';
import {
  type ClientSettings,
  type DownloadedRun,
  type OutputName,
  type RunOptions,
  RunsClient,
  type TransferOptions,
} from '../runs-client.ts';
import { FileSink } from './file-sink.ts';
import { HttpTransport } from './http-transport.ts';
import type { Source } from './source.ts';

// Public types and errors of the client.
export type { Ceilings, Quota, Report, RunError, RunOutput, Template, Usage } from '../api-schemas.ts';
export { type ErrorCode, RunFailedError, SourceError, TemplateRunError } from '../errors.ts';
export type { FailedRun, Run, RunningRun, SucceededRun } from '../run.ts';
export type { CallOptions, ClientSettings, OutputName, Progress, RunOptions, TransferOptions } from '../runs-client.ts';
export type { Source } from './source.ts';

export interface DownloadOptions extends TransferOptions {
  /** 'rejects': the rows that the Template rejected; 'output' by default. */
  readonly file?: OutputName;
}

export interface TransformOptions extends RunOptions {
  /** Target for rejected rows, like the target of the output. Without it, rejected rows are not downloaded. */
  readonly rejects?: Target;
}

/** A path, or a function that returns it for the Run. */
export type Target = string | ((run: SucceededRun) => string);

export class TemplateRunClient extends RunsClient<Source> {
  readonly #transport: HttpTransport;

  constructor(settings: ClientSettings) {
    const transport = new HttpTransport();
    super(settings, transport);
    this.#transport = transport;
  }

  /**
   * Writes the Run's output to `path`, complete and verified against the service's digest, or not at all. An existing
   * file is replaced, also behind a link, and keeps its permissions. Pipes and devices are written directly.
   */
  async download(run: DownloadedRun, path: string, options: DownloadOptions = {}): Promise<void> {
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
          reportedBytes: run[file]?.size_bytes ?? null,
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
   * Combines `run` and `download`. If the service loses the Run before its output was downloaded, the Run is repeated
   * with the same Idempotency-Key and is not charged again.
   * @param target target of the output; if it is a path, it is checked before anything is sent
   * @returns the paths of both files; `rejects` is null if no rejected rows were downloaded
   */
  async transform(
    template: string,
    source: Source,
    target: Target,
    options: TransformOptions = {},
  ): Promise<{ readonly run: SucceededRun; readonly path: string; readonly rejects: string | null }> {
    const withKey = { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
    // Checks the targets before the Run, because a Run is charged even if its output cannot be written.
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

  /** Closes idle connections. Calling it is optional, because idle connections do not keep the process alive. */
  close(): void {
    this.#transport.close();
  }
}

function pathOf(target: Target, run: SucceededRun): string {
  return typeof target === 'string' ? target : target(run);
}
