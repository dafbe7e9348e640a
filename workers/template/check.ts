// Checks a Template's text and converts it to its normalised form, including the rules that the schema cannot express.
import type { Column } from '../batch/schema.ts';
import type { OutputSection } from '../output/format.ts';
import { suggestion } from '../values/suggestion.ts';
import { ColumnPatterns } from './column-pattern.ts';
import { collectPlaceholders, expandFragments, type Fragments } from './fragments.ts';
import type { EncodingLabels, OperationTable, TemplateLanguage } from './language.ts';
import { type LineOf, type OperationEntry, operationEntries, stepsOf } from './operation-forms.ts';
import { type ScanStep, scanOperations } from './scan.ts';
import { SchemaValidator } from './schema.ts';
import { schemaMessages } from './schema-messages.ts';
import { FIXED_CHARACTERS_MAX } from './section-schemas.ts';
import { laterSection, sectionsOf, settingsOf, type TemplateSections, templateSectionsOf } from './sections.ts';
import { isMapping, PROBLEMS_MAX, pointerSegment } from './source-node.ts';
import {
  type CsvInput,
  type EncodingSetting,
  type FileColumn,
  type FixedInput,
  type IfMissing,
  type MetaValue,
  metaVariables,
  type Problem,
  type ReportProblem,
  type Template,
  type TemplateInput,
  type TemplateOutput,
} from './template.ts';
import { parseTemplate, type TemplateFormat } from './template-text.ts';

// Checks of a Template's sections that the schema cannot express: duplicate names, patterns, encodings, settings that
// exclude each other, and formats that this version does not support.

function checkSections(
  sections: TemplateSections,
  source: Readonly<Record<string, unknown>>,
  { patterns, language }: { readonly patterns: ColumnPatterns; readonly language: TemplateLanguage },
  report: ReportProblem,
): void {
  checkInput(sections.input, patterns, language, report);
  checkOutput(sections, source, language, report);
}

/** @param columns columns of the output that are known from the Template alone */
function checkOutputColumns(
  { format, settings }: TemplateOutput,
  columns: readonly Column[],
  { outputFormats }: TemplateLanguage,
  report: ReportProblem,
): void {
  const section = outputFormats.get(format)?.section;
  section?.checkColumns?.(settings, columns, reportIn(section, report));
}

function checkInput(
  { columns, format, csv, fixed, preamble, footer, archiveFile, archiveFiles }: TemplateInput,
  patterns: ColumnPatterns,
  { encodings }: TemplateLanguage,
  report: ReportProblem,
): void {
  const names = new Map<string, number>();
  for (const [index, { name, match }] of columns.entries()) {
    const pointer = `/input/columns/${index}`;
    const first = names.get(name);
    if (first !== undefined) {
      const message = `The column ${JSON.stringify(name)} is declared twice, first at /input/columns/${first}.`;
      report(`${pointer}/name`, 'DUPLICATE_COLUMN', message);
    } else names.set(name, index);
    for (const [at, form] of match.entries()) {
      if (typeof form === 'string' || !('pattern' in form)) continue;
      const pattern = patterns.compile(form.pattern);
      if ('problem' in pattern) report(`${pointer}/match/${at}/pattern`, 'BAD_PATTERN', pattern.problem);
    }
  }
  checkMeta(preamble, footer, patterns, report);
  checkEncoding(csv.encoding, encodings, report);
  if (fixed !== null) checkFixed(fixed, csv, report);
  checkFormat(format, fixed !== null, csv, report);
  if (csv.delimiter?.includes(csv.quote || '"') && csv.quote !== '') {
    report('/input/csv/delimiter', 'BAD_VALUE', 'The delimiter and the quote are the same character.');
  }
  if (csv.escape === '\\') checkEscape(csv, report);
  if (csv.recordSeparator !== null) checkRecordSeparator(csv, fixed !== null || footer.length > 0, report);
  if (archiveFile !== null && archiveFiles !== null) {
    const message = '"archive_file" reads one file and "archive_files" all that match: leave one of them out.';
    report('/input/archive_files', 'BAD_VALUE', message);
  }
}

/** @param needsLines whether another setting needs line breaks at the end of records */
function checkRecordSeparator(
  { recordSeparator, delimiter, quote, escape: escapes, comment }: CsvInput,
  needsLines: boolean,
  report: ReportProblem,
): void {
  const problem = (message: string): void => report('/input/csv/record_separator', 'BAD_VALUE', message);
  if (needsLines || escapes || comment !== null)
    problem('A record separator cannot be combined with "fixed", "footer", "csv.escape" or "csv.comment".');
  const marks = [delimiter ?? '', quote ?? ''];
  if (marks.some((mark) => mark !== '' && (mark.includes(recordSeparator!) || recordSeparator!.includes(mark))))
    problem('The record separator is the same as the delimiter or the quote, or contains it.');
  if (quote !== null && quote > '\u007f') problem('With a record separator, the quote must be an ASCII character.');
}

/** Valid name after `run.meta.` in an expression. */
const META_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function checkMeta(
  preamble: readonly MetaValue[],
  footer: readonly MetaValue[],
  patterns: ColumnPatterns,
  report: ReportProblem,
): void {
  const above = new Set(preamble.map(({ name }) => name));
  for (const [section, values] of Object.entries({ preamble, footer })) {
    for (const { name, record, field, pattern } of values) {
      const pointer = `/input/${section}/${pointerSegment(name)}`;
      if (!META_NAME.test(name)) {
        report(
          pointer,
          'BAD_VALUE',
          'The name of a value consists of letters, digits and _, and does not begin with a digit.',
        );
      } else if (section === 'footer' && above.has(name)) {
        report(
          pointer,
          'BAD_VALUE',
          `The value ${JSON.stringify(name)} is declared twice, first at /input/preamble/${name}.`,
        );
      }
      if (pattern === null && (record === null || field === null)) {
        report(
          pointer,
          'BAD_VALUE',
          'Write the position of the value, {record: 0, field: 1}, or a pattern that finds it.',
        );
      }
      const compiled = pattern === null ? null : patterns.compile(pattern);
      if (compiled !== null && 'problem' in compiled) report(`${pointer}/pattern`, 'BAD_PATTERN', compiled.problem);
    }
  }
}

function checkFormat(
  format: TemplateInput['format'],
  hasFixed: boolean,
  { headerRow, headerRows, columns, delimiter, quote, escape: escapes }: CsvInput,
  report: ReportProblem,
): void {
  const problem = (pointer: string, message: string): void => report(pointer, 'BAD_VALUE', message);
  if (format === 'fixed' && !hasFixed)
    problem('/input/format', 'Write the columns too: fixed: {columns: [{name: id, start: 1, length: 8}]}.');
  if (format === 'lines' && hasFixed)
    problem('/input/format', 'A file is read as lines or as fixed columns: leave "fixed" out, or write format: fixed.');
  if (format === 'lines' && !hasFixed) {
    for (const [setting, value] of Object.entries({ delimiter, quote, escape: escapes }))
      if (value) problem(`/input/csv/${setting}`, `A file of lines has no ${setting}: leave it out.`);
  }
  if (columns !== null && (hasFixed || format === 'lines'))
    problem('/input/csv/columns', 'Lines and fixed columns have a known number of columns: leave this setting out.');
  else if (columns !== null && headerRow !== 'none')
    problem(
      '/input/csv/columns',
      'The header determines the number of columns. For a file without a header, write header_row: none.',
    );
  if (headerRows === null) return;
  if (hasFixed || headerRow === 'none')
    problem('/input/csv/header_rows', 'The file has no header, so there are no lines to join: leave this setting out.');
  else if (headerRow !== null && headerRow < headerRows - 1)
    problem(
      '/input/csv/header_rows',
      '"header_row" is the last line of the header, counted from 0, and there are too few lines above it.',
    );
}

function checkFixed(
  { columns, recordLength }: FixedInput,
  { delimiter, quote, escape: escapes }: CsvInput,
  report: ReportProblem,
): void {
  const names = new Map<string, number>();
  for (const [index, { name, start, length }] of columns.entries()) {
    const pointer = `/input/fixed/columns/${index}`;
    const first = names.get(name);
    if (first !== undefined) {
      const message = `The column ${JSON.stringify(name)} is declared twice, first at /input/fixed/columns/${first}.`;
      report(`${pointer}/name`, 'DUPLICATE_COLUMN', message);
    } else names.set(name, index);
    if (start + length - 1 > FIXED_CHARACTERS_MAX) {
      report(`${pointer}/length`, 'BAD_VALUE', `The column ends after character ${FIXED_CHARACTERS_MAX} of the line.`);
    } else if (recordLength !== null && start + length - 1 > recordLength) {
      report(
        `${pointer}/length`,
        'BAD_VALUE',
        `The column ends after character ${recordLength}, the end of the record.`,
      );
    }
  }
  for (const [setting, value] of Object.entries({ delimiter, quote, escape: escapes })) {
    if (value === null) continue;
    report(`/input/csv/${setting}`, 'BAD_VALUE', `A file of fixed columns has no ${setting}: leave it out.`);
  }
}

/** Backslash escapes are rewritten byte by byte, so the delimiter and the quote must be single ASCII characters. */
function checkEscape({ delimiter, quote }: CsvInput, report: ReportProblem): void {
  for (const [setting, value] of Object.entries({ delimiter, quote })) {
    if (value === null || value === '' || (value.length === 1 && value < '\x80' && value !== '\\')) continue;
    report(
      `/input/csv/${setting}`,
      'BAD_VALUE',
      `With "escape" the ${setting} must be one ASCII character other than a backslash.`,
    );
  }
}

function checkEncoding(
  setting: EncodingSetting,
  { nameOf, suggested, auto }: EncodingLabels,
  report: ReportProblem,
): void {
  if (setting === null || setting === auto) return;
  const isList = typeof setting !== 'string';
  const seen = new Set<string>();
  for (const [index, label] of (isList ? setting : [setting]).entries()) {
    const pointer = isList ? `/input/csv/encoding/${index}` : '/input/csv/encoding';
    const name = nameOf(label);
    if (name === null) report(pointer, 'BAD_VALUE', unknownEncoding(label, suggested, auto));
    else if (seen.has(name)) report(pointer, 'BAD_VALUE', `The encoding ${name} is in the list twice.`);
    else seen.add(name);
  }
}

function unknownEncoding(label: string, suggested: readonly string[], auto: string): string {
  if (label === auto) return `Write ${auto} alone, not in a list.`;
  return `Unknown encoding. Write a WHATWG name such as "utf-8" or "windows-1252".${suggestion(label, suggested)}`;
}

function checkOutput(
  { input, output: { format } }: TemplateSections,
  source: Readonly<Record<string, unknown>>,
  { outputFormats }: TemplateLanguage,
  report: ReportProblem,
): void {
  const written = (source['output'] ?? {}) as Readonly<Record<string, unknown>>;
  const later = laterSection(written, outputFormats);
  if (!outputFormats.has(format)) {
    report('/output/format', 'NOT_AVAILABLE', `The output format ${format} is not available in this version.`);
  } else if (later !== undefined) {
    const message = `Settings of ${later.toUpperCase()} are not available in this version.`;
    report(`/output/${later}`, 'NOT_AVAILABLE', message);
  }
  const metaNames = new Set([...input.preamble, ...input.footer].map(({ name }) => name));
  // Sections of other formats are checked too: a mistake there is reported even though it has no effect.
  for (const section of sectionsOf(outputFormats).values()) {
    section.check(settingsOf(section, written, format), format, reportIn(section, report), metaNames);
  }
}

function reportIn({ name }: OutputSection, report: ReportProblem): ReportProblem {
  return (pointer, code, message) => report(`/output/${name}${pointer}`, code, message);
}

// Checks a Template's text and converts it to its normalised form: schema, fragments, defaults, and the forward scan
// over its columns. Reports all problems at once, one per cause.

export interface CheckOptions {
  /** True for a text that was checked before: skips the schema check, which is slow and loads ajv. */
  readonly schemaChecked?: boolean;
  /** Names of the catalog's reference tables. If absent, the existence of tables is not checked. */
  readonly tables?: { has(ref: string): boolean; keys(): Iterable<string> };
  /** Names of the account's secrets. If absent, the existence of secrets is not checked. */
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

  /** @returns the Template, or its problems in the order of the text, at most PROBLEMS_MAX */
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

/**
 * Maximum number of problems found before the check stops. Further problems are rarely among the first fifty of the
 * text, and finding them takes time.
 */
const PROBLEMS_FOUND_MAX = PROBLEMS_MAX * 20;

/** Ends the check early; the problems found so far are reported. */
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

/**
 * If one of these sections is invalid, the meaning of operations cannot be checked. Other invalid sections are
 * replaced by their defaults.
 */
const NEEDED_SECTIONS = ['operations', 'fragments', 'tables'];

/**
 * For an invalid section `input`: declares its preamble and footer values, so that expressions which use them are not
 * reported as well.
 */
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

/** Entries that the expanded operations do not contain: each `use`, and the fragments that are not used. */
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

/** @returns the names of the invalid sections */
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
  // Not every schema error leads to a message, but every one invalidates its section or operation.
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
  /** Pointers of entries that already have a problem. */
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
  // If the output format limits texts, writing the output may flag rows, too.
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
      splitBy: sections.output.splitBy,
      patterns,
      tables,
      tableTypes: sections.tables,
      variables: metaVariables(sections.input),
    },
    report,
  );
  checkFileName(sections.output, report);
  checkOutputColumns(sections.output, scan.output, parts.language, report);
  const operations = running.map(({ operation }) => operation);
  const takesOthers = sections.input.otherColumns === 'keep' && scan.takesOthers;
  const fileColumns = fileColumnsOf(sections, scan.reads);
  return { ...sections, fileColumns, takesOthers, flagColumn, operations, patterns };
}

/** The name of split files contains only columns that choose the file, because others differ between its rows. */
function checkFileName({ splitBy, fileName }: TemplateOutput, report: ReportProblem): void {
  if (fileName === null) return;
  const pointer = '/output/file_name';
  if (splitBy.length === 0) {
    report(
      pointer,
      'UNUSED_PARAMETER',
      'Only an output with split_by has several files. For one file, write output.name.',
    );
    return;
  }
  for (const [, name] of fileName.matchAll(/\{([^{}]*)\}/g)) {
    if (splitBy.includes(name!)) continue;
    const message = `${JSON.stringify(name)} is not in split_by. Known: ${splitBy.join(', ')}.`;
    report(pointer, 'BAD_VALUE', message);
  }
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
