// The entry point `template-run/client` of the package for browsers. Sources and outputs are Blobs. Imports nothing
// from Node.

import { refuseErrors } from '../answers.ts';
import { TemplateRunError } from '../errors.ts';
import { type OutputSink, resumedDownload, retrying } from '../retries.ts';
import type { Run } from '../run.ts';
import {
  type CallOptions,
  type ClientSettings,
  type DownloadedRun,
  type OutputName,
  RunsClient,
  type TransferOptions,
} from '../runs-client.ts';
import { FetchTransport } from './fetch-transport.ts';

// Collects an output in a browser's memory.

class BlobSink implements OutputSink {
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  async append(piece: Uint8Array): Promise<void> {
    this.#pieces.push(new Uint8Array(piece));
    this.#bytes += piece.length;
  }

  async clear(): Promise<void> {
    this.#pieces = [];
    this.#bytes = 0;
  }

  async sha256(): Promise<string> {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await this.blob().arrayBuffer()));
    return btoa(String.fromCharCode(...digest));
  }

  blob(): Blob {
    return new Blob(this.#pieces);
  }
}

// Public types and errors of the client.
export type { Ceilings, Quota, Report, RunError, RunOutput, Template, Usage } from '../api-schemas.ts';
export { type ErrorCode, RunFailedError, TemplateRunError } from '../errors.ts';
export type { FailedRun, Run, RunningRun, SucceededRun } from '../run.ts';
export type { CallOptions, ClientSettings, OutputName, Progress, RunOptions, TransferOptions } from '../runs-client.ts';

export interface DownloadOptions extends TransferOptions {
  /** 'rejects': the rows that the Template rejected; 'output' by default. */
  readonly file?: OutputName;
}

export class TemplateRunClient extends RunsClient<Blob> {
  constructor(settings: ClientSettings) {
    super(settings, new FetchTransport());
  }

  /** Downloads the complete output of a Run into memory and verifies the service's digest. */
  async download(run: DownloadedRun, options: DownloadOptions = {}): Promise<Blob> {
    const { file = 'output', onProgress } = options;
    const signal = this.signalOf(options);
    const sink = new BlobSink();
    await resumedDownload(
      { retries: this.retries, signal },
      {
        sink,
        reportedBytes: run[file]?.size_bytes ?? null,
        ask: (headers) => this.askOutput(run, file, headers, signal),
        onReceived: (bytes, totalBytes) => onProgress?.({ phase: 'download', bytes, totalBytes }),
      },
    );
    return sink.blob();
  }

  /** Downloads at most the first `bytesMax` bytes of the Run's output. The digest is not verified. */
  async preview(run: Pick<Run, 'id'>, bytesMax: number, options: CallOptions = {}): Promise<Blob> {
    const signal = this.signalOf(options);
    try {
      return await retrying({ retries: this.retries, signal }, async () => {
        const answer = await this.askOutput(run, 'output', { range: `bytes=0-${bytesMax - 1}` }, signal);
        await refuseErrors(answer);
        const sink = new BlobSink();
        for await (const piece of answer.body) {
          await sink.append(piece);
          if (sink.bytes >= bytesMax) break;
        }
        answer.cancel();
        return sink.blob().slice(0, bytesMax);
      });
    } catch (error) {
      // An empty output has no satisfiable range.
      if (error instanceof TemplateRunError && error.code === 'RANGE_NOT_SATISFIABLE') return new Blob([]);
      throw error;
    }
  }
}
