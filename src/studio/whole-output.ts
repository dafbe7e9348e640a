// The output of a Run over the whole sample, as a download.

/** The Run ended without an output; the message gives the reason. */
export class NoOutputError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'NoOutputError';
    this.code = code;
  }
}

/** A response that is a file instead of JSON. */
export class WholeOutput {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  /** Ending of the file name, without the dot. */
  readonly ending: string;

  constructor(bytes: Uint8Array, mimeType: string, ending: string) {
    this.bytes = bytes;
    this.mimeType = mimeType;
    this.ending = ending;
  }
}
