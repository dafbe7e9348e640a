// `template-run inspect`: one JSON line per file, as the engine reads it when nothing is declared.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inputFormats } from '../../workers/input/index.ts';
import { compileKernels } from '../../workers/kernel/bindings/kernel.ts';
import { Failed } from '../../workers/protocol/failure.ts';
import {
  encodingProblem,
  type InspectedSheet,
  type Inspection,
  type InspectOptions,
  inspectFile,
} from '../../workers/run/inspect.ts';
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
  sheet: {
    kind: 'value',
    placeholder: 'NAME',
    purpose: "of a workbook, or its number from 1 (the Template's, else the first visible one with cells)",
  },
  explain: {
    kind: 'switch',
    purpose:
      'also explanation: {delimiter, header_row} of a CSV, {sheet, header_row} of a workbook, {records, header_row} of JSON; each ' +
      'with confidence (0 to 1), runner_up (what came next; null for nothing, or for no header) and reason in words (off)',
  },
} as const;

export const command: Command = {
  name: 'inspect',
  usage: `template-run inspect FILE... [--template FILE]

Prints one JSON line per file ("-" is standard input): {file, type, encoding, delimiter, quote, header_row, columns,
rows}, or {file, error, message}. header_row counts records from 0 and is null when there is none; of a header of several
lines, whose texts are joined, it is the last one, and header_lines is there too; columns are {count, names},
and kinds where the file knows types: how many cells of each kind a column has. Of a workbook sheets is there too: all of
its sheets as {number, name, visibility, read, rows, columns, kinds}, where rows and columns reach to the last cell with
something in it, and kinds counts the cells of each of these columns, titles and header among them.

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
    ...(values.has('sheet') ? { sheet: sheet(values.get('sheet')!) } : {}),
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

/** What is a number is a place in the workbook. */
function sheet(text: string): string | number {
  if (text === '') throw new UsageError('--sheet takes the name of a sheet, or its number from 1.');
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : text;
}

async function inspectOne(file: string, copyPath: string, options: InspectOptions): Promise<Written> {
  try {
    const found = await inspectFile(await localInput(file, copyPath), options);
    const { head, rows, kinds, doubt, explanation, sheets } = found;
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
      ...(sheets === null ? {} : { sheets: sheets.map(writtenSheet) }),
      ...(doubt === null ? {} : { doubt }),
      ...(explanation === null ? {} : { explanation: writtenExplanation(explanation) }),
    };
  } catch (error) {
    if (error instanceof Failed) return { file, error: error.failure.code, message: error.failure.message };
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { file, error: code, message };
  }
}

type Written = Readonly<Record<string, unknown>>;

function writtenExplanation({ delimiter, sheet, records, headerRow }: NonNullable<Inspection['explanation']>): Written {
  const choices = { delimiter, sheet, records, header_row: headerRow };
  return Object.fromEntries(
    Object.entries(choices).flatMap(([name, choice]) =>
      choice === undefined
        ? []
        : [[name, { confidence: choice.confidence, runner_up: choice.runnerUp, reason: choice.reason }]],
    ),
  );
}

function writtenSheet({ number, name, visibility, isRead, rows, columns, kinds, problem }: InspectedSheet): Written {
  return {
    number,
    name,
    visibility: visibility === 'veryHidden' ? 'very_hidden' : visibility,
    read: isRead,
    rows,
    columns,
    kinds,
    ...(problem === null ? {} : { error: problem.failure.code, message: problem.failure.message }),
  };
}
