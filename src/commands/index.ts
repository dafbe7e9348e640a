// The table of commands. A command's code is loaded when it is called: `keys list` starts no engine.
import type { Command } from './command.ts';

export interface CommandEntry {
  readonly name: string;
  /** One line for `template-run --help`. */
  readonly summary: string;
  load(): Promise<Command>;
}

export const COMMANDS: readonly CommandEntry[] = [];
