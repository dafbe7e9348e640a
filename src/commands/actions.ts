// Commands that are made of actions, such as `keys issue`: finds the action, and writes the help of each.
import { suggestion } from '../../workers/template/suggestion.ts';
import { type Command, type CommandIo, UsageError } from './command.ts';
import { type Flag, flagsHelp } from './flags.ts';

export interface Action {
  /** Arguments and flags that must be there, such as `ACCOUNT --plan PLAN`. */
  readonly form: string;
  /** What it does, in one sentence; more lines where there is more to say. */
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag>>;
  run(args: readonly string[], io: CommandIo): Promise<number>;
}

export interface ActionTable {
  readonly name: string;
  readonly actions: Readonly<Record<string, Action>>;
  /** What the command also takes, for its help. */
  readonly more?: string;
  /** What else may stand in an action's place, for a usage error. */
  readonly others?: readonly string[];
  /** Takes arguments that begin with no action; null: not these either. */
  readonly otherwise?: (args: readonly string[], io: CommandIo) => Promise<number> | null;
}

export function actionsCommand({ name, actions, more, others = [], otherwise }: ActionTable): Command {
  const heads = Object.entries(actions).map(([action, { form, summary }]) => {
    return `${`template-run ${name} ${action} ${form}`.trimEnd()}\n    ${summary.split('\n')[0]}`;
  });
  const more_ = more === undefined ? '' : `\n\n${more}`;
  return {
    name,
    usage: `${heads.join('\n')}${more_}\n\ntemplate-run ${name} ACTION --help tells the flags of an action.`,
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
      throw new UsageError(`Write ${written}.${suggestion(action, names)}`);
    },
  };
}

function actionUsage(name: string, { form, summary, flags }: Action): string {
  const help = flagsHelp(flags);
  return `${`template-run ${name} ${form}`.trimEnd()}\n\n${summary}${help === '' ? '' : `\n\n${help}`}`;
}
