// The package's entry `template-run/client` in browsers: sources and outputs are Blobs. It imports nothing of Node.
import type { Run } from '../api-schemas.ts';
import { resumedDownload } from '../resumed-download.ts';
import { type ClientSettings, type OutputName, RunsClient, type TransferOptions } from '../runs-client.ts';
import { BlobSink } from './blob-sink.ts';
import { FetchTransport } from './fetch-transport.ts';

// What the package shows of the client.
export type { Quota, Report, Run, RunError, RunOutput, Template } from '../api-schemas.ts';
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
}
