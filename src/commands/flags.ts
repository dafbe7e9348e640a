// Reads a command's arguments against the flags that it knows; an unknown one is a usage error with a suggestion.
import { parseArgs } from 'node:util';
import { suggestion } from '../../workers/template/suggestion.ts';
import { UsageError } from './command.ts';

/** 'value': takes a text; 'switch': stands alone. */
export interface Flag {
  readonly kind: 'value' | 'switch';
  /** One letter, for `-o`. */
  readonly short?: string;
  /** What its value is called in the help, such as DIR. */
  readonly placeholder?: string;
  /** For the help: what it does, and in brackets what counts without it. */
  readonly purpose: string;
}

export interface Flags {
  /** Texts of the value flags that were given; a flag that is repeated counts as last written. */
  readonly values: ReadonlyMap<string, string>;
  readonly switches: ReadonlySet<string>;
  readonly positionals: readonly string[];
}

/** Columns of a terminal that the help keeps to. */
const HELP_WIDTH = 118;

/** One flag on a line and its purpose beside it; '' where there are none. */
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

/** Throws a UsageError for an unknown flag, a value flag without a value or a switch with one. */
export function parseFlags(
  args: readonly string[],
  known: Readonly<Record<string, Pick<Flag, 'kind' | 'short'>>>,
): Flags {
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { kind, short }]) => {
      const type = kind === 'value' ? ('string' as const) : ('boolean' as const);
      return [name, short === undefined ? { type } : { type, short }];
    }),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const values = new Map<string, string>();
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
      values.set(token.name, token.value);
    }
  }
  return { values, switches, positionals };
}
