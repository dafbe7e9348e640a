// Suggestions for the columns as they are after a step: a draft of the rows of that step, whose lines become steps.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTemplate } from '../../workers/template/template-text.ts';
import { fingerprintOf } from '../../workers/values/similarity.ts';
import type { WatchedColumn } from '../../workers/watch/watch-messages.ts';
import { counted } from '../drafts/draft-line.ts';
import { csvText } from './golden-test.ts';
import { makeStudioFolder } from './opened-files.ts';
import { rowsOf, similarValues } from './similar-values.ts';
import type { SimilarityMethod, SimilarValues, Suggestion } from './studio-answers.ts';

/** Cells of a draft. A draft of this size takes about half a second. */
const CELLS_MAX = 40_000;

const ROWS_MAX = 2_000;

/** Rows that a draft for these columns reads. */
export function suggestionRows(columns: number): number {
  return Math.min(ROWS_MAX, Math.floor(CELLS_MAX / Math.max(1, columns)));
}

export interface StepRows {
  readonly columns: readonly WatchedColumn[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** @param draft makes the text of a draft for a file */
export async function suggestionsFor(
  { columns, rows }: StepRows,
  draft: (path: string) => Promise<string>,
): Promise<readonly Suggestion[]> {
  if (columns.length === 0 || rows.length === 0) return [];
  // Only this user can read the folder.
  const folder = makeStudioFolder();
  try {
    const path = join(folder, 'rows.csv');
    const cells = rows.map((row) => columns.map((_, index) => row[index] ?? ''));
    writeFileSync(path, csvText([columns.map(({ name }) => name), ...cells]));
    const text = await draft(path);
    const drafted = [...missingValues(text, { columns, rows }), ...suggestionsIn(text, columns)];
    return [...drafted, ...similarSuggestions({ columns, rows })];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The lines of a draft's operations, active and proposed, in terms of the columns of the step. */
function suggestionsIn(text: string, columns: readonly WatchedColumn[]): readonly Suggestion[] {
  const names = namesOf(text, columns);
  const body = text.slice(text.search(/^(?:# )?operations:/m));
  return [...body.matchAll(/^ +(?:# )?- (\{.*\}) {2}# (.*)$/gm)].flatMap(([, written, evidence]) => {
    const parsed = parseTemplate(written!, 'yaml');
    if ('problems' in parsed) return [];
    const [[operation, parameters]] = Object.entries(parsed.text.root.value as Record<string, Parameters>) as [
      [string, Parameters],
    ];
    const renamed = renamedParameters(parameters, names);
    if (renamed === null) return [];
    const useful = withoutTyped(renamed, columns);
    return useful === null ? [] : [{ operation, parameters: useful, evidence: evidence! }];
  });
}

/** Texts such as n/a, which a draft suggests as `null_values` of the input: here, a step for the columns with them. */
function missingValues(text: string, { columns, rows }: StepRows): readonly Suggestion[] {
  const [, written, evidence] = /^ *(?:# )?null_values: (\[.*\]) {2}# (.*)$/m.exec(text) ?? [];
  if (written === undefined) return [];
  const values = (JSON.parse(written) as string[]).filter((value) => value !== '');
  const names = columns
    .filter(({ type }, index) => type === 'text' && rows.some((row) => values.includes(row[index] ?? '')))
    .map(({ name }) => name);
  if (names.length === 0) return [];
  const set = names.length === 1 ? names[0] : names;
  return [{ operation: 'blank_if', parameters: { columns: set, values }, evidence: evidence! }];
}

/**
 * Similar values that are suggested without a review: this similarity is reached by names with one wrong letter. The
 * page shows the same groups for review.
 */
const SUGGESTED_SIMILARITY = 0.93;

/** Columns with more distinct values, or with fewer rows for each value, contain names, texts or numbers. */
const CLUSTERED_VALUES_MAX = 300;
const ROWS_PER_VALUE_MIN = 2;

/** A value is probably a misspelling if the most frequent value of its group occurs this many times as often. */
const MISSPELT_SHARE = 3;

/** Similar values of text columns, as one step for each column and method. */
function similarSuggestions({ columns, rows }: StepRows): readonly Suggestion[] {
  return columns.flatMap(({ name, type }, index) => {
    if (type !== 'text') return [];
    const cells = rows.map((row) => row[index] ?? null).filter((cell) => cell !== null && /\p{L}/u.test(cell));
    const same = { method: 'fingerprint', threshold: SUGGESTED_SIMILARITY } as const;
    const equal = similarValues(cells, same).groups.map(withSameNumbers);
    const close = { method: 'similarity', threshold: SUGGESTED_SIMILARITY } as const;
    const distinct = new Set(cells).size;
    const isClustered = distinct <= CLUSTERED_VALUES_MAX && distinct * ROWS_PER_VALUE_MIN <= cells.length;
    const misspelt = isClustered ? similarValues(cells.filter(isWord), close).groups.map(withMisspelt) : [];
    return [...mapSuggestion(name, equal, same), ...mapSuggestion(name, misspelt, close)];
  });
}

/** Values with other digits, such as house numbers, are other values. */
function withSameNumbers(values: SimilarValues): SimilarValues {
  const digits = (text: string): string => (text.match(/\d+/g) ?? []).join(' ');
  return values.filter(({ text }) => digits(text) === digits(values[0]!.text));
}

/** Values with digits are codes or addresses. Short words with one other letter are other words. */
function isWord(text: string | null): boolean {
  return text !== null && /^\P{N}{6,}$/u.test(text);
}

/** The most frequent value with its rare ones, except those with the same fingerprint, which are suggested before. */
function withMisspelt(values: SimilarValues): SimilarValues {
  const [first, ...others] = values;
  const key = fingerprintOf(first!.text);
  const rare = others.filter(
    ({ text, count }) => count * MISSPELT_SHARE <= first!.count && fingerprintOf(text) !== key,
  );
  return [first!, ...rare];
}

function mapSuggestion(
  name: string,
  found: readonly SimilarValues[],
  similarity: SimilarityMethod,
): readonly Suggestion[] {
  const groups = found.filter((values) => values.length > 1);
  if (groups.length === 0) return [];
  const replaced = groups.flatMap(([first, ...others]) => others.map((value) => ({ ...value, by: first!.text })));
  const map = Object.fromEntries(replaced.map(({ text, by }) => [text, by]));
  const how =
    similarity.method === 'fingerprint'
      ? 'that differ only in case, accents, punctuation, spaces or the order of words'
      : `with a similarity of at least ${similarity.threshold}, the others at least ${MISSPELT_SHARE} times as frequent`;
  const evidence = `${counted(groups.length, 'group')} of values ${how}; ${counted(rowsOf(replaced), 'cell')} would change`;
  return [{ operation: 'map_values', parameters: { columns: name, map }, evidence, similarity }];
}

type Parameters = Readonly<Record<string, unknown>>;

/** Names of the columns, by their names in the draft. */
function namesOf(text: string, columns: readonly WatchedColumn[]): ReadonlyMap<string, string> {
  const parsed = parseTemplate(text, 'yaml');
  if ('problems' in parsed) throw new Error('a draft cannot be read');
  const { input } = parsed.text.root.value as { readonly input?: { readonly columns?: readonly { name: string }[] } };
  return new Map((input?.columns ?? []).map(({ name }, index) => [name, columns[index]?.name ?? name]));
}

/** Null: an expression names a column that has another name in the draft. */
function renamedParameters(parameters: Parameters, names: ReadonlyMap<string, string>): Parameters | null {
  const isSame = [...names].every(([drafted, name]) => drafted === name);
  if (isSame) return parameters;
  if ('where' in parameters || 'rules' in parameters) return null;
  const renamed = (value: unknown): unknown => {
    if (typeof value === 'string') return names.get(value) ?? value;
    return Array.isArray(value) ? value.map(renamed) : value;
  };
  return Object.fromEntries(
    Object.entries(parameters).map(([key, value]) => [key, COLUMN_KEYS.includes(key) ? renamed(value) : value]),
  );
}

const COLUMN_KEYS = ['columns', 'column', 'by'];

/** Leaves out columns that already have a type other than text. Returns null if no column is left. */
function withoutTyped(parameters: Parameters, columns: readonly WatchedColumn[]): Parameters | null {
  const { columns: set } = parameters;
  const names = typeof set === 'string' ? [set] : Array.isArray(set) ? (set as unknown[]) : null;
  if (names === null) return parameters;
  const isText = (name: unknown): boolean => columns.find((column) => column.name === name)?.type === 'text';
  const left = names.filter(isText);
  if (left.length === 0) return null;
  return { ...parameters, columns: left.length === 1 ? left[0] : left };
}
