// The operations on a response that an exchange needs. Each front end implements this interface.

export interface RawResponse {
  /** Stops reading from the connection. */
  pause(): void;
  resume(): void;
  /** @param lines the header lines, each with the line end before it */
  writeHead(status: number, reason: string, lines: string): void;
  /** Ends the response and then closes its connection. */
  endLast(body: string | Uint8Array): void;
  /** Ends a response that has no body, or whose body is not sent (HEAD, 304). */
  endWithoutBody(): void;
  /**
   * Writes the complete response but keeps it open, so that the rest of the request body can be read. The connection
   * accepts no other request; `close` ends it.
   *
   * @param text null for a response without a body and without a length
   */
  writeWhole(text: string | null): void;
  /**
   * Returns [whether the whole chunk was accepted, whether the response is complete]. `getWriteOffset` returns how much
   * was accepted.
   */
  tryEnd(chunk: string | Uint8Array, totalBytes: number): [boolean, boolean];
  /** Closes the connection immediately. */
  close(): void;
  /** Number of bytes of the body accepted so far. */
  getWriteOffset(): number;
  /** 4 or 16 bytes; empty once the connection is closed. */
  getRemoteAddress(): Uint8Array;
  /** @param handler receives the number of bytes of the body accepted so far */
  onWritable(handler: (offset: number) => boolean): void;
  /** Called when the connection closes before the response is complete. */
  onAborted(handler: () => void): void;
  /** The chunk is valid until the handler returns. */
  onData(handler: (chunk: Buffer, isLast: boolean) => void): void;
  /** Combines the writes of the callback into few system calls. */
  cork(callback: () => void): void;
}
