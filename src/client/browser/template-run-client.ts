// The package's entry `template-run/client` in browsers: sources and outputs are Blobs. It imports nothing of Node.
import { refuseErrors } from '../answers.ts';
import type { Run } from '../api-schemas.ts';
import { TemplateRunError } from '../errors.ts';
import { resumedDownload } from '../resumed-download.ts';
import { retrying } from '../retries.ts';
import {
  type CallOptions,
  type ClientSettings,
  type OutputName,
  RunsClient,
  type TransferOptions,
} from '../runs-client.ts';
import { BlobSink } from './blob-sink.ts';
import { FetchTransport } from './fetch-transport.ts';

// What the package shows of the client.
export type { Ceilings, Quota, Report, Run, RunError, RunOutput, Template, Usage } from '../api-schemas.ts';
export { type ErrorCode, RunFailedError, TemplateRunError } from '../errors.ts';
export type { CallOptions, ClientSettings, OutputName, Progress, RunOptions, TransferOptions } from '../runs-client.ts';

export interface DownloadOptions extends TransferOptions {
  /** 'rejects': the rows that the Template rejected; 'output' unless set. */
  readonly file?: OutputName;
}

export class TemplateRunClient extends RunsClient<Blob> {
  constructor(settings: ClientSettings) {
    super(settings, new FetchTransport());
  }

  /** The Run's output, whole and compared with the service's digest. It is held in memory. */
  async download(run: Pick<Run, 'id'>, options: DownloadOptions = {}): Promise<Blob> {
    const { file = 'output', onProgress } = options;
    const signal = this.signalOf(options);
    const sink = new BlobSink();
    await resumedDownload(
      { retries: this.retries, signal },
      {
        sink,
        ask: (headers) => this.askOutput(run, file, headers, signal),
        onReceived: (bytes, totalBytes) => onProgress?.({ phase: 'download', bytes, totalBytes }),
      },
    );
    return sink.blob();
  }

  /** The first bytes of the Run's output, at most so many. Nothing is compared. */
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
      // An output of no bytes has no first one.
      if (error instanceof TemplateRunError && error.code === 'RANGE_NOT_SATISFIABLE') return new Blob([]);
      throw error;
    }
  }
}
