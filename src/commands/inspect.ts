// `template-run inspect`: one JSON line per file, as the engine reads it when nothing is declared.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inputFormats } from '../../workers/input/index.ts';
import { compileKernels } from '../../workers/kernel/bindings/kernel.ts';
import { Failed } from '../../workers/protocol/failure.ts';
import { encodingProblem, type Inspection, type InspectOptions, inspectFile } from '../../workers/run/inspect.ts';
import type { Template } from '../../workers/template/template.ts';
import { type Command, type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { delimiter } from './delimiter.ts';
import { flagsHelp, parseFlags } from './flags.ts';
import { localInput } from './local-input.ts';
import { problemLines, readTemplateFile } from './template-file.ts';

const FLAGS = {
  template: {
    kind: 'value',
    placeholder: 'FILE',
    purpose: 'reads as a Run of this Template would, in the service too (as is most likely)',
  },
  encoding: {
    kind: 'value',
    placeholder: 'NAME',
    purpose: "such as windows-1252 (the Template's, else the most likely one)",
  },
  delimiter: { kind: 'value', placeholder: 'C', purpose: 'field delimiter (as the Template says, else detected)' },
  explain: {
    kind: 'switch',
    purpose:
      'also explanation of a CSV: {delimiter, header_row}, each with confidence (0 to 1), runner_up (what came next; ' +
      'null for nothing, or for no header) and reason in words (off)',
  },
} as const;

export const command: Command = {
  name: 'inspect',
  usage: `template-run inspect FILE... [--template FILE]

Prints one JSON line per file ("-" is standard input): {file, type, encoding, delimiter, quote, header_row, columns,
rows}, or {file, error, message}. header_row counts records from 0 and is null when there is none; of a header of several
lines, whose texts are joined, it is the last one, and header_lines is there too; columns are {count, names},
and kinds where the file knows types: how many cells of each kind a column has.

${flagsHelp(FLAGS)}

A file that cannot be read does not keep the others from it.
Exit status: 0 all were read, 1 a file was not, 2 usage.`,
  run: inspectFiles,
};

async function inspectFiles(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals, switches, values } = parseFlags(args, FLAGS);
  if (positionals.length === 0) throw new UsageError('Write a file to inspect.');
  const template = await templateOf(values.get('template'), io);
  if (template === null) return EXIT_FAILED;
  const separator = delimiter(values.get('delimiter'));
  const options: InspectOptions = {
    formats: inputFormats,
    kernels: compileKernels(),
    explains: switches.has('explain'),
    ...(template === undefined ? {} : { template }),
    ...(values.has('encoding') ? { encoding: encoding(values.get('encoding')!) } : {}),
    ...(separator === null ? {} : { delimiter: separator }),
  };
  const folder = mkdtempSync(join(tmpdir(), 'template-run-'));
  let status = EXIT_OK;
  try {
    for (const [index, file] of positionals.entries()) {
      const line = await inspectOne(file, join(folder, `${index}.input`), options);
      if ('error' in line) status = EXIT_FAILED;
      io.stdout.write(`${JSON.stringify(line)}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return status;
}

/** Undefined where none is named; null: it has problems, which are told. */
async function templateOf(path: string | undefined, io: CommandIo): Promise<Template | null | undefined> {
  if (path === undefined) return undefined;
  const file = await readTemplateFile(path);
  io.stderr.write(problemLines(file));
  return file.template;
}

function encoding(label: string): string {
  const problem = encodingProblem(label);
  if (problem === null) return label;
  throw new UsageError(`--encoding ${problem}`);
}

async function inspectOne(
  file: string,
  copyPath: string,
  options: InspectOptions,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const { head, rows, kinds, doubt, explanation } = await inspectFile(await localInput(file, copyPath), options);
    return {
      file,
      type: head.type,
      encoding: head.encoding,
      delimiter: head.delimiter,
      quote: head.quote,
      ...(head.quotesAfterSpace === true ? { quotes_after_space: true } : {}),
      header_row: head.headerRow,
      ...(head.headerLines === undefined ? {} : { header_lines: head.headerLines }),
      columns: {
        count: head.headers.length,
        names: head.headers.some((name) => name !== '') ? head.headers : [],
        ...(kinds === null ? {} : { kinds }),
      },
      rows,
      ...(doubt === null ? {} : { doubt }),
      ...(explanation === null
        ? {}
        : { explanation: { delimiter: written(explanation.delimiter), header_row: written(explanation.headerRow) } }),
    };
  } catch (error) {
    if (error instanceof Failed) return { file, error: error.failure.code, message: error.failure.message };
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { file, error: code, message };
  }
}

type Explanation = NonNullable<Inspection['explanation']>;
type Choice = Explanation[keyof Explanation];

function written({ confidence, runnerUp, reason }: Choice): Readonly<Record<string, unknown>> {
  return { confidence, runner_up: runnerUp, reason };
}
