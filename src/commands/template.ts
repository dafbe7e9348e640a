// `template`: checks, tests and explains Template files; prints the language's schema and reference.
import { suggestion } from '../../workers/template/suggestion.ts';
import { type Command, type CommandIo, UsageError } from './command.ts';
import { checkFiles } from './template-check.ts';
import { explainFile } from './template-explain.ts';
import { printReference, printSchema } from './template-language.ts';

const ACTIONS: Readonly<Record<string, (args: readonly string[], io: CommandIo) => Promise<number>>> = {
  check: checkFiles,
  test: testOnEngine,
  explain: explainFile,
  schema: printSchema,
  docs: printReference,
};

export const command: Command = {
  name: 'template',
  usage: `template-run template check FILE...     what is wrong with Templates, and what to write instead
template-run template test FILE...      runs the tests that stand in Templates
template-run template explain FILE      required columns, columns and types at each step, memory
template-run template schema            the JSON Schema of Templates (draft 2020-12)
template-run template docs              the reference of Templates as Markdown

  --json   check, test and explain: JSON instead of text

Exit status: 0 all is well, 1 a problem, 2 usage.`,
  async run(args, io) {
    const [name = '', ...rest] = args;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined) {
      const names = Object.keys(ACTIONS);
      throw new UsageError(`Write ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.${suggestion(name, names)}`);
    }
    return await action(rest, io);
  },
};

/** Loaded when it is called: the other actions start no engine. */
async function testOnEngine(args: readonly string[], io: CommandIo): Promise<number> {
  const [{ testFiles }, { TestEngine }] = await Promise.all([import('./template-test.ts'), import('./test-engine.ts')]);
  return TestEngine.with((engine) => testFiles(args, io, (run) => engine.run(run)));
}
