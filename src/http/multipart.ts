// Reads multipart/form-data with busboy (its only importer) and keeps the form's rules: one file, few parts, short
// parameters, a last boundary. It does not judge what parameters say.
// States: reading → broken (told once, the rest is ignored) or whole (the last boundary was seen and the body ended).
import type { Readable, Writable } from 'node:stream';
import busboy from 'busboy';

/** A form has at most this many parts. */
export const PARTS_MAX = 64;

/** Longest parameter, in bytes: one character or ten digits, with room for whoever pads. */
export const PARAMETER_BYTES_MAX = 64;

export const PARAMETER_NAMES = ['delimiter', 'header_row'] as const;
export type ParameterName = (typeof PARAMETER_NAMES)[number];

export interface FormSink {
  /** The file part begins; its name's ending in lower case without the dot, '' = none. The name goes no further. */
  fileStarted(ending: string): void;
  fileBytes(bytes: Buffer): void;
  /** null: longer than a parameter may be. Undecodable bytes are U+FFFD. */
  parameter(name: ParameterName, value: string | null): void;
  /** Called once, and nothing after it. */
  broken(message: string): void;
  /** The form is complete. */
  whole(): void;
}

export interface FormReader {
  write(bytes: Buffer): void;
  /** The body has ended. */
  end(): void;
  /** Forgets the form; nothing is called any more. */
  abandon(): void;
}

/** Whether the Content-Type is multipart/form-data with a boundary. */
export function isFormWithBoundary(contentType: string): boolean {
  if (!/^multipart\/form-data[ \t]*;/i.test(contentType)) return false;
  return /;[ \t]*boundary=(?:"[^"]+"|[^\s;"]+)/i.test(contentType);
}

/** Limits are one higher than the rule: busboy reports what reaches a limit exactly as if it were beyond. */
const LIMITS = { parts: PARTS_MAX + 1, fieldSize: PARAMETER_BYTES_MAX + 1 };

/** Buffers of the streams inside: more than one chunk of the library, so that nothing waits in between. */
const STREAM_BYTES = 1024 * 1024;

/** Throws when the Content-Type has no usable boundary. */
export function readForm(contentType: string, sink: FormSink): FormReader {
  let over = false;
  let fileSeen = false;
  const parser: Writable = busboy({
    headers: { 'content-type': contentType },
    limits: LIMITS,
    defParamCharset: 'utf8',
    highWaterMark: STREAM_BYTES,
    fileHwm: STREAM_BYTES,
  });
  const stop = (message: string): void => {
    if (over) return;
    over = true;
    parser.destroy();
    sink.broken(message);
  };
  const broken = (): void => stop('The form is malformed or ends before its last boundary.');
  parser.on('file', (name: string | undefined, stream: Readable, { filename }: { filename?: string }) => {
    // An unfinished form ends its streams with an error too; the parser tells it as well.
    stream.on('error', broken);
    if (over) {
      stream.resume();
    } else if (name === 'file') {
      if (fileSeen) return stop('The form has more than one part named "file".');
      fileSeen = true;
      sink.fileStarted(endingOf(filename ?? ''));
      stream.on('data', (bytes: Buffer) => {
        if (!over) sink.fileBytes(bytes);
      });
    } else if (isParameter(name)) {
      readParameter(stream, (value) => {
        if (!over) sink.parameter(name, value);
      });
    } else {
      stream.resume();
    }
  });
  parser.on('field', (name: string | undefined, value: string, { valueTruncated }: { valueTruncated: boolean }) => {
    if (over) return;
    if (name === 'file') stop('The part named "file" must be sent as a file, with a file name.');
    else if (isParameter(name)) sink.parameter(name, valueTruncated ? null : (value ?? '\uFFFD'));
  });
  parser.on('partsLimit', () => stop(`The form has more than ${PARTS_MAX} parts.`));
  parser.on('error', broken);
  parser.on('close', () => {
    if (over) return;
    if (!fileSeen) return stop('The form has no part named "file".');
    over = true;
    sink.whole();
  });
  return {
    write: (bytes) => {
      if (!over) parser.write(bytes);
    },
    end: () => {
      if (!over) parser.end();
    },
    abandon: () => {
      over = true;
      parser.destroy();
    },
  };
}

function isParameter(name: string | undefined): name is ParameterName {
  return PARAMETER_NAMES.includes(name as ParameterName);
}

/** A parameter with a file name, as some clients send every part. */
function readParameter(stream: Readable, done: (value: string | null) => void): void {
  let bytes = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    if (bytes.length <= PARAMETER_BYTES_MAX) bytes = Buffer.concat([bytes, chunk]);
  });
  stream.on('end', () => done(bytes.length > PARAMETER_BYTES_MAX ? null : bytes.toString('utf8')));
}

function endingOf(fileName: string): string {
  return /\.([A-Za-z0-9]{1,16})$/.exec(fileName)?.[1]?.toLowerCase() ?? '';
}
