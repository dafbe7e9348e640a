// `template`: checks, tests and explains Template files; prints the language's schema and reference.
import { actionsCommand } from './actions.ts';
import type { Command, CommandIo } from './command.ts';
import { JSON_FLAGS } from './json-flag.ts';
import { CHECK_FLAGS, checkFiles } from './template-check.ts';
import { DIFF_FLAGS } from './template-diff-flags.ts';
import { DRAFT_FLAGS } from './template-draft-flags.ts';
import { explainFile } from './template-explain.ts';
import { printReference, printSchema, SCHEMA_FLAGS } from './template-language.ts';

export const command: Command = actionsCommand({
  name: 'template',
  actions: {
    check: {
      form: 'FILE...',
      summary:
        'Says what is wrong with Templates, and what to write instead.\nExit status: 0 all are sound, 1 a problem, 2 usage.',
      flags: CHECK_FLAGS,
      run: checkFiles,
    },
    test: {
      form: 'FILE...',
      summary: 'Runs the tests that stand in Templates.\nExit status: 0 all passed, 1 a problem, 2 usage.',
      flags: JSON_FLAGS,
      run: testOnEngine,
    },
    diff: {
      form: 'OLD NEW [SAMPLE...]',
      summary: `Tells what a change of a Template changes: columns, and rows of the tests of both and of sample files.
Exit status: 0 nothing changes, 1 something does or a Template has a problem, 2 usage.`,
      flags: DIFF_FLAGS,
      run: diffOnEngine,
    },
    explain: {
      form: 'FILE',
      summary: 'Tells the columns that a Template needs, columns and types at each step, and memory.',
      flags: JSON_FLAGS,
      run: explainFile,
    },
    draft: {
      form: 'SAMPLE',
      summary: `Proposes a Template from a whole sample file, each line with its evidence. What could lose something is a comment.
Exit status: 0 it is printed, 1 a file cannot be read, 2 usage.`,
      flags: DRAFT_FLAGS,
      run: draftOnEngine,
    },
    schema: {
      form: '',
      summary: 'Prints the JSON Schema of Templates (draft 2020-12), for editors.',
      flags: SCHEMA_FLAGS,
      run: printSchema,
    },
    docs: { form: '', summary: 'Prints the reference of Templates as Markdown.', flags: {}, run: printReference },
  },
});

async function draftOnEngine(args: readonly string[], io: CommandIo): Promise<number> {
  return (await import('./template-draft.ts')).draftFile(args, io);
}

async function diffOnEngine(args: readonly string[], io: CommandIo): Promise<number> {
  const [{ diffTemplates }, { TestEngine }] = await Promise.all([
    import('./template-diff.ts'),
    import('../template-tests/test-engine.ts'),
  ]);
  return TestEngine.with((engine) => diffTemplates(args, io, engine));
}

/** Loaded when it is called: the other actions start no engine. */
async function testOnEngine(args: readonly string[], io: CommandIo): Promise<number> {
  const [{ testFiles }, { TestEngine }] = await Promise.all([
    import('./template-test.ts'),
    import('../template-tests/test-engine.ts'),
  ]);
  return TestEngine.with((engine) => testFiles(args, io, (run) => engine.run(run)));
}
