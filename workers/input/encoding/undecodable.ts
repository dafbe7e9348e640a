// The failure of a file that is not valid in the encoding it was read in: another one may be the right one.
import { Failed } from '../../protocol/failure.ts';

export class Undecodable extends Failed {
  /** Name of the encoding in which the file is not valid. */
  readonly encoding: string;

  constructor(encoding: string, message: string) {
    super('MALFORMED_FILE', message);
    this.encoding = encoding;
  }
}

/** What to do about a text in another encoding; a reference table has no such setting. */
export const ENCODING_ADVICE = 'If it is another encoding, the Template must name it: input.csv.encoding.';

/** @param line 1-based, counted by LF and CRLF */
export function notValid(encoding: string, line: number): Undecodable {
  const name = encoding === 'utf-8' ? 'UTF-8' : encoding;
  return new Undecodable(encoding, `Line ${line} is not valid ${name}. ${ENCODING_ADVICE}`);
}

/** The message where the file was looked through: names the most likely encoding. */
export function withLikelyEncoding(message: string, likely: string): string {
  return message.replace(
    ENCODING_ADVICE,
    `Most likely it is ${likely}: write input.csv.encoding: ${likely} into the Template.`,
  );
}

/** Of a file whose encoding nobody has named. */
export function guessed(likely: string): Failed {
  const message = `The file is not UTF-8. Most likely it is ${likely}: write input.csv.encoding: ${likely} into the Template.`;
  return new Failed('MALFORMED_FILE', message);
}
