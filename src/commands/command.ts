// The contract of a command, its flags, and commands with actions.
import { parseArgs } from 'node:util';
import { suggestion } from '../../workers/values/suggestion.ts';
import { DELIMITER } from '../uploads/parameters.ts';

/** `auto`: on a terminal, unless the variable NO_COLOR is set (https://no-color.org) or TERM is `dumb`. */
export type ColorWhen = 'auto' | 'always' | 'never';

/** Streams and environment of a command: those of the process, or of a test. */
export interface CommandIo {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The value of --color; `auto` if it was not given. */
  readonly color?: ColorWhen;
}

export interface Command {
  readonly name: string;
  /** Printed by `--help` after "Usage: ". The first line begins with "template-run". */
  readonly usage: string;
  /** Usage text of each action, such as `issue` of `keys`, if the command has actions. */
  readonly actions?: Readonly<Record<string, string>>;
  /** Resolves with the exit status. If it throws a UsageError, the message is printed, usually with the status EXIT_USAGE. */
  run(args: readonly string[], io: CommandIo): Promise<number>;
}

/** A command's entry in the table of commands. */
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
/** 128 plus the number of SIGINT, the convention of shells. */
export const EXIT_INTERRUPTED = 130;

/**
 * Calls a function at the first signal that asks the command to end. Further signals end the process at once.
 *
 * @returns a function that removes the handlers of the signals
 */
export function onInterrupt(interrupt: () => void): () => void {
  const once = (): void => {
    end();
    interrupt();
  };
  const end = (): void => {
    for (const signal of INTERRUPTS) process.off(signal, once);
  };
  for (const signal of INTERRUPTS) process.on(signal, once);
  return end;
}

/** Signals of Ctrl-C, of a terminal that is closed, and of `kill`. */
const INTERRUPTS = ['SIGINT', 'SIGHUP', 'SIGTERM'] as const;

/** A mistake of the caller; the message says how to correct it. */
export class UsageError extends Error {
  /**
   * False: a file that was named is the problem, not the syntax. The message then does not refer to the help page, and
   * the exit status is EXIT_FAILED.
   */
  readonly hintsAtHelp: boolean;

  constructor(message: string, hintsAtHelp = true) {
    super(message);
    this.name = 'UsageError';
    this.hintsAtHelp = hintsAtHelp;
  }
}

// Parses a command's arguments against its known flags. An unknown flag is a usage error with a suggestion.

/** 'value': takes a value; 'list': takes a value and may be repeated; 'switch': takes no value. */
export interface Flag {
  readonly kind: 'value' | 'list' | 'switch';
  /** One letter, such as `o` for `-o`. */
  readonly short?: string;
  /** Name of the value in the help, such as DIR. */
  readonly placeholder?: string;
  /** Description for the help, with the default in brackets. */
  readonly purpose: string;
}

export interface Flags {
  /** Values of the flags that were given. If a flag is repeated, the last value counts. */
  readonly values: ReadonlyMap<string, string>;
  /** Values of the flags of kind 'list', in the order in which they were given. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  readonly switches: ReadonlySet<string>;
  readonly positionals: readonly string[];
}

/** Maximum width of help texts, in terminal columns. */
const HELP_WIDTH = 118;

/** One flag per line with its purpose beside it; an empty string if there are no flags. */
export function flagsHelp(known: Readonly<Record<string, Flag>>): string {
  const flags = Object.entries(known).map(([name, { short, placeholder, purpose }]) => {
    const value = placeholder === undefined ? '' : ` ${placeholder}`;
    return { head: `  ${short === undefined ? '' : `-${short}, `}--${name}${value}`, purpose };
  });
  const width = Math.max(0, ...flags.map(({ head }) => head.length)) + 2;
  return flags
    .map(({ head, purpose }) => head.padEnd(width) + wrapped(purpose, HELP_WIDTH - width, ' '.repeat(width)))
    .join('\n');
}

function wrapped(text: string, width: number, indent: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join(`\n${indent}`);
}

/**
 * Also accepts --quiet, which has no effect in commands that print only results.
 *
 * @throws UsageError for an unknown flag, a value flag without a value, or a switch with a value
 */
export function parseFlags(
  args: readonly string[],
  own: Readonly<Record<string, Pick<Flag, 'kind' | 'short'>>>,
): Flags {
  const known: typeof own = { quiet: QUIET_FLAG, ...own };
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { kind, short }]) => {
      const type = kind === 'switch' ? ('boolean' as const) : ('string' as const);
      return [name, short === undefined ? { type } : { type, short }];
    }),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const values = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();
  const switches = new Set<string>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const flag = Object.hasOwn(known, token.name) ? known[token.name] : undefined;
    if (flag === undefined) {
      const names = Object.keys(known).map((name) => `--${name}`);
      throw new UsageError(`Unknown flag ${token.rawName}.${suggestion(token.rawName, names)}`);
    }
    if (flag.kind === 'switch') {
      if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value.`);
      switches.add(token.name);
    } else {
      if (token.value === undefined) throw new UsageError(`${token.rawName} needs a value.`);
      if (flag.kind === 'list') lists.set(token.name, [...(lists.get(token.name) ?? []), token.value]);
      else values.set(token.name, token.value);
    }
  }
  return { values, lists, switches, positionals };
}

// The --json flag of commands that print information.

export const JSON_FLAGS = {
  json: { kind: 'switch', purpose: 'JSON instead of text (off)' },
} as const satisfies Readonly<Record<string, Flag>>;

// The flag -q, which every command accepts.

/** Does not suppress messages about failures, or results on standard output. */
export const QUIET_FLAG = { kind: 'switch', short: 'q', purpose: 'no progress, notes and summaries (off)' } as const;

// The --delimiter flag of the commands that read files.

/** The same values as in a request, and also a tab character, which a shell can pass. */
export function delimiter(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text !== '\t' && !DELIMITER.test(text)) {
    throw new UsageError('--delimiter takes one printable character other than a double quote, or a tab.');
  }
  return text;
}

// Commands with actions, such as `keys issue`: finds the action and generates its help.

export interface Action {
  /** Required arguments and flags, such as `ACCOUNT --plan PLAN`. */
  readonly form: string;
  /** Description of the action. The first line is one sentence; more lines are optional. */
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag>>;
  run(args: readonly string[], io: CommandIo): Promise<number>;
}

export interface ActionTable {
  readonly name: string;
  readonly actions: Readonly<Record<string, Action>>;
  /** Further text about arguments for the command's help. */
  readonly more?: string;
  /** Words accepted besides actions, listed in usage errors. */
  readonly others?: readonly string[];
  /** Handles arguments that do not begin with an action; returns null to refuse them. */
  readonly otherwise?: (args: readonly string[], io: CommandIo) => Promise<number> | null;
}

export function actionsCommand({ name, actions, more, others = [], otherwise }: ActionTable): Command {
  const heads = Object.entries(actions).map(([action, { form, summary }]) => {
    return `${`template-run ${name} ${action} ${form}`.trimEnd()}\n    ${summary.split('\n')[0]}`;
  });
  const moreText = more === undefined ? '' : `\n\n${more}`;
  return {
    name,
    usage: `${heads.join('\n')}${moreText}\n\ntemplate-run ${name} ACTION --help lists the flags of an action.`,
    actions: Object.fromEntries(
      Object.entries(actions).map(([action, each]) => [action, actionUsage(`${name} ${action}`, each)]),
    ),
    run(args, io) {
      const [action = '', ...rest] = args;
      if (Object.hasOwn(actions, action)) return actions[action]!.run(rest, io);
      const names = [...Object.keys(actions), ...others];
      const other = otherwise?.(args, io) ?? null;
      if (other !== null) return other;
      const written = names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
      const unknown = action === '' || action.startsWith('-') ? '' : `"${action}" is not an action. `;
      throw new UsageError(`${unknown}Write ${written}.${suggestion(action, names)}`);
    },
  };
}

function actionUsage(name: string, { form, summary, flags }: Action): string {
  const help = flagsHelp(flags);
  return `${`template-run ${name} ${form}`.trimEnd()}\n\n${summary}${help === '' ? '' : `\n\n${help}`}`;
}
