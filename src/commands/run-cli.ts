// The command line: finds the command in the table, prints help, suggests commands for unknown words, and turns usage
// errors into exit status 2.

import { readFileSync } from 'node:fs';
import { suggestion } from '../../workers/values/suggestion.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import { type Command, type CommandIo, EXIT_FAILED, EXIT_OK, EXIT_USAGE, UsageError } from './command.ts';
import { COMMANDS } from './index.ts';
import { systemErrorText, UnreadableFileError } from './local-input.ts';
import { painted, withoutColor } from './terminal.ts';

// The help page of a command or an action: its usage text, followed by examples. The examples of all commands are in one
// table, so that a command without examples is easy to notice.

/** Examples by command, or by command and action. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  serve: [
    'serve --catalog catalog --data data',
    'serve --catalog catalog --data data --port 9000 --ops-port 9090 --memory-budget 2GiB',
  ],
  run: [
    'run bank.yaml statement.csv -o ledger.csv',
    'run bank.yaml exports/*.csv -o cleaned/ --rejects rejected/',
    "run -e 'filter: country == \"DE\"' -e 'sort: amount' orders.csv --to table",
  ],
  send: [
    'send shop-orders orders.csv -o cleaned.csv --url https://runs.example.com --key key.txt',
    'send shop-orders exports/*.csv -o cleaned/',
  ],
  templates: ['templates --url https://runs.example.com --key key.txt', 'templates --json'],
  usage: ['usage --url https://runs.example.com --key key.txt', 'usage --json'],
  get: ['get run_0123456789 -o cleaned.csv', 'get run_0123456789 --json'],
  wait: ['wait run_0123456789 -o cleaned.csv', 'wait run_0123456789 -o cleaned.csv --rejects rejected.csv'],
  inspect: ['inspect orders.csv', 'inspect --json --explain exports/*.csv', 'inspect --sheet Orders report.xlsx'],
  head: ['head orders.csv', 'head -n 30 report.xlsx'],
  studio: ['studio bank.yaml statement.csv', 'studio new.yaml statement.csv --like target.csv --port 8000'],
  keys: ['keys issue acme --catalog catalog', 'keys list acme --catalog catalog'],
  'keys issue': [
    'keys issue acme --catalog catalog',
    'keys issue acme --scopes runs:write,runs:read --expires 90d --catalog catalog > key.txt',
  ],
  'keys list': ['keys list acme --catalog catalog', 'keys list acme --json --catalog catalog'],
  'keys revoke': [
    'keys revoke acme 1 --catalog catalog',
    'TEMPLATE_RUN_CATALOG=catalog template-run keys revoke acme 1',
  ],
  accounts: ['accounts add acme --plan starter --catalog catalog', 'accounts --ops http://127.0.0.1:9090'],
  'accounts add': [
    'accounts add acme --plan starter --catalog catalog',
    'accounts add acme --plan starter --name "Acme Ltd" --catalog catalog',
  ],
  'accounts list': ['accounts list --catalog catalog', 'accounts list --json --catalog catalog'],
  'accounts show': [
    'accounts show acme --catalog catalog',
    'TEMPLATE_RUN_CATALOG=catalog template-run accounts show acme',
  ],
  'accounts activate': [
    'accounts activate acme --catalog catalog',
    'TEMPLATE_RUN_CATALOG=catalog template-run accounts activate acme',
  ],
  'accounts deactivate': [
    'accounts deactivate acme --catalog catalog',
    'TEMPLATE_RUN_CATALOG=catalog template-run accounts deactivate acme',
  ],
  'accounts remove': ['accounts remove acme --catalog catalog', 'accounts remove acme --with-files --catalog catalog'],
  'accounts subscription': [
    'accounts subscription acme --plan business --catalog catalog',
    'accounts subscription acme --none --catalog catalog',
  ],
  catalog: ['catalog check catalog', 'catalog check --format github catalog'],
  'catalog check': ['catalog check catalog', 'catalog check --format github catalog'],
  init: ['init catalog', 'init catalog > demo-key.txt'],
  openapi: ['openapi > openapi.json', "openapi | jq '.paths | keys'"],
  template: [
    'template draft statement.csv > bank.yaml',
    'template check --sample statement.csv bank.yaml',
    'template test catalog/templates/*/*.yaml',
  ],
  'template check': ['template check bank.yaml', 'template check --sample statement.csv bank.yaml'],
  'template test': ['template test bank.yaml', 'template test --json catalog/templates/*/*.yaml'],
  'template diff': ['template diff old.yaml new.yaml', 'template diff old.yaml new.yaml samples/*.csv'],
  'template explain': ['template explain bank.yaml', 'template explain --json bank.yaml'],
  'template draft': ['template draft statement.csv > bank.yaml', 'template draft statement.csv --like target.csv'],
  'template schema': ['template schema > template.schema.json', 'template schema --full > template.schema.json'],
  'template docs': ['template docs > reference.md', 'template docs | less'],
  completion: ['completion bash', 'source <(template-run completion zsh)'],
};

/** @param action the first argument, which may be an action of the command */
export function helpPage(command: Command, action = ''): string {
  const { name, usage, actions = {} } = command;
  const [topic, text] = Object.hasOwn(actions, action) ? [`${name} ${action}`, actions[action]!] : [name, usage];
  const examples = (EXAMPLES[topic] ?? []).map((each) =>
    each.includes('template-run') ? each : `template-run ${each}`,
  );
  const end = examples.length === 0 ? '' : `\n\nExamples:\n${examples.map((each) => `  ${each}`).join('\n')}`;
  return `Usage: ${text}${end}`;
}

/** The command that prints the help page, for the hint after a usage error. */
function helpCommand({ name, actions = {} }: Command, action = ''): string {
  return `template-run ${name}${Object.hasOwn(actions, action) ? ` ${action}` : ''} --help`;
}

// Suggestions for a word that is not a command: an action of some command, the name that other programs use, or a
// typing error.

/** Words used by other programs, with the corresponding command. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...['apply', 'convert', 'exec', 'process', 'transform'].map((word) => [word, 'run'] as const),
  ...['start', 'server', 'daemon', 'up'].map((word) => [word, 'serve'] as const),
  ...['upload', 'post', 'submit'].map((word) => [word, 'send'] as const),
  ...['describe', 'detect', 'info', 'profile', 'sniff'].map((word) => [word, 'inspect'] as const),
  ...['validate', 'lint', 'verify'].map((word) => [word, 'template check'] as const),
  ...['suggest', 'infer', 'generate', 'new'].map((word) => [word, 'template draft'] as const),
  ...['ui', 'edit', 'gui', 'watch'].map((word) => [word, 'studio'] as const),
  ...['key', 'token', 'apikey'].map((word) => [word, 'keys issue'] as const),
  ['reference', 'template docs'],
]);

/** A sentence to append to the message, or an empty string. */
async function commandHint(word: string): Promise<string> {
  const known = OTHER_NAMES.get(word.toLowerCase());
  const found = known === undefined ? await withAction(word) : [known];
  if (found.length > 0) return ` Write ${found.map((command) => `template-run ${command}`).join(' or ')}.`;
  return suggestion(
    word,
    COMMANDS.map(({ name }) => name),
  );
}

/** The commands that have an action of this name. */
async function withAction(word: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { name, load } of COMMANDS) {
    const { actions = {} } = await load();
    if (Object.hasOwn(actions, word)) found.push(`${name} ${word}`);
  }
  return found;
}

/** Runs the command given by the arguments and resolves with the exit status. Rejects on faults of the program. */
export async function runCli(args: readonly string[], io: CommandIo): Promise<number> {
  try {
    const { color, args: words } = withoutColor(args);
    // `io` may be `process` itself, so only the properties that commands use are copied.
    return await runWords(words, { stdin: io.stdin, stdout: io.stdout, stderr: io.stderr, env: io.env, color });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`template-run: ${error.message}\n`);
    return EXIT_USAGE;
  }
}

async function runWords(args: readonly string[], io: CommandIo): Promise<number> {
  const [name, ...rest] = args;
  if (name === 'help' && rest[0] !== undefined) return runWords([...rest, '--help'], io);
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    (name === undefined ? io.stderr : io.stdout).write(help());
    return name === undefined ? EXIT_USAGE : EXIT_OK;
  }
  if (name === 'version' || name === '--version' || name === '-V') {
    io.stdout.write(`${version()}\n`);
    return EXIT_OK;
  }
  const entry = COMMANDS.find((each) => each.name === name);
  if (entry === undefined) {
    io.stderr.write(`template-run: unknown command ${name}.${await commandHint(name)}\nTry \`template-run --help\`.\n`);
    return EXIT_USAGE;
  }
  const command = await entry.load();
  if (asksForHelp(rest)) {
    io.stdout.write(`${helpPage(command, rest[0])}\n`);
    return EXIT_OK;
  }
  try {
    return await command.run(rest, io);
  } catch (error) {
    // Errors of the operating system, such as a missing folder for temporary files, are not faults of the program.
    if ((error as NodeJS.ErrnoException).syscall !== undefined || error instanceof UnreadableFileError) {
      io.stderr.write(
        `${painted(io, 'stderr', 'error', `template-run ${name}:`)} ${systemErrorText(error as Error)}\n`,
      );
      return EXIT_FAILED;
    }
    if (!(error instanceof UsageError)) throw error;
    const hint = error.hintsAtHelp ? `Try \`${helpCommand(command, rest[0])}\`.\n` : '';
    io.stderr.write(`${painted(io, 'stderr', 'error', `template-run ${name}:`)} ${error.message}\n${hint}`);
    return error.hintsAtHelp ? EXIT_USAGE : EXIT_FAILED;
  }
}

/** Recognises the help flag anywhere among the arguments, except after `--`, where it may be a file name. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end).some((argument) => argument === '--help' || argument === '-h');
}

function help(): string {
  const width = Math.max(...COMMANDS.map((entry) => entry.name.length));
  const lines = COMMANDS.map((entry) => `  ${entry.name.padEnd(width)}  ${entry.summary}`);
  return `Usage: template-run COMMAND ...

${lines.join('\n')}

Every command also takes --help, --color auto|always|never, and -q or --quiet, which suppresses progress and notes.

Examples:
  template-run inspect orders.csv
  template-run run bank.yaml statement.csv -o ledger.csv
  template-run run --help
  template-run --version
`;
}

function version(): string {
  const text = readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
