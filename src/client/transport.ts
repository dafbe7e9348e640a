// The interface between the client and the transport that sends its requests: node:http, or fetch in a browser.

/**
 * The file of a form, and a callback for its progress. `Source` is a type that the transport can open again for each
 * attempt.
 */
export interface Upload<Source> {
  readonly source: Source;
  /** Other fields of the form by name. */
  readonly fields: ReadonlyMap<string, string>;
  /** Reports the bytes of the file sent in the current attempt. @param totalBytes null if unknown before the end */
  readonly onSent: (bytes: number, totalBytes: number | null) => void;
}

export interface TransportRequest<Source> {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly upload: Upload<Source> | null;
  readonly signal: AbortSignal;
  /** The connection is closed after this time without progress, in milliseconds. */
  readonly idleMilliseconds: number;
}

/** Status and headers of a response, and its body as a stream, which must be read to its end or cancelled. */
export interface TransportAnswer {
  readonly status: number;
  header(name: string): string | null;
  /** Throws ConnectionLostError if the body ends too early. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Discards the rest of the body. */
  cancel(): void;
}

export interface Transport<Source> {
  /**
   * Sends the request once. Rejects with ConnectionLostError if no response arrived, and with the error of a source
   * that cannot be read.
   */
  send(request: TransportRequest<Source>): Promise<TransportAnswer>;
}

/**
 * The connection was lost, so it is unknown whether the service has processed the request. Used only inside the
 * client; callers get CONNECTION_LOST.
 */
export class ConnectionLostError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ConnectionLostError';
  }
}
