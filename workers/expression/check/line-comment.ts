// `//` begins a comment in CEL. Who knows it as a division loses what stands behind it, without an error.
import { tokenize } from '../syntax/lexer.ts';

/** What to tell of an expression on one line that ends with a comment, or null. Comments of longer ones are meant. */
export function lineCommentNote(source: string): string | null {
  if (!source.includes('//') || source.trimEnd().includes('\n')) return null;
  const last = tokenize(source).at(-2);
  if (last === undefined || !source.slice(last.end).includes('//')) return null;
  return 'What stands behind // is a comment. To divide write /, which leaves the fraction off where both numbers are whole (int).';
}
