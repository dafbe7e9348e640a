// The command line: finds the command in the table, prints help, and turns usage errors into exit status 2.
import { readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import { type Command, type CommandIo, EXIT_FAILED, EXIT_OK, EXIT_USAGE, UsageError } from './command.ts';
import { commandHint } from './command-hint.ts';
import { COMMANDS } from './index.ts';

/** Runs what the arguments say; resolves with the exit status. Faults of ours reject. */
export async function runCli(args: readonly string[], io: CommandIo): Promise<number> {
  const [name, ...rest] = args;
  if (name === 'help' && rest[0] !== undefined) return runCli([...rest, '--help'], io);
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
    io.stderr.write(`template-run: unknown command ${name}.${await commandHint(name)}\n\n${help()}`);
    return EXIT_USAGE;
  }
  const command = await entry.load();
  const usage = usageOf(command, rest[0]);
  if (asksForHelp(rest)) {
    io.stdout.write(`${usage}\n`);
    return EXIT_OK;
  }
  try {
    return await command.run(rest, io);
  } catch (error) {
    // What the system refuses, such as a folder for temporary files that is not there, is no fault of ours.
    if ((error as NodeJS.ErrnoException).syscall !== undefined) {
      io.stderr.write(`template-run ${name}: ${(error as Error).message}\n`);
      return EXIT_FAILED;
    }
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`template-run ${name}: ${error.message}\n\n${usage}\n`);
    return EXIT_USAGE;
  }
}

/** Wherever it stands among the arguments; behind `--` a file may be called so. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end).some((argument) => argument === '--help' || argument === '-h');
}

function usageOf({ usage, actions = {} }: Command, action = ''): string {
  return Object.hasOwn(actions, action) ? actions[action]! : usage;
}

function help(): string {
  const width = Math.max(...COMMANDS.map((entry) => entry.name.length));
  const lines = COMMANDS.map((entry) => `  ${entry.name.padEnd(width)}  ${entry.summary}`);
  return `template-run COMMAND ...\n\n${lines.join('\n')}\n\ntemplate-run COMMAND --help tells more, --version the version.\n`;
}

function version(): string {
  const text = readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
