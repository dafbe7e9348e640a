// `template check`: prints every problem of Template files with its position and a suggested fix. Notes point out
// constructs that are valid but may be unintended.
import { explainTemplate } from '../../workers/plan/explain.ts';
import { placeOfName } from '../../workers/plan/sample-problems.ts';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import { HINTED_COLUMNS_MAX, undeclaredNotes } from '../../workers/template/file-columns.ts';
import type { ScanNote } from '../../workers/template/scan.ts';
import type { Problem, Template } from '../../workers/template/template.ts';
import { type ParsedTemplate, parseTemplate, type TemplateFormat } from '../../workers/template/template-text.ts';
import { withMissingColumns } from '../studio/valid-part.ts';
import { annotationLine, FORMAT_FLAGS, wantsAnnotations } from './annotations.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, JSON_FLAGS, parseFlags, QUIET_FLAG, UsageError } from './command.ts';
import { refuseSecondStandardInput, UnreadableFileError, withLocalFile } from './local-input.ts';
import { problemLines, readTemplateFile, type TemplateFile } from './template-file.ts';

export const CHECK_FLAGS = {
  quiet: { ...QUIET_FLAG, purpose: 'no notes, and no lines about valid Templates (off)' },
  ...JSON_FLAGS,
  ...FORMAT_FLAGS,
  strict: {
    kind: 'switch',
    purpose:
      'a column that is read but not declared is a problem (on if the Template has other_columns: drop, otherwise off)',
  },
  sample: {
    kind: 'value',
    placeholder: 'FILE',
    purpose:
      'a sample file ("-" is standard input); a column that an operation reads but the sample does not have is a problem (off: files are assumed to have all columns)',
  },
  lenient: {
    kind: 'switch',
    purpose: 'a column that is read but not declared is only a note, also with other_columns: drop (off)',
  },
} as const;

type Note = Omit<Problem, 'code'>;

/** Writes problems to standard output, one line each; with --json one line per file. */
export async function checkFiles(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals, switches, values } = parseFlags(args, CHECK_FLAGS);
  if (positionals.length === 0) throw new UsageError('Write one or more Template files.');
  if (switches.has('strict') && switches.has('lenient')) throw new UsageError('Write --strict or --lenient, not both.');
  const strictness = {
    isAsked: switches.has('strict'),
    isStrict: (template: Template) => isStrict(template, switches),
  };
  const form = {
    asJson: switches.has('json'),
    asAnnotations: wantsAnnotations(values),
    isQuiet: switches.has('quiet'),
  };
  const sample = values.get('sample');
  refuseSecondStandardInput([...positionals, sample]);
  const checkAll = async (samplePath?: string): Promise<number> => {
    let status = EXIT_OK;
    for (const path of positionals) {
      const file = await readTemplateFile(path);
      const found = findings(file, strictness);
      const known = await withColumnsOf(file, found.problems, samplePath);
      const problems = [...known, ...(await problemsOfSample(file, samplePath))];
      const notes = problems.length > found.problems.length ? [] : found.notes;
      if (problems.length > 0) status = EXIT_FAILED;
      writeFindings({ path, problems, notes }, form, io);
    }
    return status;
  };
  return sample === undefined ? await checkAll() : await withSample(sample, checkAll);
}

async function withSample(sample: string, checkAll: (path: string) => Promise<number>): Promise<number> {
  try {
    return await withLocalFile(sample, checkAll);
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    throw new UsageError(`The sample cannot be read: ${error.message}`, false);
  }
}

interface Findings {
  readonly path: string;
  readonly problems: readonly Problem[];
  readonly notes: readonly Note[];
}

interface Form {
  readonly asJson: boolean;
  readonly asAnnotations: boolean;
  readonly isQuiet: boolean;
}

function writeFindings({ path, problems, ...more }: Findings, form: Form, io: CommandIo): void {
  const { asJson, asAnnotations, isQuiet } = form;
  const notes = isQuiet ? [] : more.notes;
  if (asAnnotations) io.stdout.write(annotationsOf({ path, problems, notes }));
  else if (asJson) io.stdout.write(`${JSON.stringify({ file: path, problems, notes })}\n`);
  else if (problems.length > 0) io.stdout.write(problemLines({ path, problems }));
  else if (!isQuiet)
    io.stdout.write(
      `${path}: valid\n${notes.map(({ line, message }) => `  note, line ${line}: ${message}\n`).join('')}`,
    );
}

function annotationsOf({ path, problems, notes }: Findings): string {
  const errors = problems.map(({ code, ...problem }) => ({ level: 'error' as const, title: code, ...problem }));
  const notices = notes.map((note) => ({ level: 'notice' as const, title: 'Note', ...note }));
  return [...errors, ...notices].map((found) => annotationLine({ file: path, ...found })).join('');
}

/**
 * A Template that drops all other columns declares every column it knows, so an undeclared column name is probably a
 * typing error.
 */
function isStrict({ input }: Template, switches: ReadonlySet<string>): boolean {
  return switches.has('strict') || (input.otherColumns === 'drop' && !switches.has('lenient'));
}

/** Loaded on demand, because a check without a sample reads no data file. */
async function problemsOfSample(file: TemplateFile, path: string | undefined): Promise<readonly Problem[]> {
  const { template, source, format } = file;
  if (path === undefined || template === null) return [];
  const [{ sampleHead }, { sampleProblems }] = await Promise.all([
    import('./sample-head.ts'),
    import('../../workers/plan/sample-problems.ts'),
  ]);
  return sampleProblems(template, parsed(source, format), await sampleHead(path, template));
}

/**
 * Adds a likely cause to problems with the type of a column: the column is missing in the sample or, without a sample,
 * is not declared. Such a column counts as text, so a misspelt name appears as a wrong type.
 */
async function withColumnsOf(
  { source, format, template }: TemplateFile,
  problems: readonly Problem[],
  samplePath: string | undefined,
): Promise<readonly Problem[]> {
  const read = template === null ? parseTemplate(source, format) : { problems: [] };
  if ('problems' in read) return problems;
  const { input = {} } = (read.text.root.value ?? {}) as { readonly input?: { readonly columns?: unknown } };
  const { columns = [] } = input;
  const declared = Array.isArray(columns) ? columns.map((column) => (column as { readonly name?: unknown })?.name) : [];
  const names = declared.filter((name) => typeof name === 'string');
  const checked = checkTemplate(JSON.stringify({ format: 1, input, operations: [] }), 'json');
  if ('problems' in checked) return problems;
  if (samplePath !== undefined) {
    const { sampleHead } = await import('./sample-head.ts');
    const { headers } = await sampleHead(samplePath, checked.template);
    const known = new Set([...headers.filter((header) => header !== ''), ...names]);
    return withMissingColumns(source, format, problems, [...known]);
  }
  // A Template without declared columns gets a name that no column has, because no list of columns may be empty.
  const known = names.length === 0 ? ['\u0000'] : names;
  return withMissingColumns(source, format, problems, known).map((problem, index) => {
    const { code, message } = problems[index]!;
    if (problem.message === message) return problem;
    const why = problem.message.replace('does not exist at this step', UNDECLARED);
    return { ...problem, code, message: `${message} ${why}` };
  });
}

const UNDECLARED = 'is not declared under input.columns, so it counts as text';

interface Strictness {
  /** Requested by a flag. */
  readonly isAsked: boolean;
  readonly isStrict: (template: Template) => boolean;
}

function findings(
  { template, problems, source, format }: TemplateFile,
  { isAsked, isStrict }: Strictness,
): { readonly problems: readonly Problem[]; readonly notes: readonly Note[] } {
  if (template === null) return { problems, notes: [] };
  const text = parsed(source, format);
  const undeclared = undeclaredNotes(template, isAsked).map(({ name, message }, index) => {
    const pointer = index < HINTED_COLUMNS_MAX ? placeOfName(template, text.root.value, name) : '/input/columns';
    return { pointer, message };
  });
  const { notes } = explainTemplate(template);
  const placed = (found: readonly ScanNote[]): Note[] =>
    found.map(({ pointer, message }) => {
      const { code: _, ...note } = text.problem(pointer, '', message);
      return note;
    });
  if (!isStrict(template)) return { problems: [], notes: placed([...undeclared, ...notes]) };
  const strictProblems = undeclared.map(({ pointer, message }) => text.problem(pointer, 'UNDECLARED_COLUMN', message));
  return { problems: strictProblems, notes: placed(notes) };
}

function parsed(source: string, format: TemplateFormat): ParsedTemplate {
  const read = parseTemplate(source, format);
  if ('problems' in read) throw new Error('a checked Template cannot be read');
  return read.text;
}
