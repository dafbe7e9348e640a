// `template-run head`: prints the first rows of a file as a table. It is `run` with the operation slice.
import { type Command, type CommandIo, type Flag, flagsHelp, parseFlags, QUIET_FLAG, UsageError } from './command.ts';

/** Rows that fit on a screen. */
const ROWS_DEFAULT = 10;

/** More rows are a job for `run`. */
const ROWS_MAX = 10_000;

const FLAGS: Readonly<Record<string, Flag>> = {
  rows: { kind: 'value', short: 'n', placeholder: 'N', purpose: `number of rows (default ${ROWS_DEFAULT})` },
  delimiter: { kind: 'value', placeholder: 'C', purpose: 'field delimiter (otherwise detected)' },
  'header-row': {
    kind: 'value',
    placeholder: 'N',
    purpose: '0-based record of the header; none: the file has no header (otherwise detected)',
  },
  quiet: QUIET_FLAG,
};

export const command: Command = {
  name: 'head',
  usage: `template-run head FILE [-n ROWS]

Prints the first rows of a file (such as CSV or XLSX, also in gzip or ZIP; "-" is standard input) as a table.

${flagsHelp(FLAGS)}

Exit status: 0 printed, 1 the file cannot be read, 2 usage.`,
  run: printHead,
};

async function printHead(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, switches, positionals } = parseFlags(args, FLAGS);
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new UsageError('Write one file; "-" is standard input.');
  if (/\.ya?ml$/i.test(file)) throw new UsageError(`${file} is a Template: head prints rows of data files.`);
  const rows = values.get('rows') ?? String(ROWS_DEFAULT);
  if (!/^[1-9][0-9]{0,4}$/.test(rows) || Number(rows) > ROWS_MAX)
    throw new UsageError(`--rows takes a number from 1 to ${ROWS_MAX}.`);
  const { runFiles } = await import('./run.ts');
  const passed = ['delimiter', 'header-row'].flatMap((flag) =>
    values.has(flag) ? [`--${flag}=${values.get(flag)}`] : [],
  );
  const quiet = switches.has('quiet') ? ['--quiet'] : [];
  return runFiles([...quiet, '--to=table', '-e', `slice: {limit: ${rows}}`, ...passed, '--', file], io, 'head');
}
