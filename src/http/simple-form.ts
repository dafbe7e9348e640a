// Recognises the commonest form at a glance: it came in one piece and holds the file alone, with headers as everybody
// writes them. Whatever differs in a single character is left to the parser.

/** Where a simple form has its file. */
export interface SimpleForm {
  readonly fileName: string;
  /** The file's bytes in what was looked at. */
  readonly start: number;
  readonly end: number;
}

/** Headers of one part. A name holds nothing that could be a path, a quotation or an encoding. */
const HEADERS =
  /^Content-Disposition: form-data; name="file"; filename="([A-Za-z0-9_. -]{1,128})"(?:\r\nContent-Type: [A-Za-z0-9]+\/[A-Za-z0-9.+-]+)?$/;

/** Longer headers are not those that HEADERS knows, in bytes. */
const HEADER_BYTES_MAX = 512;

const CR = 13;
const LF = 10;
const DASH = 45;

/**
 * @param bytes the first bytes of a body
 * @param delimiter line end, two dashes, boundary
 * @returns null unless the form is simple and whole; what comes behind its last boundary means nothing
 */
export function simpleForm(bytes: Buffer, delimiter: Buffer): SimpleForm | null {
  // The first boundary has no line end before it.
  const opening = delimiter.length - 2;
  if (bytes.length < opening || bytes.compare(delimiter, 2, delimiter.length, 0, opening) !== 0) return null;
  if (bytes[opening] !== CR || bytes[opening + 1] !== LF) return null;
  const headersEnd = bytes.indexOf('\r\n\r\n', opening + 2, 'latin1');
  if (headersEnd < 0 || headersEnd - opening > HEADER_BYTES_MAX) return null;
  const headers = HEADERS.exec(bytes.toString('latin1', opening + 2, headersEnd));
  if (headers === null) return null;
  const start = headersEnd + '\r\n\r\n'.length;
  // A boundary may not share its line end with what is before it: then this is not the file's end.
  const end = bytes.indexOf(delimiter, opening);
  const behind = end + delimiter.length;
  if (end < start || bytes[behind] !== DASH || bytes[behind + 1] !== DASH) return null;
  return { fileName: headers[1]!, start, end };
}
