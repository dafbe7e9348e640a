// Follows the pages: every command that a page shows is run in the page's order, with the files that the page names, and prints
// what the page shows. With TEMPLATE_RUN_WRITE_DOCS=1, the commands' output is written into the pages instead.
// With all tests only: every command of the documents.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { LEFT_OUT } from './documents/left-out-commands.ts';
import { Reader } from './documents/reader.ts';
import { type CommandBlock, fencesOf, readerSteps, type Shown, withShown } from './documents/shell-blocks.ts';
import { cli } from './src/commands/command-line.ts';

/** Timeout for the file: it takes a minute of processor time on two cores, which other tests may use as well. */
const FILE_MILLISECONDS = 1_200_000;
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...markdownIn('docs'), ...markdownIn('examples/recipes')];
const isWriting = process.env['TEMPLATE_RUN_WRITE_DOCS'] === '1';

const STATEMENT = 'examples/files/bank-statement.csv';

/** Preconditions of a page: files that its readers have, and commands that they have run before. */
const BROUGHT: Readonly<
  Record<string, { readonly files?: Readonly<Record<string, string>>; readonly before?: string[] }>
> = {
  'docs/how-to/studio.md': { files: { 'statement.csv': STATEMENT } },
  'docs/how-to/send-files.md': {
    files: {
      'exports/one.csv': 'examples/files/orders-export.csv',
      'exports/two.csv': 'examples/files/orders-export.csv',
    },
    before: ['template-run init catalog', 'template-run serve --catalog catalog --data data --port 8080'],
  },
  'docs/reference/commands.md': {
    files: {
      'exports/one.csv': 'examples/files/orders-export.csv',
      'exports/two.csv': STATEMENT,
      'report.xlsx': 'examples/catalog/templates/demo/working-hours.xlsx',
    },
  },
};

/** Other programs that pages use and that are not installed: their commands are not run. */
const MISSING = ['curl', 'jq'].filter((program) => spawnSync(program, ['--version']).status !== 0);

t.setTimeout(FILE_MILLISECONDS);
// Each reader has a separate folder and port.
t.jobs = 2;

for (const page of PAGES) {
  const markdown = readFileSync(page, 'utf8');
  const steps = readerSteps(markdown);
  if (!steps.some(({ kind }) => kind === 'commands')) continue;
  t.test(page, { buffered: true }, async (t) => {
    const reader = new Reader();
    const { files = {}, before = [] } = BROUGHT[page] ?? {};
    for (const [to, from] of Object.entries(files)) reader.copy(from, to);
    const written = new Map<Shown, string>();
    try {
      for (const command of before) t.equal((await reader.do(command)).status, 0, `before: ${command}`);
      for (const step of steps) {
        if (step.kind === 'file') reader.write(step.name, step.text);
        else await doBlock(t, `${page}:${step.line}`, reader, step, written);
      }
    } finally {
      t.strictSame(await reader.leave(), [], 'what serves ends well');
    }
    if (isWriting) writeFileSync(page, withShown(markdown, written));
  });
}

t.test('commands are in fences of sh, and commands that are left out exist', async (t) => {
  const commands = PAGES.flatMap((page) =>
    readerSteps(readFileSync(page, 'utf8')).flatMap((step) => (step.kind === 'commands' ? step.commands : [])),
  );
  t.ok(commands.length > 20, `${commands.length} commands`);
  for (const { command, reason } of LEFT_OUT)
    t.ok(
      commands.some((each) => command.test(bare(each))),
      reason,
    );
  for (const page of PAGES) {
    for (const { language, lines, from } of fencesOf(readFileSync(page, 'utf8'))) {
      if (language === 'sh') continue;
      const hidden = lines.find((line) => /^(?:\$ |template-run [a-z]|npm |curl |docker |kubectl )/.test(line));
      // The output of a command may begin with the command's name, for example its help.
      if (language !== 'text') t.equal(hidden, undefined, `${page}:${from}`);
    }
  }
});

async function doBlock(
  t: Test,
  place: string,
  reader: Reader,
  { commands, shown }: CommandBlock,
  written: Map<Shown, string>,
): Promise<void> {
  let output = '';
  for (const command of commands) {
    const missing = MISSING.find((program) => new RegExp(`(?:^|\\| )${program} `).test(command));
    if (missing !== undefined) {
      t.pass(`${place}: ${command}`, { skip: `${missing} is not installed` });
      return;
    }
    if (LEFT_OUT.some((each) => each.command.test(bare(command)))) {
      await checkFlags(t, place, command);
      continue;
    }
    const done = await reader.do(command);
    output += done.output;
    if (!t.equal(done.status, expectedStatus(command), `${place}: ${command}`)) t.comment(done.output);
  }
  if (shown === null) return;
  const printed = output.replace(/\n$/, '');
  if (masked(printed) === masked(shown.text)) return;
  if (isWriting) written.set(shown, printed);
  else t.equal(masked(shown.text), masked(printed), `${place} shows what its commands print`);
}

/** Checks that a command that is not run has only flags that exist. */
async function checkFlags(t: Test, place: string, command: string): Promise<void> {
  const [, name] = /^template-run (\w+)/.exec(command) ?? [];
  if (name === undefined) return;
  const { stdout } = await cli(name, '--help');
  for (const [, flag] of command.matchAll(/ (--[a-z-]+)/g)) t.match(stdout, `  ${flag} `, `${place}: ${flag}`);
}

/** The exit status of a command: a page states it in a comment if it is not 0. */
function expectedStatus(command: string): number {
  return Number(/#.*\bstatus (\d)\b/.exec(command)?.[1] ?? 0);
}

function bare(command: string): string {
  return command.replace(/\s+#.*$/, '');
}

/** Replaces parts that differ each time: durations, ids and times of Runs. */
function masked(text: string): string {
  return text
    .replaceAll(/\b\d+ ms\b/g, '* ms')
    .replaceAll(/"milliseconds":\d+/g, '"milliseconds":*')
    .replaceAll(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, '*');
}

function markdownIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : []));
}
