// Builds multipart/form-data bodies byte by byte, the broken ones included, so that the suite decides what is sent.

/** One part. A part with `filename` null is a plain field; `file` parts have a name unless told otherwise. */
export interface Part {
  readonly name: string;
  readonly value: string | Buffer;
  readonly filename?: string | null;
  readonly type?: string;
}

export interface Form {
  readonly body: Buffer;
  readonly contentType: string;
}

export interface FormOptions {
  readonly boundary?: string;
  /** false leaves the last boundary out. */
  readonly closed?: boolean;
}

/** Every file name, header and cell that may never be seen in an answer or a log carries this word. */
export const CANARY = 'Canary';

export function form(parts: readonly Part[], options: FormOptions = {}): Form {
  const boundary = options.boundary ?? '----templateRunBlackBox7f3a';
  const pieces: Buffer[] = [];
  for (const part of parts) {
    pieces.push(Buffer.from(`--${boundary}\r\n${head(part)}\r\n\r\n`), Buffer.from(part.value), Buffer.from('\r\n'));
  }
  if (options.closed !== false) pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return { body: Buffer.concat(pieces), contentType: `multipart/form-data; boundary=${boundary}` };
}

/** The `file` part of an upload. */
export function file(value: string | Buffer, extra: Partial<Part> = {}): Part {
  return { name: 'file', value, filename: `${CANARY}-upload.csv`, type: 'text/csv', ...extra };
}

/** A plain text field. */
export function field(name: string, value: string | Buffer): Part {
  return { name, value };
}

function head(part: Part): string {
  const name = part.filename == null ? '' : `; filename="${part.filename}"`;
  const type = part.type === undefined ? '' : `\r\nContent-Type: ${part.type}`;
  return `Content-Disposition: form-data; name="${part.name}"${name}${type}`;
}
