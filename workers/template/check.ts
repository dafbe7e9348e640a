// Checks a Template's text and brings it into its normalised form: schema, fragments, defaults, and the forward scan
// over its columns. All problems are reported at once, one per cause.
import { type ScanStep, scanOperations } from '../plan/scan.ts';
import { checkOutputColumns, checkSections } from './check-sections.ts';
import { ColumnPatterns } from './column-pattern.ts';
import type { Fragments } from './fragments.ts';
import { collectPlaceholders, expandFragments } from './fragments.ts';
import type { OperationTable, TemplateLanguage } from './language.ts';
import { isMapping } from './mapping.ts';
import { metaVariables } from './meta-variables.ts';
import { type LineOf, stepsOf } from './normalise-operation.ts';
import type { OperationEntry } from './operation-forms.ts';
import { operationEntries } from './operation-forms.ts';
import { pointerSegment } from './pointer.ts';
import { schemaMessages } from './schema-messages.ts';
import type { TemplateSections } from './sections.ts';
import { templateSectionsOf } from './sections.ts';
import { PROBLEMS_MAX } from './source-node.ts';
import { suggestion } from './suggestion.ts';
import type { FileColumn, IfMissing, Problem, ReportProblem, Template } from './template.ts';
import type { TemplateFormat } from './template-text.ts';
import { parseTemplate } from './template-text.ts';
import { SchemaValidator } from './validate.ts';

export interface CheckOptions {
  /** True for a text that was checked before: the schema pass (the slow one, and the one that loads ajv) is left out. */
  readonly schemaChecked?: boolean;
  /** Names of the catalog's reference tables; without it nobody looks whether a table exists. */
  readonly tables?: { has(ref: string): boolean; keys(): Iterable<string> };
  /** Names of the account's secrets; without it nobody looks whether a secret exists. */
  readonly secrets?: ReadonlySet<string>;
}

export type CheckResult = { readonly template: Template } | { readonly problems: readonly Problem[] };

/** Checks the Templates of one language. */
export class TemplateChecker {
  readonly #language: TemplateLanguage;
  readonly #validator: SchemaValidator;

  constructor(language: TemplateLanguage) {
    this.#language = language;
    this.#validator = new SchemaValidator(language);
  }

  /** @returns the Template, or all that is wrong with it in the order of the text, at most PROBLEMS_MAX problems */
  check(source: string, format: TemplateFormat, options: CheckOptions = {}): CheckResult {
    const read = parseTemplate(source, format);
    if ('problems' in read) return read;
    const { root, problem } = read.text;
    const lineOf: LineOf = (pointer) => problem(pointer, '', '').line;
    const problems = new Map<string, Problem>();
    const report: ReportProblem = (pointer, code, message) => {
      const key = `${pointer} ${code} ${message}`;
      if (!problems.has(key)) problems.set(key, problem(pointer, code, message));
      if (problems.size === PROBLEMS_FOUND_MAX) throw new EnoughProblems();
    };
    let template: Template | null = null;
    try {
      const tools = { language: this.#language, validator: this.#validator, options, lineOf };
      template = checkRoot(root.value, tools, report);
    } catch (error) {
      if (!(error instanceof EnoughProblems)) throw error;
    }
    if (problems.size === 0 && template !== null) return { template };
    const sorted = [...problems.values()].sort((a, b) => a.line - b.line || a.column - b.column);
    return { problems: sorted.slice(0, PROBLEMS_MAX) };
  }
}

interface CheckTools {
  readonly language: TemplateLanguage;
  readonly validator: SchemaValidator;
  readonly options: CheckOptions;
  readonly lineOf: LineOf;
}

/** What is found after so many problems is hardly among the first fifty of the text, and takes its time all the same. */
const PROBLEMS_FOUND_MAX = PROBLEMS_MAX * 20;

/** Thrown to the top of the check, which tells those that were found. */
class EnoughProblems extends Error {}

function checkRoot(
  root: unknown,
  { language, validator, options, lineOf }: CheckTools,
  report: ReportProblem,
): Template | null {
  const table = language.operations;
  if (typeof root !== 'object' || root === null || Array.isArray(root)) {
    report('', 'BAD_TYPE', 'A Template is a mapping with keys such as input, operations and output.');
    return null;
  }
  let source = root as Readonly<Record<string, unknown>>;
  const listed = operationEntries(source['operations'], '/operations', table, report);
  const fragments = fragmentsOf(source['fragments'], table, report);
  const { operations, used } = expandFragments(listed, fragments, report);
  const broken = new Set(operations.filter((entry) => entry.broken).map(({ pointer }) => pointer));
  if (options.schemaChecked !== true) {
    const entries = [...operations, ...besideOperations(listed, fragments, used)].filter((entry) => !entry.broken);
    const unsound = checkSchema(source, entries, { broken, validator, operations: table }, report);
    if (NEEDED_SECTIONS.some((name) => unsound.has(name))) return null;
    const sound = Object.fromEntries(Object.entries(source).filter(([name]) => !unsound.has(name)));
    source = unsound.has('input') ? { ...sound, input: namesAroundTable(source['input']) } : sound;
  }
  checkTables(source['tables'], options.tables, report);
  return checkMeaning(source, { operations, broken, language, lineOf, secrets: options.secrets }, report);
}

/** Without these nothing can be said of what operations mean; in the place of others their defaults will do. */
const NEEDED_SECTIONS = ['operations', 'fragments', 'tables'];

/** Of a broken section `input`, the values that expressions name: they are not at fault, whatever is wrong with them there. */
function namesAroundTable(input: unknown): Readonly<Record<string, unknown>> {
  const named = (section: unknown): Readonly<Record<string, unknown>> =>
    isMapping(section) ? Object.fromEntries(Object.keys(section).map((name) => [name, { record: 0, field: 1 }])) : {};
  return isMapping(input) ? { preamble: named(input['preamble']), footer: named(input['footer']) } : {};
}

function fragmentsOf(source: unknown, table: OperationTable, report: ReportProblem): Fragments {
  if (source === undefined || source === null) return new Map();
  if (typeof source !== 'object' || Array.isArray(source)) {
    report('/fragments', 'BAD_TYPE', 'Write a mapping of names to lists of operations.');
    return new Map();
  }
  return new Map(
    Object.entries(source).map(([name, list]) => [
      name,
      operationEntries(list, `/fragments/${pointerSegment(name)}`, table, report),
    ]),
  );
}

/** What the operations to run do not show: each `use`, and fragments that nobody uses. */
function besideOperations(
  listed: readonly OperationEntry[],
  fragments: Fragments,
  used: ReadonlySet<string>,
): OperationEntry[] {
  const all = [...fragments.values()].flat();
  const uses = [...listed, ...all].filter(({ name }) => name === 'use');
  const idle = [...fragments].filter(([name]) => !used.has(name)).flatMap(([, entries]) => entries);
  return [...uses, ...idle].filter(({ value }) => {
    const placeholders = new Set<string>();
    collectPlaceholders(value, placeholders);
    return placeholders.size === 0;
  });
}

/** @returns the names of the sections that are broken */
function checkSchema(
  source: Readonly<Record<string, unknown>>,
  entries: readonly OperationEntry[],
  {
    broken,
    validator,
    operations,
  }: { readonly broken: Set<string>; readonly validator: SchemaValidator; readonly operations: OperationTable },
  report: ReportProblem,
): ReadonlySet<string> {
  const fragments = source['fragments'] === undefined ? {} : { fragments: {} };
  const whole = Object.assign(Object.create(null), source, fragments, {
    operations: entries.map(({ value }) => value),
  });
  const entryAt = (pointer: string) => entries[Number(/^\/operations\/(\d+)/.exec(pointer)?.[1])];
  const errors = validator.errors(whole);
  const unsound = new Set<string>();
  // Not all errors become messages; every one spoils what it is in.
  for (const { instancePath } of errors) {
    const entry = entryAt(instancePath);
    if (entry === undefined) unsound.add(instancePath.split('/')[1] ?? '');
    else broken.add(entry.pointer);
  }
  for (const { pointer, code, message } of schemaMessages(errors, operations)) {
    const base = entryAt(pointer)?.base;
    report(base === undefined ? pointer : base + pointer.replace(/^\/operations\/\d+/, ''), code, message);
  }
  return unsound;
}

function checkTables(source: unknown, known: CheckOptions['tables'], report: ReportProblem): void {
  if (known === undefined || source === undefined) return;
  for (const [name, { ref }] of Object.entries(source as Readonly<Record<string, { readonly ref: string }>>)) {
    if (known.has(ref)) continue;
    const message = `The catalog has no table ${JSON.stringify(ref)}.${suggestion(ref, known.keys())}`;
    report(`/tables/${pointerSegment(name)}/ref`, 'UNKNOWN_TABLE', message);
  }
}

interface MeaningParts {
  readonly operations: readonly OperationEntry[];
  /** Pointers of entries that have a problem of their own. */
  readonly broken: ReadonlySet<string>;
  readonly language: TemplateLanguage;
  readonly lineOf: LineOf;
  readonly secrets: ReadonlySet<string> | undefined;
}

function checkMeaning(source: Readonly<Record<string, unknown>>, parts: MeaningParts, report: ReportProblem): Template {
  const sections = templateSectionsOf(source, parts.language);
  const patterns = new ColumnPatterns();
  checkSections(sections, source, { patterns, language: parts.language }, report);
  const steps = stepsOf(parts.operations, parts, sections.defaults, parts.language.operations);
  const running = steps.filter((step): step is ScanStep => !('broken' in step));
  if (parts.secrets !== undefined) checkSecrets(running, parts.secrets, report);
  const flags = running.some(
    ({ operation, definition }) => operation.onError === 'flag' || definition.flags?.(operation.parameters) === true,
  );
  const { format, settings } = sections.output;
  // Of a file that cannot hold all texts, the output is a step that may flag rows.
  const isLimited = parts.language.outputFormats.get(format)?.file(settings).limits !== undefined;
  const flagColumn = flags || (isLimited && sections.defaults.onError === 'flag') ? sections.defaults.flagColumn : null;
  const declared = sections.input.columns.map(({ name }) => name);
  if (flagColumn !== null && declared.includes(flagColumn)) {
    report(
      '/defaults/flag_column',
      'COLUMN_EXISTS',
      `The flag column ${JSON.stringify(flagColumn)} is declared as a column.`,
    );
  }
  const tables = new Map(Object.keys(sections.tables).map((name) => [name, null]));
  const scan = scanOperations(
    {
      steps,
      fileColumns: [...new Set(declared)],
      flagColumn,
      outputColumns: sections.output.columns,
      patterns,
      tables,
      variables: metaVariables(sections.input),
    },
    report,
  );
  checkOutputColumns(sections.output, scan.output, parts.language, report);
  const operations = running.map(({ operation }) => operation);
  const takesOthers = sections.input.otherColumns === 'keep' && scan.takesOthers;
  const fileColumns = fileColumnsOf(sections, scan.reads);
  return { ...sections, fileColumns, takesOthers, flagColumn, operations, patterns };
}

function checkSecrets(steps: readonly ScanStep[], known: ReadonlySet<string>, report: ReportProblem): void {
  for (const { definition, operation, base } of steps) {
    for (const { name, pointer } of definition.secrets?.(operation.parameters) ?? []) {
      if (known.has(name)) continue;
      const message = `The account has no secret ${JSON.stringify(name)}.${suggestion(name, known)}`;
      report(base + pointer, 'UNKNOWN_SECRET', message);
    }
  }
}

function fileColumnsOf({ input }: TemplateSections, reads: ReadonlyMap<string, IfMissing>): FileColumn[] {
  const declared = input.columns.map(({ name, match, required }): FileColumn => {
    const optional = reads.get(name) === 'skip' ? 'skip' : 'null';
    return { name, match, ifMissing: required ? 'fail' : optional, declared: true };
  });
  const names = new Set(declared.map(({ name }) => name));
  const read = [...reads]
    .filter(([name]) => !names.has(name))
    .map(([name, ifMissing]): FileColumn => ({ name, match: [], ifMissing, declared: false }));
  return [...declared, ...read];
}
