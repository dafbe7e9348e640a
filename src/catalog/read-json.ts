// The text of a JSON file of the catalog as a value. The parser's own messages quote the file, so they are not shown.
import { isUtf8 } from 'node:buffer';
import { parseTemplate } from '../../workers/template/template-text.ts';
import type { ProblemList } from './problems.ts';

/** undefined after a problem. */
export function readJson(file: string, bytes: Buffer, problems: ProblemList): unknown {
  const text = readText(file, bytes, problems);
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    const { line, column } = placeOfMistake(text);
    problems.add(file, '', 'is not valid JSON.', line, column);
    return undefined;
  }
}

/** The place of a mistake is looked for in texts up to so many characters: that takes some ms, beside other work. */
const PLACED_CHARACTERS_MAX = 131_072;

/** The runtime's parser does not always tell where it stopped; the reader of Templates does. */
function placeOfMistake(text: string): { readonly line: number | null; readonly column: number | null } {
  if (text.length > PLACED_CHARACTERS_MAX) return { line: null, column: null };
  const read = parseTemplate(text, 'json');
  const problem = 'problems' in read ? read.problems.find(({ code }) => !/^TOO_/.test(code)) : undefined;
  return problem ?? { line: null, column: null };
}

/** UTF-8 without its byte order mark; null after a problem. */
export function readText(file: string, bytes: Buffer, problems: ProblemList): string | null {
  if (!isUtf8(bytes)) {
    problems.add(file, '', 'is not UTF-8: save it as UTF-8.');
    return null;
  }
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}
