// `--help` at every level: of the program, of each command and of each action, with the flags and their defaults.
import t from 'tap';
import { COMMANDS } from '../../../src/commands/index.ts';
import { readServeConfig, SETTINGS } from '../../../src/config.ts';
import { cli } from './command-line.ts';

const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  accounts: ['add', 'list', 'show', 'activate', 'deactivate', 'remove', 'subscription'],
  catalog: ['check'],
  keys: ['issue', 'list', 'revoke'],
  template: ['check', 'test', 'diff', 'explain', 'draft', 'schema', 'docs'],
};

t.test('each command has help, wherever --help stands', async (t) => {
  const program = await cli('--help');
  for (const { name } of COMMANDS) {
    t.match(program.stdout, new RegExp(`^  ${name} +\\S`, 'm'));
    const help = await cli(name, '--help');
    t.match(help, { status: 0, stdout: new RegExp(`^Usage: template-run ${name}\\b`), stderr: '' }, name);
    for (const args of [
      [name, '-h'],
      ['help', name],
      [name, 'a', '--nonsense', '--help'],
    ]) {
      t.strictSame(await cli(...args), help, args.join(' '));
    }
  }
  t.match(await cli('openapi', '--', '--help'), { status: 2, stderr: /no arguments/ }, 'after -- it is an argument');
});

t.test('each action has its own, and the message about a wrong use names it', async (t) => {
  for (const [name, actions] of Object.entries(ACTIONS)) {
    const whole = await cli(name, '--help');
    for (const action of actions) {
      t.match(whole.stdout, new RegExp(`^(?:Usage: )?template-run ${name} ${action}\\b.*\\n {4}[A-Z]`, 'm'));
      const help = await cli(name, action, '--help');
      t.match(help, {
        status: 0,
        stdout: new RegExp(`^Usage: template-run ${name} ${action}\\b.*\\n\\n[A-Z]`),
        stderr: '',
      });
      t.strictSame(await cli('help', name, action), help);
      const wrong = await cli(name, action, '--nonsense');
      const hint = `Try \`template-run ${name} ${action} --help\`.\n`;
      t.match(wrong, { status: 2, stdout: '', stderr: /^template-run \w+: Unknown flag --nonsense\./ });
      t.ok(wrong.stderr.endsWith(`\n${hint}`), `${name} ${action}`);
      t.equal(wrong.stderr.split('\n').length, 3, 'two lines');
    }
  }
});

t.test('each help page ends with at least two examples', async (t) => {
  const pages = COMMANDS.flatMap(({ name }) => [[name], ...(ACTIONS[name] ?? []).map((action) => [name, action])]);
  for (const words of [[], ...pages]) {
    const { stdout } = await cli(...words, '--help');
    t.match(stdout, /\nExamples:\n(?: {2}.*template-run .*\n){2,4}$/, words.join(' '));
  }
});

t.test('a usage error is one or two lines', async (t) => {
  for (const { name } of COMMANDS.filter(({ name }) => name !== 'serve')) {
    const wrong = await cli(name, '--nonsense');
    t.match(wrong, { status: 2, stdout: '', stderr: new RegExp(`\nTry \`template-run ${name} --help\`\\.\n$`) });
    t.equal(wrong.stderr.split('\n').length, 3, name);
  }
  t.match(await cli('nonsense'), {
    status: 2,
    stderr: /^template-run: unknown command .*\nTry `template-run --help`\.\n$/,
  });
});

t.test('every flag says what counts without it', async (t) => {
  let flags = 0;
  for (const { name } of COMMANDS) {
    for (const action of ['', ...(ACTIONS[name] ?? [])]) {
      const { stdout } = await cli(name, ...(action === '' ? [] : [action]), '--help');
      for (const [, flag, purpose] of stdout.matchAll(/^ {2}(?:-\w, )?(--\S+)(.*(?:\n {6,}\S.*)*)/gm)) {
        flags++;
        if (flag !== '--ops') t.match(purpose, /\(.+\)/s, `${name} ${action} ${flag}`);
      }
    }
  }
  t.ok(flags > 40, `${flags} flags were looked at`);
});

t.test('what serve shows as the default of a flag is what counts without it', async (t) => {
  const required = ['--catalog', 'c', '--data', 'd', '--base-url', 'https://a.example'];
  const fleet = [...required, '--redis', 'redis://a', '--outputs', 'o'];
  const values = SETTINGS.filter(([, , , value]) => /^[\w.]+$/.test(value) && !/^(?:required|none)$/.test(value));
  t.ok(values.length > 15, `${values.length} flags have a value as their default`);
  for (const [name, , , value] of values) {
    const args = name.startsWith('redis-') ? fleet : required;
    t.strictSame(readServeConfig([...args, `--${name}`, value], {}), readServeConfig(args, {}), `--${name} ${value}`);
  }
});
