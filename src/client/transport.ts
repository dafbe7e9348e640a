// The port between what a client does and what carries its requests: node:http, or fetch in a browser.

/** The file of a form, and how its sending is told of. `Source` is what this transport can open again for each try. */
export interface Upload<Source> {
  readonly source: Source;
  /** Other parts of the form by their name. */
  readonly fields: ReadonlyMap<string, string>;
  /** What one try has sent of the file so far. @param totalBytes null where it is not known before the end */
  readonly onSent: (bytes: number, totalBytes: number | null) => void;
}

export interface TransportRequest<Source> {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly upload: Upload<Source> | null;
  readonly signal: AbortSignal;
  /** The connection is given up when no byte has moved for so long. */
  readonly idleMilliseconds: number;
}

/** The head of an answer, and its body as it comes: it is read to its end, or cancelled. */
export interface TransportAnswer {
  readonly status: number;
  header(name: string): string | null;
  /** Throws ConnectionLostError where it ends too early. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Nobody reads the rest. */
  cancel(): void;
}

export interface Transport<Source> {
  /** Sends once. Rejects with ConnectionLostError where no answer came, and with what a source says that cannot be read. */
  send(request: TransportRequest<Source>): Promise<TransportAnswer>;
}

/** Whether the service has done what it was asked for is not known. Within the client alone: callers see CONNECTION_LOST. */
export class ConnectionLostError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ConnectionLostError';
  }
}
