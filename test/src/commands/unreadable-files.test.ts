// Files of the command line that cannot be read, in every command that reads one: one line that says what is wrong. And `-`, which is
// standard input.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { COMMAND } from '../../blackbox/service.ts';
import { isLong, skipUnlessLong } from '../../sweep.ts';
import { cli } from './command-line.ts';

const TEMPLATE = 'format: 1\noperations: []\noutput: {format: csv}\n';
const INPUT = 'id,amount\n1,2\n';
const folder = mkdtempSync(join(tmpdir(), 'template-run-unreadable-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);
for (const name of ['template.yaml', 'other.yaml']) writeFileSync(path(name), TEMPLATE);
writeFileSync(path('input.csv'), INPUT);
mkdirSync(path('folder.yaml'));
symlinkSync('gone.yaml', path('broken.yaml'));
symlinkSync('loop.yaml', path('loop.yaml'));
writeFileSync(path('closed.yaml'), TEMPLATE);
chmodSync(path('closed.yaml'), 0o000);

const UNREADABLE: readonly (readonly [name: string, what: RegExp])[] = [
  ['gone.yaml', /gone\.yaml does not exist\./],
  ['folder.yaml', /folder\.yaml is a folder, not a file\./],
  ['broken.yaml', /broken\.yaml is a link to gone\.yaml, which does not exist\./],
  ['loop.yaml', /loop\.yaml is a link that leads to itself\./],
  ['input.csv/x.yaml', /does not exist: a part of the path is a file, not a folder\./],
  // The superuser may read every file.
  ...(process.getuid?.() === 0 ? [] : [['closed.yaml', /closed\.yaml cannot be read: permission denied\./] as const]),
];

const COMMANDS: readonly ((file: string) => readonly string[])[] = [
  (file) => ['run', path('template.yaml'), file],
  (file) => ['run', file, path('input.csv')],
  (file) => ['inspect', file],
  (file) => ['template', 'check', file],
  (file) => ['template', 'check', path('template.yaml'), '--sample', file],
  (file) => ['template', 'test', file],
  (file) => ['template', 'explain', file],
  (file) => ['template', 'diff', path('template.yaml'), file],
  (file) => ['template', 'diff', path('template.yaml'), path('other.yaml'), file],
  (file) => ['template', 'draft', file],
  (file) => ['template', 'draft', path('input.csv'), '--like', file],
  (file) => ['studio', '--no-open', path('template.yaml'), file],
];

t.test('a file that cannot be read', async (t) => {
  for (const [kind, [name, what]] of UNREADABLE.entries()) {
    for (const [at, command] of COMMANDS.entries()) {
      // Each command with one kind of file, and each kind with one command; all pairs with all tests.
      if (!isLong && at % UNREADABLE.length !== kind) continue;
      const args = command(path(name));
      const { status, stdout, stderr } = await cli(...args);
      const said = stdout + stderr;
      t.match(said, what, args.join(' '));
      t.equal(said.trimEnd().split('\n').length, 1, `${args.join(' ')}: one line, not ${said}`);
      t.not(status, 0);
    }
  }
});

const FOLDERS: readonly (readonly [name: string, what: RegExp])[] = [
  ['gone', /does not exist/],
  ['input.csv', /a part of the path is a file|is a file, not a folder|is not a folder|ENOTDIR\)|already exists/],
];

const FOLDER_COMMANDS: readonly ((folder: string) => readonly string[])[] = [
  (folder) => ['run', path('template.yaml'), path('input.csv'), '--tables', folder],
  (folder) => ['run', path('template.yaml'), path('input.csv'), '--secrets', folder],
  (folder) => ['template', 'diff', path('template.yaml'), path('other.yaml'), path('input.csv'), '--secrets', folder],
  (folder) => ['studio', '--no-open', '--secrets', folder, path('template.yaml'), path('input.csv')],
  (folder) => ['accounts', 'list', '--catalog', folder],
  (folder) => ['accounts', 'add', 'acme', '--plan', 'starter', '--catalog', folder],
  (folder) => ['keys', 'list', 'acme', '--catalog', folder],
  (folder) => ['catalog', 'check', folder],
];

t.test('a folder that cannot be read', async (t) => {
  for (const [name, what] of FOLDERS) {
    for (const command of FOLDER_COMMANDS) {
      const args = command(path(name));
      const { stdout, stderr } = await cli(...args);
      const said = stdout + stderr;
      t.match(said, what, args.join(' '));
      t.equal(said.trimEnd().split('\n').length, 1, `${args.join(' ')}: one line, not ${said}`);
      t.notMatch(said, /scandir|lstat|open '/, 'no names of system calls');
    }
  }
  const file = path('input.csv');
  t.match(await cli('init', file), { status: 1, stderr: /input\.csv already exists\./ });
  const served = await cli('serve', '--catalog', path('folder.yaml'), '--data', file, '--port', '0');
  t.match(served.stderr, /^template-run serve: .*(a part of the path is a file|refused)/);
});

t.test('a device and an unreadable Template of the studio', async (t) => {
  t.match(await cli('run', path('template.yaml'), '/dev/zero'), { status: 1, stderr: /\/dev\/zero is a device/ });
  for (const name of ['folder.yaml', 'broken.yaml']) {
    const { status, stderr } = await cli('studio', '--no-open', path(name), path('input.csv'));
    t.equal(status, 1);
    t.equal(stderr.trimEnd().split('\n').length, 1, stderr);
  }
});

function fed(input: string, ...args: readonly string[]): ReturnType<typeof spawnSync> {
  return spawnSync(process.execPath, [COMMAND, ...args], { input, encoding: 'utf8' });
}

t.test('messages name the command and the file', async (t) => {
  t.match(await cli('head', path('gone.csv')), {
    status: 1,
    stderr: /^template-run head: \S+gone\.csv does not exist\.\n$/,
  });
  t.match(await cli('run', path('template.yaml'), ''), { status: 1, stderr: /run: The name of a file is empty\.\n$/ });
  writeFileSync(path('empty.csv'), '');
  const quiet = ['run', '-q', path('template.yaml'), path('empty.csv')];
  t.match(await cli(...quiet), { status: 1, stderr: /^MALFORMED_FILE: The file is empty\.\n$/ });
  const several = await cli(...quiet, path('input.csv'), '-o', `${path('quiet')}/`);
  t.match(several, { status: 1, stderr: /^MALFORMED_FILE: .*\n\S+empty\.csv: failed after 0 rows\n$/ });
});

t.test('a Template that cannot be read is a problem of a file, not of usage', async (t) => {
  for (const args of [
    ['run', path('gone.yaml'), path('input.csv')],
    ['template', 'check', path('gone.yaml')],
    ['template', 'check', path('template.yaml'), '--sample', path('gone.csv')],
  ]) {
    t.equal((await cli(...args)).status, 1, args.join(' '));
  }
  t.match(await cli('openapi', 'x'), { status: 2, stderr: /takes no arguments/ });
  t.match(await cli('catalog', 'chekc'), {
    status: 2,
    stderr: /"chekc" is not an action\. Write check\. Did you mean/,
  });
  t.equal((await cli('serve')).stderr.trimEnd().split('\n').length, 2);
});

t.test('a file of the system whose size is 0', { skip: !existsSync('/proc/self/status') }, async (t) => {
  t.match(await cli('head', '--delimiter', ':', '--header-row', '0', '/proc/self/status'), {
    status: 0,
    stdout: /^Name/,
  });
});

t.test('pipes are Templates of every command', async (t) => {
  for (const args of [
    'template check X',
    'template explain X',
    'template test X',
    `template diff X ${path('other.yaml')}`,
  ]) {
    const line = `${process.execPath} ${COMMAND} ${args.replace('X', '/dev/stdin')}`;
    t.equal(spawnSync('sh', ['-c', `cat ${path('template.yaml')} | ${line}`]).status, 0, args);
  }
});

t.test('"-" is standard input', { skip: skipUnlessLong }, async (t) => {
  t.equal(fed(INPUT, 'run', path('template.yaml'), '-').stdout, INPUT, 'the input of run');
  t.equal(fed(TEMPLATE, 'run', '-', path('input.csv')).stdout, INPUT, 'the Template of run');
  t.match(fed(INPUT, 'template', 'draft', '-').stdout, /name: stdin/);
  t.equal(fed(TEMPLATE, 'template', 'check', '-').status, 0);
  t.match(fed(INPUT, 'inspect', '-').stdout, /"count":2/);
  const template = path('template.yaml');
  t.match(fed(INPUT, 'template', 'check', '--sample', '-', template), { status: 0, stdout: /valid/ });
  const reading = path('reading.yaml');
  writeFileSync(reading, 'operations: [{drop: {columns: absent}}]\n');
  t.match(fed(INPUT, 'template', 'check', '--sample', '-', reading, template), { status: 1, stdout: /NOT_IN_SAMPLE/ });
  t.match(fed(INPUT, 'template', 'diff', template, template, '-'), { status: 0, stdout: /0 of 1 input changed/ });
});

t.test('"-" is the target of a draft, whatever form it has', { skip: skipUnlessLong }, async (t) => {
  const like = (target: string): string =>
    String(fed(target, 'template', 'draft', path('input.csv'), '--like', '-').stdout);
  for (const target of [
    'Wanted,b\n1,2\n',
    'input: {columns: [{name: Wanted}]}\noperations: []\n',
    '{"properties": {"Wanted": {"type": "string"}}}',
    '[{"Wanted": 1}]',
  ]) {
    t.match(like(target), /Wanted/, target);
  }
});

t.test('standard input is read once', { skip: skipUnlessLong }, async (t) => {
  for (const args of [
    ['run', '-', '-'],
    ['inspect', '-', '-'],
    ['inspect', '--template', '-', '-'],
    ['template', 'check', '--sample', '-', '-'],
    ['template', 'diff', '-', '-'],
    ['template', 'draft', '-', '--like', '-'],
    ['template', 'test', '-', '-'],
    ['send', 'id', '-', '-', '-o', 'folder/', '--url', 'http://127.0.0.1:1'],
  ]) {
    t.match(fed(INPUT, ...args), { status: 2, stderr: /Standard input can be read once/ }, args.join(' '));
  }
});

t.test('run -o through a link to a file that does not exist yet', async (t) => {
  symlinkSync('made.csv', path('link.csv'));
  t.equal((await cli('run', path('template.yaml'), path('input.csv'), '-o', path('link.csv'))).status, 0);
  t.ok(lstatSync(path('link.csv')).isSymbolicLink(), 'the link stays');
  t.equal(readFileSync(path('made.csv'), 'utf8'), INPUT);
  symlinkSync('absent/made.csv', path('astray.csv'));
  const { status, stderr } = await cli('run', path('template.yaml'), path('input.csv'), '-o', path('astray.csv'));
  t.equal(status, 2);
  t.match(stderr, /The folder .*absent for made\.csv does not exist/);
});
