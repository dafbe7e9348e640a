// The text of a JSON file of the catalog as a value. The parser's own messages quote the file, so they are not shown.
import { isUtf8 } from 'node:buffer';
import type { ProblemList } from './problems.ts';

/** undefined after a problem. */
export function readJson(file: string, bytes: Buffer, problems: ProblemList): unknown {
  const text = readText(file, bytes, problems);
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    const [, offset] = /at position (\d+)/.exec((error as Error).message) ?? [];
    if (offset === undefined) problems.add(file, '', 'is not valid JSON.');
    else {
      const lines = text.slice(0, Number(offset)).split('\n');
      problems.add(file, '', 'is not valid JSON.', lines.length, (lines.at(-1) ?? '').length + 1);
    }
    return undefined;
  }
}

/** UTF-8 without its byte order mark; null after a problem. */
export function readText(file: string, bytes: Buffer, problems: ProblemList): string | null {
  if (!isUtf8(bytes)) {
    problems.add(file, '', 'is not UTF-8: save it as UTF-8.');
    return null;
  }
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}
