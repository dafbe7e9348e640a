// Advice for a file that is not valid in its encoding. It names the encodings that the file may have instead, judged by
// its lines.
import { cutOff } from './encoding.ts';
import { likelyEncodings } from './likely-encoding.ts';
import { NO_LINES, type NonAsciiSample } from './non-ascii-lines.ts';
import { MAY_BE_CUT_OFF, withLikelyEncoding } from './undecodable.ts';

/**
 * Adds advice to the message of an Undecodable.
 * @param lines lines of the whole file, or null if they are not known
 * @param failed names of the encodings in which the file is not valid
 */
export function withEncodingAdvice(message: string, lines: NonAsciiSample | null, failed: readonly string[]): string {
  const likely = likelyEncodings((lines ?? NO_LINES).bytes).find((name) => !failed.includes(name));
  const advised = likely === undefined ? message : withLikelyEncoding(message, likely);
  const mayBeCutOff = lines !== null && failed.includes('utf-8') && cutOff(lines) === 'possible';
  return mayBeCutOff ? `${advised} ${MAY_BE_CUT_OFF}` : advised;
}
