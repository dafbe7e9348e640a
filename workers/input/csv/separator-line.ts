// The line `sep=;` that stands above some files and tells Excel what separates their fields. It is no record of the table.

/** What it says, and its bytes with the line break. */
export interface SeparatorLine {
  readonly delimiter: string;
  readonly bytes: number;
}

/** Letters, digits and quotes separate nothing. A program that read the line as a row has put delimiters behind it. */
const SEPARATOR_LINE = /^"?sep=([^\p{L}\p{N}"\r\n])"?\1*(?:\r\n|\r|\n)/iu;

/** A table has not many more columns than this, or the line is something else. */
const LINE_BYTES_MAX = 1024;

/** The bytes with which the line may begin. */
const FIRST_BYTES = new Set(Buffer.from('"sS'));

/** @param text the first part of a file, UTF-8 without a byte order mark */
export function separatorLine(text: Uint8Array): SeparatorLine | null {
  // Of most files the first byte says that they have none. To decode the line took 6 % of what a small Run costs a thread.
  if (!FIRST_BYTES.has(text[0] ?? 0)) return null;
  const start = Buffer.from(text.buffer, text.byteOffset, Math.min(text.length, LINE_BYTES_MAX)).toString();
  const found = SEPARATOR_LINE.exec(start);
  return found === null ? null : { delimiter: found[1]!, bytes: Buffer.byteLength(found[0]) };
}
