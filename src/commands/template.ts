// `template`: checks, tests and explains Template files, and prints the language's schema and reference.

import { type ExplainedColumn, type Explanation, explainTemplate } from '../../workers/plan/explain.ts';
import { templateLanguage } from '../../workers/plan/plan.ts';
import { MEMORY_CLASSES } from '../../workers/template/operation.ts';
import { templateReference } from '../../workers/template/reference.ts';
import { compactSchema, publishedSchema } from '../../workers/template/schema.ts';
import type { ColumnMatch, FileColumn } from '../../workers/template/template.ts';
import {
  actionsCommand,
  type Command,
  type CommandIo,
  EXIT_FAILED,
  EXIT_OK,
  JSON_FLAGS,
  parseFlags,
  UsageError,
} from './command.ts';
import { CHECK_FLAGS, checkFiles } from './template-check.ts';
import { problemLines, readTemplateFile } from './template-file.ts';
import { DIFF_FLAGS, DRAFT_FLAGS, TEST_FLAGS } from './template-flags.ts';

// `template schema` and `template docs`: print the Template language itself, from the definitions that the checker
// uses.

const SCHEMA_FLAGS = {
  full: {
    kind: 'switch',
    purpose: 'also the parameters of the long form, {op: name, ...}: for programs that check Templates by it (off)',
  },
} as const;

/** Prints the compact schema for editors, unless the full schema is requested. */
async function printSchema(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals, switches } = parseFlags(args, SCHEMA_FLAGS);
  if (positionals.length > 0) throw new UsageError('This action takes no arguments.');
  const schema = switches.has('full')
    ? JSON.stringify(publishedSchema(templateLanguage), null, 2)
    : JSON.stringify(compactSchema(templateLanguage));
  io.stdout.write(`${schema}\n`);
  return EXIT_OK;
}

async function printReference(args: readonly string[], io: CommandIo): Promise<number> {
  takesNothing(args);
  io.stdout.write(templateReference(templateLanguage));
  return EXIT_OK;
}

function takesNothing(args: readonly string[]): void {
  if (parseFlags(args, {}).positionals.length > 0) throw new UsageError('This action takes no arguments.');
}

// `template explain`: shows what a Template requires of a file and how it changes the columns, without reading a
// file.

async function explainFile(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals, switches } = parseFlags(args, JSON_FLAGS);
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new UsageError('Write one Template file.');
  const file = await readTemplateFile(path);
  if (file.template === null) {
    io.stderr.write(problemLines(file));
    return EXIT_FAILED;
  }
  const explanation = explainTemplate(file.template);
  io.stdout.write(switches.has('json') ? `${JSON.stringify(explanation)}\n` : explanationText(explanation));
  return EXIT_OK;
}

function explanationText(explanation: Explanation): string {
  const { file_columns: fileColumns, derived_columns: derived, steps, output } = explanation;
  const required = fileColumns.filter(({ ifMissing }) => ifMissing === 'fail');
  const optional = fileColumns.filter(({ ifMissing }) => ifMissing !== 'fail');
  const lines = [
    ...section('Required columns', required.map(fileColumnText)),
    ...section('Optional columns', optional.map(fileColumnText)),
    ...section(
      'Required of columns that are named in the Run',
      derived.map((name) => JSON.stringify(name)),
    ),
    ...section('Steps', steps.flatMap(stepLines)),
    ...section('Output', [`${output.format}: ${columnsText(output.columns)}`]),
    explanation.other_columns ? 'Other columns of the file are kept unless a step removes them.' : '',
    explanation.columns_named_by_rows ? 'The last step adds columns whose names come from its rows.' : '',
    output.split_by === undefined
      ? ''
      : `One file for each ${output.split_by.map((name) => JSON.stringify(name)).join(' and ')}, in a ZIP archive.`,
    explanation.streams
      ? 'Streams: the output begins while the file is still being read.'
      : `Does not stream: ${output.split_by === undefined ? 'a step' : 'the output'} needs all rows.`,
    explanation.depends_on_day ? 'The result depends on the day of the Run.' : 'The result does not depend on the day.',
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

function fileColumnText({ name, match, ifMissing, declared }: FileColumn): string {
  const forms = match.length === 0 ? '' : `, also ${match.map(matchText).join(', ')}`;
  const without =
    ifMissing === 'null' ? '; without it a column of nulls' : ifMissing === 'skip' ? '; skipped without it' : '';
  return `${JSON.stringify(name)}${forms}${without}${declared ? '' : ' (read by an operation)'}`;
}

function matchText(match: ColumnMatch): string {
  if (typeof match === 'string') return JSON.stringify(match);
  return 'pattern' in match ? `pattern ${match.pattern}` : `column ${match.position}`;
}

function stepLines(step: Explanation['steps'][number], index: number): string[] {
  const name = step.id === null ? step.operation : `${step.operation} "${step.id}"`;
  const day = step.depends_on_day ? ', depends on the day' : '';
  const memory = `${step.memory} ${MEMORY_CLASSES[step.memory]}${day}`;
  return [`${index + 1}. ${name} at ${step.pointer} [${memory}]`, `   ${columnsText(step.columns)}`];
}

function columnsText(columns: readonly ExplainedColumn[]): string {
  if (columns.length === 0) return '(none known)';
  return columns.map(({ name, type }) => `${JSON.stringify(name)} ${type}`).join(', ');
}

export const command: Command = actionsCommand({
  name: 'template',
  actions: {
    check: {
      form: 'FILE...',
      summary:
        'Reports problems of Templates, with suggested fixes.\nExit status: 0 all are valid, 1 a problem, 2 usage.',
      flags: CHECK_FLAGS,
      run: checkFiles,
    },
    test: {
      form: 'FILE...',
      summary: 'Runs the tests in Templates.\nExit status: 0 all passed, 1 a problem, 2 usage.',
      flags: TEST_FLAGS,
      run: testOnEngine,
    },
    diff: {
      form: 'OLD NEW [SAMPLE...]',
      summary: `Shows what differs between two versions of a Template: columns, and rows of their tests and of sample files.
Exit status: 0 no difference, 1 a difference or a problem of a Template, 2 usage.`,
      flags: DIFF_FLAGS,
      run: diffOnEngine,
    },
    explain: {
      form: 'FILE',
      summary: 'Shows the columns that a Template needs, the columns and types at each step, and the memory.',
      flags: JSON_FLAGS,
      run: explainFile,
    },
    draft: {
      form: 'SAMPLE',
      summary: `Generates a Template from a sample file, with evidence for each line. Lines that could lose data are comments.
Exit status: 0 success, 1 a file cannot be read, 2 usage.`,
      flags: DRAFT_FLAGS,
      run: draftOnEngine,
    },
    schema: {
      form: '',
      summary: 'Prints the JSON Schema of Templates (draft 2020-12), for editors.',
      flags: SCHEMA_FLAGS,
      run: printSchema,
    },
    docs: { form: '', summary: 'Prints the reference of Templates as Markdown.', flags: {}, run: printReference },
  },
});

async function draftOnEngine(args: readonly string[], io: CommandIo): Promise<number> {
  return (await import('./template-draft.ts')).draftFile(args, io);
}

async function diffOnEngine(args: readonly string[], io: CommandIo): Promise<number> {
  const [{ diffTemplates }, { withTestEngine }] = await Promise.all([
    import('./template-diff.ts'),
    import('./template-test.ts'),
  ]);
  return withTestEngine((engine) => diffTemplates(args, io, engine));
}

/** Loaded on demand, because the other actions need no engine. */
async function testOnEngine(args: readonly string[], io: CommandIo): Promise<number> {
  const { testFiles, withTestEngine } = await import('./template-test.ts');
  return withTestEngine((engine) => testFiles(args, io, (run) => engine.run(run)));
}
