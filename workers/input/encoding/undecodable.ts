// Failures about encodings. Undecodable means that a file is invalid in the encoding in which it was read; another
// encoding may be right.
import { Failed } from '../../protocol/failure.ts';

export class Undecodable extends Failed {
  /** Name of the encoding in which the file is not valid. */
  readonly encoding: string;

  constructor(encoding: string, message: string) {
    super('MALFORMED_FILE', message);
    this.encoding = encoding;
  }
}

/**
 * Ends an attempt whose encoding was chosen by the beginning of the file, at a line of UTF-8 in the rest. The line may
 * be UTF-8 by chance, so all lines decide whether the file is a mixture. Users see the message only if the file cannot
 * be read again.
 */
export class LateUtf8 extends Failed {
  constructor(encoding: string) {
    const message =
      `The file begins in ${encoding} and has lines in UTF-8 after its first 64 KiB. Save the whole file in one ` +
      'encoding, or declare the encoding in which all lines are to be read: input.csv.encoding.';
    super('MALFORMED_FILE', message);
  }
}

/** Advice for a text in another encoding. Reference tables have no such setting. */
export const ENCODING_ADVICE = 'If it is another encoding, the Template must name it: input.csv.encoding.';

/** @param line line number from 1, counted by LF and CRLF */
export function notValid(encoding: string, line: number): Undecodable {
  const name = encoding === 'utf-8' ? 'UTF-8' : encoding;
  return new Undecodable(encoding, `Line ${line} is not valid ${name}. ${ENCODING_ADVICE}`);
}

/** Replaces the advice if the file has been scanned: names the most likely encoding. */
export function withLikelyEncoding(message: string, likely: string): string {
  return message.replace(
    ENCODING_ADVICE,
    `Most likely it is ${likely}: write input.csv.encoding: ${likely} into the Template.`,
  );
}

/** A text in UTF-8 whose last character is incomplete. */
export function endsInsideCharacter(line: number): Failed {
  const message =
    `Line ${line}, the last one, ends inside a character of UTF-8: the file seems to be cut off, for example by an ` +
    'interrupted download. Send the whole file.';
  return new Failed('MALFORMED_FILE', message);
}

/** Added to the advice about encodings if the only invalid byte of a file is its last one. */
export const MAY_BE_CUT_OFF =
  'The file ends there, perhaps inside a character of UTF-8: if it is UTF-8, it is cut off. Send the whole file.';

/** Line numbers in a file of lines that are UTF-8 and of lines that are not. */
export interface MixedLines {
  readonly utf8: readonly number[];
  readonly other: readonly number[];
}

/** Maximum number of line numbers of each kind in a message. */
const NAMED_LINES_MAX = 3;

/** Reading such a file in either encoding would change letters. */
export function mixedEncodings({ utf8, other }: MixedLines): Failed {
  const message =
    `The file mixes UTF-8 with another encoding: ${namedLines(utf8)} UTF-8, ${namedLines(other)} not. ` +
    'Save the whole file in one encoding, or declare the encoding in which all lines are to be read: input.csv.encoding.';
  return new Failed('MALFORMED_FILE', message);
}

/** For example `line 4 is`, `lines 2 and 3 are`, `lines 2, 3, 5 and others are`. */
function namedLines(numbers: readonly number[]): string {
  if (numbers.length === 1) return `line ${numbers[0]} is`;
  const isCut = numbers.length > NAMED_LINES_MAX;
  const named = numbers.slice(0, NAMED_LINES_MAX).map(String);
  const last = isCut ? 'others' : named.pop();
  return `lines ${named.join(', ')} and ${last} are`;
}

/** @param encoding the UTF-16 variant that the bytes show, for a text without a byte order mark */
export function unmarkedUtf16(encoding: string): Failed {
  const message = `The file is UTF-16 without a byte order mark. Most likely it is ${encoding}: write input.csv.encoding: ${encoding} into the Template.`;
  return new Failed('MALFORMED_FILE', message);
}

/** UTF-16 has two or four bytes per character. */
export function oddUtf16(encoding: string): Failed {
  const message = `The file has an odd number of bytes, but ${encoding} has an even number of bytes for each character: the file is cut off, or a program has changed it as if it were ASCII. Export it again.`;
  return new Failed('MALFORMED_FILE', message);
}

/** For a file whose encoding is not declared. */
export function guessed(likely: string): Failed {
  const message = `The file is not UTF-8. Most likely it is ${likely}: write input.csv.encoding: ${likely} into the Template.`;
  return new Failed('MALFORMED_FILE', message);
}
