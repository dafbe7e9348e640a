// `--delimiter` of the commands that read files.
import { DELIMITER } from '../uploads/parameters.ts';
import { UsageError } from './command.ts';

/** As in a request; a tab too, which a shell can write. */
export function delimiter(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text !== '\t' && !DELIMITER.test(text)) {
    throw new UsageError('--delimiter takes one printable character other than a double quote, or a tab.');
  }
  return text;
}
