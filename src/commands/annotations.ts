// Prints problems as annotations of GitHub Actions: workflow commands, which GitHub shows at the file and line.
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
import { type Flag, UsageError } from './command.ts';

/** A problem of a file. Lines and columns count from 1; null: unknown. */
export interface Annotation {
  readonly level: 'error' | 'notice';
  /** Path relative to the root of the repository, which is the working directory of workflow steps. */
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly title: string;
  readonly message: string;
}

export const FORMAT_FLAGS = {
  format: { kind: 'value', placeholder: 'NAME', purpose: 'text, or github: annotations of GitHub Actions (text)' },
} as const satisfies Readonly<Record<string, Flag>>;

/** @throws UsageError for an unknown format */
export function wantsAnnotations(values: ReadonlyMap<string, string>): boolean {
  const format = values.get('format') ?? 'text';
  if (format !== 'text' && format !== 'github') throw new UsageError('--format is text or github.');
  return format === 'github';
}

export function annotationLine({ level, file, line, column, title, message }: Annotation): string {
  const properties = [
    `file=${property(file)}`,
    ...(line === null ? [] : [`line=${line}`]),
    ...(column === null ? [] : [`col=${column}`]),
    `title=${property(title)}`,
  ];
  return `::${level} ${properties.join(',')}::${data(message)}\n`;
}

function data(text: string): string {
  return text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}

function property(text: string): string {
  return data(text).replace(/:/g, '%3A').replace(/,/g, '%2C');
}
