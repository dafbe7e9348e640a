// `template-run completion`: prints a shell script that completes commands, actions and flags; all other words
// complete as file names. The script is generated from the help texts, so that the two never differ.

import { suggestion } from '../../workers/values/suggestion.ts';
import { type Command, type CommandEntry, EXIT_OK, parseFlags, UsageError } from './command.ts';

/** Possible next words after a command or action: `template-run keys` is followed by its actions. */
interface Context {
  /** Words after `template-run`, such as "keys issue"; "" at the top level. */
  readonly words: string;
  /** Commands or actions. */
  readonly names: readonly string[];
  readonly flags: readonly string[];
}

const SHELLS: Readonly<Record<string, (contexts: readonly Context[]) => string>> = { bash, zsh, fish };

const USAGE = `template-run completion bash|zsh|fish

Prints a script that completes commands, actions and flags:
  bash  source <(template-run completion bash)         in ~/.bashrc
  zsh   source <(template-run completion zsh)          in ~/.zshrc, after compinit
  fish  template-run completion fish | source          in ~/.config/fish/config.fish`;

/** @param commands the table of commands */
export function completionCommand(commands: readonly CommandEntry[]): Command {
  return {
    name: 'completion',
    usage: USAGE,
    async run(args, io) {
      const [shell = '', ...more] = parseFlags(args, {}).positionals;
      const names = Object.keys(SHELLS);
      if (!Object.hasOwn(SHELLS, shell) || more.length > 0)
        throw new UsageError(`Write bash, zsh or fish.${suggestion(shell, names)}`);
      io.stdout.write(SHELLS[shell]!(await contextsOf(commands)));
      return EXIT_OK;
    },
  };
}

async function contextsOf(commands: readonly CommandEntry[]): Promise<readonly Context[]> {
  const contexts: Context[] = [{ words: '', names: commands.map(({ name }) => name), flags: ['--help', '--version'] }];
  for (const { name, load } of commands) {
    const { usage, actions = {} } = await load();
    contexts.push({ words: name, names: Object.keys(actions), flags: flagsOf(usage) });
    for (const [action, text] of Object.entries(actions))
      contexts.push({ words: `${name} ${action}`, names: [], flags: flagsOf(text) });
  }
  return contexts;
}

/** Flags of every command. */
const EVERYWHERE: readonly string[] = ['--help', '--color', '--quiet'];

/** The flags in a help text, which lists one flag per line. */
function flagsOf(usage: string): string[] {
  return [
    ...new Set([...Array.from(usage.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm), ([, flag]) => flag!), ...EVERYWHERE]),
  ];
}

/** Completes flags if the word begins with a dash, otherwise names, or file names if the context has no names. */
function bash(contexts: readonly Context[]): string {
  const cases = contexts.map(
    ({ words, names, flags }) => `    '${words}') names='${names.join(' ')}' flags='${flags.join(' ')}' ;;`,
  );
  return `_template_run() {
  local word=\${COMP_WORDS[COMP_CWORD]} names= flags= context=\${COMP_WORDS[1]}
  [ "$COMP_CWORD" -eq 1 ] && context=
  case "$context \${COMP_WORDS[2]}" in
${actionPatterns(contexts)}
  esac
  case "$context" in
${cases.join('\n')}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) COMPREPLY=($([ -n "$names" ] && compgen -W "$names" -- "$word"; [ -z "$names" ] && compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _template_run template-run
`;
}

/** An action becomes part of the context only when the word after it has begun. */
function actionPatterns(contexts: readonly Context[]): string {
  const words = contexts.filter((context) => context.words.includes(' ')).map((context) => `'${context.words}'`);
  return `    ${words.join('|')}) [ "$COMP_CWORD" -gt 2 ] && context="$context \${COMP_WORDS[2]}" ;;`;
}

/** Uses zsh's emulation of bash completion. */
function zsh(contexts: readonly Context[]): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bash(contexts)}`;
}

function fish(contexts: readonly Context[]): string {
  const [top, ...rest] = contexts as readonly [Context, ...Context[]];
  const begin = `complete -c template-run -n __fish_use_subcommand -f -a '${top.names.join(' ')}'`;
  const lines = rest.flatMap(({ words, names, flags }) => {
    const seen = words
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ');
    const actions = names.length === 0 ? [] : [`complete -c template-run -n '${seen}' -a '${names.join(' ')}'`];
    return [...actions, ...flags.map((flag) => `complete -c template-run -n '${seen}' -l ${flag.slice(2)}`)];
  });
  return `${[begin, ...lines].join('\n')}\n`;
}
