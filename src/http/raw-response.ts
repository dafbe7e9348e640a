// What the exchange needs of the HTTP library's response object, so that only app.ts imports the library.

export interface RawResponse {
  pause(): void;
  resume(): void;
  writeStatus(status: string): unknown;
  writeHeader(key: string, value: string): unknown;
  end(body?: string | Uint8Array, closeConnection?: boolean): unknown;
  /** Without an argument: with one the library never completes the response (seen with 20.x). */
  endWithoutBody(): unknown;
  /** [everything was sent or buffered, the response is complete]. */
  tryEnd(chunk: Uint8Array, totalBytes: number): [boolean, boolean];
  close(): unknown;
  getWriteOffset(): number;
  /** 4 or 16 bytes; none once the connection is closed. */
  getRemoteAddress(): ArrayBuffer;
  onWritable(handler: (offset: number) => boolean): unknown;
  onAborted(handler: () => void): unknown;
  /** The chunk is detached when the handler returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  cork(callback: () => void): unknown;
}
