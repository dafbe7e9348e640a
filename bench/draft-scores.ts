// Scores how much of a handwritten Template `template draft` proposes for the same file, active or as an offer. A line
// is a setting of `input`, a column, an operation, or the list of output columns; `name`, `description` and `tests` do
// not count.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { draftOf } from '../src/commands/template-draft.ts';
import { parseTemplate } from '../workers/template/template-text.ts';

const RECIPES = 'examples/recipes';

type Mapping = Readonly<Record<string, unknown>>;

/** A line in a comparable form: its column names are those of the file. */
interface Line {
  readonly kind: string;
  readonly columns: readonly string[];
  readonly parameters: Mapping;
}

export async function scoreDrafts(): Promise<Record<string, number>> {
  let [found, all] = [0, 0];
  for (const recipe of readdirSync(RECIPES, { withFileTypes: true })) {
    if (!recipe.isDirectory()) continue;
    const folder = join(RECIPES, recipe.name);
    const template = mappingOf(readFileSync(join(folder, 'template.yaml'), 'utf8'));
    const wanted = linesOf(template);
    const there = linesOf(mappingOf(withOffers(await draftOf({ path: join(folder, sampleOf(template)) }))));
    const missing = wanted.filter((line) => !isThere(line, there));
    found += wanted.length - missing.length;
    all += wanted.length;
    const names = missing.map(({ kind, columns }) => `${kind} ${columns.join(',')}`.trim());
    console.log(
      `draft of ${recipe.name}: ${wanted.length - missing.length} of ${wanted.length}; not ${names.join('; ')}`,
    );
  }
  return { 'draft, lines of recipes': Math.round((found / all) * 1000) / 1000 };
}

/**
 * Returns the file of the recipe's first test, for which the Template was written. Other forms of the export follow it.
 */
function sampleOf(template: Mapping): string {
  const [first] = template['tests'] as readonly { readonly input: { readonly file: string } }[];
  return first!.input.file;
}

/** Returns a draft with each offered line activated. Duplicate operations do not matter here. */
function withOffers(draft: string): string {
  const lines = draft.split('\n').map((line) => line.replace(/^( *)# (?=(?:- \{|[a-z_]+:))/, '$1'));
  return lines.filter((line) => !line.startsWith('yaml-language-server')).join('\n');
}

function mappingOf(source: string): Mapping {
  const read = parseTemplate(source, 'yaml');
  if ('problems' in read) throw new Error(`${JSON.stringify(read.problems)}\n${source}`);
  return read.text.root.value as Mapping;
}

function linesOf(template: Mapping): Line[] {
  const { csv = {}, columns = [], preamble = {}, footer = {}, ...input } = (template['input'] ?? {}) as Mapping;
  const declared = columns as readonly { name: string; match?: readonly unknown[] }[];
  const headers = new Map(declared.map(({ name, match }) => [name, headerOf(name, match)]));
  const named = (name: string): string => headers.get(name) ?? name;
  const setting = ([kind, value]: [string, unknown]): Line => ({ kind, columns: [], parameters: { value } });
  const operations = (template['operations'] ?? []) as readonly Mapping[];
  const output = ((template['output'] ?? {}) as Mapping)['columns'] as readonly string[] | undefined;
  return [
    ...Object.entries(csv as Mapping).map(setting),
    ...Object.entries(preamble as Mapping).map(([, value]) => setting(['preamble', value])),
    ...Object.entries(footer as Mapping).map(([, value]) => setting(['footer', value])),
    ...Object.entries(input).map(setting),
    ...declared.map(({ name }) => ({ kind: 'column', columns: [named(name)], parameters: {} })),
    ...operations.flatMap((operation) => operationLines(operation, named)),
    ...(output === undefined ? [] : [{ kind: 'output', columns: output.map(named), parameters: {} }]),
  ];
}

function headerOf(name: string, match: readonly unknown[] = []): string {
  const text = match.find((form): form is string => typeof form === 'string');
  return (text ?? name).trim().toLowerCase();
}

/** Column names in expressions are not converted: those lines are compared by the columns that they create. */
function operationLines(operation: Mapping, named: (name: string) => string): Line[] {
  const { op, ...written } = operation;
  const [kind, given] = op === undefined ? Object.entries(operation)[0]! : [op as string, written];
  const { columns = [], group_by: group, ...parameters } = given as Mapping;
  if (kind === 'validate') {
    const rules = (parameters['rules'] ?? []) as readonly { column?: string; check: string }[];
    return rules.map(({ column, check }) => ({
      kind,
      columns: column === undefined ? [] : [named(column)],
      parameters: { check },
    }));
  }
  const isMap = typeof columns === 'object' && !Array.isArray(columns);
  const names =
    typeof columns === 'string' ? [columns] : isMap ? Object.keys(columns as object) : (columns as string[]);
  const by =
    group === undefined
      ? {}
      : {
          group_by: [group]
            .flat()
            .map((name) => named(name as string))
            .join(),
        };
  return [{ kind, columns: names.map(named), parameters: { ...parameters, ...by } }];
}

/**
 * Settings that no file reveals: the time zone, the number of decimal places of a result. A sample without grouped
 * digits shows no grouping.
 */
const UNTOLD = new Set(['timezone', 'scale', 'grouping', 'ambiguous', 'where', 'id', 'note']);

/**
 * Columns that the recipe has on one line may be on several lines in the draft, which describes each column separately.
 */
function isThere(line: Line, there: readonly Line[]): boolean {
  const each = line.columns.length === 0 ? [line] : line.columns.map((name) => ({ ...line, columns: [name] }));
  return each.every((one) => there.some((other) => covers(other, one)));
}

function covers(draft: Line, { kind, columns, parameters }: Line): boolean {
  if (draft.kind !== kind) return false;
  const hasColumns = columns.every((name) => name === '*' || draft.columns.includes(name));
  return (
    hasColumns &&
    Object.entries(parameters).every(([name, value]) => UNTOLD.has(name) || isWithin(value, draft.parameters[name]))
  );
}

/** Lists match if they share an item, or if the recipe's list is empty: a sample only shows its own currency sign. */
function isWithin(value: unknown, drafted: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(drafted))
    return drafted.some((item) => value.includes(item)) || value.length === 0;
  return JSON.stringify(value) === JSON.stringify(drafted);
}
