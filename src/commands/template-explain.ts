// `template explain`: what a Template needs of a file and what it does to its columns, without a file.

import { MEMORY_CLASSES } from '../../workers/operations/operation.ts';
import type { ExplainedColumn, Explanation } from '../../workers/plan/explain.ts';
import { explainTemplate } from '../../workers/plan/explain.ts';
import type { ColumnMatch, FileColumn } from '../../workers/template/template.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { parseFlags } from './flags.ts';
import { JSON_FLAGS } from './json-flag.ts';
import { problemLines, readTemplateFile } from './template-file.ts';

export async function explainFile(args: readonly string[], io: CommandIo): Promise<number> {
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
    explanation.other_columns ? "The file's other columns come along where no step leaves them out." : '',
    explanation.columns_named_by_rows ? 'The last step adds columns that its rows name.' : '',
    explanation.streams
      ? 'Streams: rows come out while the file is still read.'
      : 'Does not stream: a step needs all rows.',
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
