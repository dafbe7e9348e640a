// Worst cases of each operation: the files of worst-files.ts, with the longest parameters that a Template may have. Independent
// of the service.
import { PARAMETER_LENGTH_MAX } from '../../workers/template/base-parameters.ts';
import type { WORST_FILES } from '../stress/worst-files.ts';

/** Operations, and the file that they are applied to. Cells that the operations refuse become blank. */
export interface WorstCase {
  readonly file: keyof typeof WORST_FILES & string;
  readonly operations: readonly object[];
}

export const LONGEST_TEXT = '-'.repeat(PARAMETER_LENGTH_MAX);
export const numberedNames = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

export const worstCase = (file: string, op: string, parameters: object): WorstCase => ({
  file,
  operations: [{ op, ...parameters }],
});
/** A case over numbers, which are parsed first. */
export const worstNumbers = (op: string, parameters: object): WorstCase => ({
  file: 'wideNumbers',
  operations: [
    { op: 'parse_number', columns: '*' },
    { op, ...parameters },
  ],
});
export const worstCases = (files: readonly string[], op: string, parameters: object): WorstCase[] =>
  files.map((file) => worstCase(file, op, parameters));

export const TEXT_FILES = ['ascii', 'wideLetters', 'longRows'];
export const JSON_FILES = ['jsonNumbers', 'jsonLists', 'jsonObjects', 'jsonKeys', 'jsonText'];
export const metric = (fn: string) => ({ fn, column: 'a', as: `m_${fn}` });
