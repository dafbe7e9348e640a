// `template-run inspect`: shows how the engine reads each file without any declarations.

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
import {
  type Command,
  type CommandIo,
  delimiter,
  EXIT_FAILED,
  EXIT_OK,
  flagsHelp,
  parseFlags,
  QUIET_FLAG,
  UsageError,
} from './command.ts';
import { localInput, refuseSecondStandardInput, withTemporaryFolder } from './local-input.ts';
import { problemLines, readTemplateFile } from './template-file.ts';
import { Progress, painted, printable, printTable, progressShown } from './terminal.ts';

// Prints what `inspect` found out about a file, for people.

/** How many cells of each kind a column has, such as `{text: 3, number: 5}`. */
type Kinds = Readonly<Record<string, number>>;

/** The JSON line of a file. */
interface Inspected {
  readonly file: string;
  readonly error?: string;
  readonly message?: string;
  readonly type?: string;
  readonly encoding?: string | null;
  readonly delimiter?: string | null;
  readonly quote?: string | null;
  readonly escape?: string;
  readonly record_separator?: string;
  readonly quotes_after_space?: boolean;
  readonly header_row?: number | null;
  readonly header_lines?: number;
  readonly columns?: { readonly count: number; readonly names: readonly string[]; readonly kinds?: readonly Kinds[] };
  readonly rows?: number;
  readonly sheets?: readonly WrittenSheet[];
  readonly doubt?: string;
  readonly explanation?: Readonly<Record<string, { readonly confidence: number; readonly reason: string }>>;
}

interface WrittenSheet {
  readonly number: number;
  readonly name: string;
  readonly visibility: string;
  readonly read: boolean;
  readonly rows: number;
  readonly columns: number;
  readonly kinds: readonly Kinds[];
  readonly error?: string;
  readonly message?: string;
}

/** @param isFirst false: a blank line separates the file from the one before it */
function printInspection(io: CommandIo, found: Inspected, isFirst: boolean): void {
  if (!isFirst) io.stdout.write('\n');
  const name = painted(io, 'stdout', 'heading', printable(found.file));
  if (found.error !== undefined) {
    io.stdout.write(`${name}: ${found.error}: ${printable(found.message ?? '')}\n`);
    return;
  }
  io.stdout.write(`${name}: ${readingText(found)}\n`);
  if (found.doubt !== undefined) io.stdout.write(`A Run would refuse the file: ${printable(found.doubt)}\n`);
  for (const [topic, { confidence, reason }] of Object.entries(found.explanation ?? {})) {
    io.stdout.write(`${topic} (confidence ${confidence}): ${printable(reason)}\n`);
  }
  printColumns(io, found.columns!);
  if (found.sheets !== undefined && found.sheets.length > 1) printSheets(io, found.sheets);
}

function readingText({ type, encoding, delimiter, quote, header_row, header_lines, rows, ...more }: Inspected): string {
  const header =
    header_row === null || header_row === undefined
      ? 'no header'
      : `header in record ${header_row + 1}${header_lines === undefined ? '' : ` (${header_lines} lines)`}`;
  return [
    type,
    ...(encoding == null ? [] : [encoding]),
    ...(delimiter == null ? [] : [`delimiter ${characterText(delimiter)}`]),
    ...(quote == null ? [] : [`quote ${quote}`]),
    ...(more.escape === undefined ? [] : [`escape ${more.escape}`]),
    ...(more.record_separator === undefined ? [] : [`record separator ${JSON.stringify(more.record_separator)}`]),
    ...(more.quotes_after_space === true ? ['quotes after spaces'] : []),
    header,
    `${rows} ${rows === 1 ? 'row' : 'rows'}`,
  ].join(', ');
}

function characterText(delimiter: string): string {
  const names: Readonly<Record<string, string>> = { '\t': 'tab', ' ': 'space', ',': 'comma', ';': 'semicolon' };
  return names[delimiter] ?? printable(delimiter);
}

function printColumns(io: CommandIo, { count, names, kinds }: NonNullable<Inspected['columns']>): void {
  const rows = Array.from({ length: count }, (_, index) => [
    String(index + 1),
    printable(names[index] ?? ''),
    ...(kinds === undefined ? [] : [kindsText(kinds[index] ?? {})]),
  ]);
  printTable(io, ['', 'COLUMN', ...(kinds === undefined ? [] : ['CELLS'])], rows);
}

function printSheets(io: CommandIo, sheets: readonly WrittenSheet[]): void {
  io.stdout.write('\n');
  const rows = sheets.map(({ number, name, visibility, read, rows, columns, message }) => [
    String(number),
    printable(name),
    String(rows),
    String(columns),
    [...(read ? ['is read'] : []), ...(visibility === 'visible' ? [] : [visibility]), printable(message ?? '')]
      .join(' ')
      .trim(),
  ]);
  printTable(io, ['', 'SHEET', 'ROWS', 'COLUMNS', ''], rows);
}

function kindsText(kinds: Kinds): string {
  return Object.entries(kinds)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}

const FLAGS = {
  template: {
    kind: 'value',
    placeholder: 'FILE',
    purpose: 'reads the file as a Run of this Template would (none: everything is detected)',
  },
  encoding: {
    kind: 'value',
    placeholder: 'NAME',
    purpose: "such as windows-1252 (the Template's, otherwise the most likely one)",
  },
  delimiter: { kind: 'value', placeholder: 'C', purpose: 'field delimiter (as in the Template, otherwise detected)' },
  sheet: {
    kind: 'value',
    placeholder: 'NAME',
    purpose: "sheet of a workbook, or its number from 1 (the Template's, otherwise the first visible sheet with cells)",
  },
  explain: {
    kind: 'switch',
    purpose:
      'adds explanation: {delimiter, header_row} of a CSV, {sheet, header_row} of a workbook, {records, header_row} of JSON; each ' +
      'with confidence (0 to 1), runner_up (the second best choice; null for no other choice, or for no header) and reason (off)',
  },
  quiet: QUIET_FLAG,
  json: { kind: 'switch', purpose: 'JSON also on a terminal (off: a table on a terminal, JSON otherwise)' },
} as const;

export const command: Command = {
  name: 'inspect',
  usage: `template-run inspect FILE... [--template FILE]

Shows how each file ("-" is standard input) is read: on a terminal as a table, otherwise or with --json as one JSON line
per file: {file, type, encoding, delimiter, quote, header_row, columns, rows}, or {file, error, message}. header_row
counts records from 0 and is null for a file without a header. If the header has several lines, header_row is the last of
them and header_lines is their number. columns contains {count, names}, and kinds if cells of the file have types: the
number of cells of each kind in a column. For a workbook, sheets lists all sheets as {number, name, visibility, read,
rows, columns, kinds}; rows and columns end with the last cell that has a value, and kinds counts the cells of each of
these columns, including titles and the header.

${flagsHelp(FLAGS)}

If a file cannot be read, the command continues with the others.
Exit status: 0 all were read, 1 a file could not be read, 2 usage.`,
  run: inspectFiles,
};

async function inspectFiles(args: readonly string[], io: CommandIo): Promise<number> {
  const { positionals, switches, values } = parseFlags(args, FLAGS);
  if (positionals.length === 0) throw new UsageError('Write a file to inspect.');
  refuseSecondStandardInput([...positionals, values.get('template')]);
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
  const isTable = (io.stdout as { readonly isTTY?: boolean }).isTTY === true && !switches.has('json');
  const print = (line: Inspected, index: number): void => {
    if (isTable) printInspection(io, line, index === 0);
    else io.stdout.write(`${JSON.stringify(line)}\n`);
  };
  let current = '';
  const describe = (seconds: number): string => `${printable(current)}: being read, ${seconds} s`;
  const progress = new Progress(io.stderr, describe, progressShown(switches));
  try {
    return await withTemporaryFolder('template-run-', async (folder) => {
      let status = EXIT_OK;
      for (const [index, file] of positionals.entries()) {
        current = file;
        const line = await inspectOne(file, join(folder, `${index}.input`), options);
        if ('error' in line) status = EXIT_FAILED;
        progress.clear();
        print(line, index);
      }
      return status;
    });
  } finally {
    progress.end();
  }
}

/** Undefined: no Template was given. Null: the Template has problems, which have been printed. */
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

/** A number is a sheet's position in the workbook. */
function sheet(text: string): string | number {
  if (text === '') throw new UsageError('--sheet takes the name of a sheet, or its number from 1.');
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : text;
}

async function inspectOne(file: string, copyPath: string, options: InspectOptions): Promise<Inspected> {
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
      ...(head.escape === undefined ? {} : { escape: head.escape }),
      ...(head.recordSeparator === undefined ? {} : { record_separator: head.recordSeparator }),
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

function writtenExplanation({
  delimiter,
  sheet,
  records,
  headerRow,
}: NonNullable<Inspection['explanation']>): NonNullable<Inspected['explanation']> {
  const choices = { delimiter, sheet, records, header_row: headerRow };
  return Object.fromEntries(
    Object.entries(choices).flatMap(([name, choice]) =>
      choice === undefined
        ? []
        : [[name, { confidence: choice.confidence, runner_up: choice.runnerUp, reason: choice.reason }]],
    ),
  );
}

function writtenSheet({
  number,
  name,
  visibility,
  isRead,
  rows,
  columns,
  kinds,
  problem,
}: InspectedSheet): WrittenSheet {
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
