// `template check`: every problem of Template files, with its place and what to write instead; and what is no mistake but
// may not be meant, as notes.
import { explainTemplate } from '../../workers/plan/explain.ts';
import type { ScanNote } from '../../workers/plan/scan.ts';
import { HINTED_COLUMNS_MAX, undeclaredNotes } from '../../workers/plan/undeclared-columns.ts';
import { placeOfName } from '../../workers/template/place-of-name.ts';
import type { Problem, Template } from '../../workers/template/template.ts';
import { type ParsedTemplate, parseTemplate, type TemplateFormat } from '../../workers/template/template-text.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { parseFlags } from './flags.ts';
import { JSON_FLAGS } from './json-flag.ts';
import { problemLines, readTemplateFile, type TemplateFile } from './template-file.ts';

export const CHECK_FLAGS = {
  ...JSON_FLAGS,
  strict: {
    kind: 'switch',
    purpose:
      'a column that is read and not declared is a problem (on where a Template has other_columns: drop, else off)',
  },
  sample: {
    kind: 'value',
    placeholder: 'FILE',
    purpose:
      'a column that an operation reads and this file does not have is a problem (off: files are taken to have it)',
  },
  lenient: { kind: 'switch', purpose: 'such a column is a note, also with other_columns: drop (off)' },
} as const;

type Note = Omit<Problem, 'code'>;

/** Problems go to standard output, one line each; with --json one line for each file. */
export async function checkFiles(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals, switches, values } = parseFlags(args, CHECK_FLAGS);
  if (positionals.length === 0) throw new UsageError('Write one or more Template files.');
  if (switches.has('strict') && switches.has('lenient')) throw new UsageError('Write --strict or --lenient, not both.');
  const strictness = {
    isAsked: switches.has('strict'),
    isStrict: (template: Template) => isStrict(template, switches),
  };
  let status = EXIT_OK;
  for (const path of positionals) {
    const file = await readTemplateFile(path);
    const found = findings(file, strictness);
    const problems = [...found.problems, ...(await problemsOfSample(file, values.get('sample')))];
    const notes = problems.length > found.problems.length ? [] : found.notes;
    if (problems.length > 0) status = EXIT_FAILED;
    if (switches.has('json')) io.stdout.write(`${JSON.stringify({ file: path, problems, notes })}\n`);
    else if (problems.length > 0) io.stdout.write(problemLines({ path, problems }));
    else
      io.stdout.write(
        `${path}: sound\n${notes.map(({ line, message }) => `  note, line ${line}: ${message}\n`).join('')}`,
      );
  }
  return status;
}

/** A Template that lets no other column through names all columns that it knows: one more is a slip of the pen. */
function isStrict({ input }: Template, switches: ReadonlySet<string>): boolean {
  return switches.has('strict') || (input.otherColumns === 'drop' && !switches.has('lenient'));
}

/** Loaded when there is one: a check alone reads no file of data. */
async function problemsOfSample(file: TemplateFile, path: string | undefined): Promise<readonly Problem[]> {
  const { template, source, format } = file;
  if (path === undefined || template === null) return [];
  const [{ sampleHead }, { sampleProblems }] = await Promise.all([
    import('./sample-head.ts'),
    import('../../workers/plan/sample-problems.ts'),
  ]);
  return sampleProblems(template, parsed(source, format), await sampleHead(path, template));
}

interface Strictness {
  /** By a flag. */
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
