// Suggestions for the columns as they are after a step: a draft of the rows of that step, whose lines become steps.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTemplate } from '../../workers/template/template-text.ts';
import type { WatchedColumn } from '../../workers/watch/watch-messages.ts';
import { counted } from '../drafts/draft-line.ts';
import { csvText } from './golden-test.ts';
import { makeStudioFolder } from './opened-files.ts';
import { type StepRows, similarSuggestions } from './similar-values.ts';
import type { Suggestion } from './studio-answers.ts';

/** Cells of a draft. A draft of this size takes about half a second. */
const CELLS_MAX = 40_000;

const ROWS_MAX = 2_000;

/** Rows that a draft for these columns reads. */
export function suggestionRows(columns: number): number {
  return Math.min(ROWS_MAX, Math.floor(CELLS_MAX / Math.max(1, columns)));
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
    return [...drafted, ...uselessColumns({ columns, rows }), ...similarSuggestions({ columns, rows })];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The lines of a draft's operations, active and proposed, in terms of the columns of the step. */
function suggestionsIn(text: string, columns: readonly WatchedColumn[]): readonly Suggestion[] {
  const names = namesOf(text, columns);
  const body = text.slice(text.search(/^(?:# )?operations:/m));
  return [...body.matchAll(/^ +(?:# )?- (\{.*\}) {2}# (.*)$/gm)].flatMap(([, written, evidence]) => {
    // The check of a total needs values that the draft declares under `input`, which is not part of a suggestion.
    if (/^\{check_totals:|: run\.meta\./.test(written!)) return [];
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

/** With fewer rows, the values of a column may be equal by chance. */
const USELESS_ROWS_MIN = 3;

/** Columns without a value, and columns with the same value in all rows. */
function uselessColumns({ columns, rows }: StepRows): readonly Suggestion[] {
  if (rows.length < USELESS_ROWS_MIN) return [];
  const valuesOf = (index: number): ReadonlySet<string> => new Set(rows.map((row) => (row[index] ?? '').trim()));
  const found = columns.map(({ name }, index) => ({ name, values: valuesOf(index) }));
  const single = found.filter(({ values }) => values.size === 1);
  const suggested = (names: readonly string[], evidence: string): readonly Suggestion[] =>
    names.length === 0
      ? []
      : [{ operation: 'drop', parameters: { columns: names.length === 1 ? names[0] : names }, evidence }];
  const empty = single.filter(({ values }) => values.has('')).map(({ name }) => name);
  const constant = single.filter(({ values }) => !values.has('')).map(({ name }) => name);
  return [
    ...suggested(empty, `no value in ${counted(rows.length, 'row')}`),
    ...suggested(constant, `the same value in all ${counted(rows.length, 'row')}`),
  ];
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
  const { columns } = parameters;
  // The keys are columns, and their values may be expressions.
  const isMapping = typeof columns === 'object' && columns !== null && !Array.isArray(columns);
  if (isMapping || 'where' in parameters || 'rules' in parameters) return null;
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
  if (names === null) return isCheckOfTyped(parameters, columns) ? null : parameters;
  const isText = (name: unknown): boolean => columns.find((column) => column.name === name)?.type === 'text';
  const left = names.filter(isText);
  if (left.length === 0) return null;
  return { ...parameters, columns: left.length === 1 ? left[0] : left };
}

/** True for lists of the values of a column that is no text, and for casts of columns that have their type already. */
function isCheckOfTyped({ rules, columns: casts }: Parameters, columns: readonly WatchedColumn[]): boolean {
  const typeOf = (name: unknown): string | undefined => columns.find((column) => column.name === name)?.type;
  const [rule] = (rules ?? []) as readonly { readonly column: unknown; readonly check: unknown }[];
  if (rule !== undefined) return rule.check === 'in' && typeOf(rule.column) !== 'text';
  return Object.entries(casts ?? {}).some(([name, type]) => type === typeOf(name));
}
