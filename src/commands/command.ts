// What a command of the command line is: one file each, loaded when it is called (src/commands/index.ts).

/** Where a command reads and writes: the process's own streams, or a test's. */
export interface CommandIo {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Command {
  readonly name: string;
  /** Printed by `--help` and after a usage error; the first line begins with "template-run". */
  readonly usage: string;
  /** The same for each of its actions, such as `issue` of `keys`, where it has them. */
  readonly actions?: Readonly<Record<string, string>>;
  /** Resolves with the exit status. A UsageError that it throws is printed and ends with EXIT_USAGE. */
  run(args: readonly string[], io: CommandIo): Promise<number>;
}

/** A command's place in the table of commands. */
export interface CommandEntry {
  readonly name: string;
  /** One line for `template-run --help`. */
  readonly summary: string;
  load(): Promise<Command>;
}

export const EXIT_OK = 0;
/** A file or a check failed. */
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** The caller's mistake; its message says what to write instead. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
