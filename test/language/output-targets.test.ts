// Targets of `run`: places where an output cannot be created, and permissions of outputs.
// With all tests only: a process of the command line for each case.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import t from 'tap';
import { cli as inProcess } from '../src/commands/command-line.ts';
import { skipUnlessLong } from '../sweep.ts';

const CLI = new URL('../../src/cli.js', import.meta.url).pathname;

/** A user who owns no files on any system. Root can write to read-only files. */
const NOBODY = 65_534;

/** Processes that start on a busy machine take seconds each. */
t.setTimeout(1_200_000);

const folder = t.testdir({
  'pass.yaml': 'format: 1\noperations: []\n',
  'small.csv': 'a,b\n1,2\n',
  'more.csv': 'a,b\n3,4\n',
  // More than the maximum size of an output in memory.
  'large.csv': `a,b\n${'1,2\n'.repeat(50_000)}`,
});
const at = (name: string) => join(folder, name);
const [template, small, more] = [at('pass.yaml'), at('small.csv'), at('more.csv')];

function cli(args: readonly string[], uid = process.getuid!()) {
  // Without the test runner's own modules, which write to places where another user may not. A process that spins reacts only to
  // SIGKILL.
  const program = ['-u', 'NODE_OPTIONS', process.execPath, CLI];
  return spawnSync('env', [...program, ...args], { uid, encoding: 'utf8', timeout: 600_000, killSignal: 'SIGKILL' });
}

t.test('outputs that cannot be made', async (t) => {
  // Node's own recursive mkdir does not end in this folder.
  const several = cli(['run', template, small, more, '-o', '/proc/x/y']);
  t.match(several, { status: 1, stderr: /^(template-run run: \/proc\/x cannot be created\.\n){2}$/ });
  t.match(cli(['init', '/proc/x/y']), { status: 1, stderr: /^\/proc\/x cannot be created\.\n$/ });
  t.match(cli(['run', template, small, '-o', '']), { status: 2, stderr: /-o takes the path of a file or folder/ });
  t.match(cli(['run', template, small, '-o', at('n'.repeat(256))]), {
    status: 1,
    stderr: /n+ does not exist: the name is too long\./,
  });
  t.match(cli(['run', template, small, '-o', at('n'.repeat(255))]), { status: 0 }, 'as long as a name can be');
  t.match(cli(['run', template, small, '-o', at('nowhere/out.csv')]), {
    status: 2,
    stderr: /The folder \S+nowhere for out\.csv does not exist\. Create it first\./,
  });
  const left = readdirSync(folder).filter((name) => name.endsWith('.part'));
  t.strictSame(left, [], 'nothing is left');
});

t.test('nothing that is read is written over, whatever it is called', async (t) => {
  const work = t.testdir({
    'in.csv': 'a,b\n1,2\n',
    'other.csv': 'a,b\n3,4\n',
    'pass.yaml': 'format: 1\noperations: []\n',
    'json.yaml': 'format: 1\noperations: []\noutput: {format: ndjson}\n',
    tables: { 'codes.csv': 'k,v\n1,x\n' },
    secrets: { demo: 'pepper' },
    linked: {},
  });
  const file = (...names: string[]): string => join(work, ...names);
  symlinkSync('in.csv', file('soft.csv'));
  linkSync(file('in.csv'), file('hard.csv'));
  symlinkSync(file(), file('folder'));
  symlinkSync(file('in.csv'), file('linked', 'in.csv'));
  mkdirSync(file('empty'));
  const read = ['in.csv', 'other.csv', 'pass.yaml', 'tables/codes.csv', 'secrets/demo'];
  const contents = (): string[] => read.map((name) => readFileSync(file(name), 'utf8'));
  const [before, names] = [contents(), readdirSync(work)];
  const input = file('in.csv');
  const run = ['run', file('pass.yaml')];
  const refused: Record<string, readonly string[]> = {
    'the input': [...run, input, '-o', input],
    'a symbolic link': [...run, input, '-o', file('soft.csv')],
    'a hard link': [...run, input, '-o', file('hard.csv')],
    'an input that is a link': [...run, file('soft.csv'), '-o', input],
    'another spelling': [...run, input, '-o', `${work}/tables/.././/in.csv`],
    'a relative path': [...run, input, '-o', relative(process.cwd(), input)],
    'a linked folder': [...run, input, '-o', file('folder', 'in.csv')],
    'the folder of the input': [...run, input, '-o', work],
    'a folder with a link to the input': [...run, input, '-o', file('linked')],
    'one of several inputs': [...run, file('other.csv'), input, '-o', `${work}/`],
    'another input than its own': [...run, file('in.csv'), file('tables', 'codes.csv'), '-o', file('tables')],
    'the Template': [...run, input, '-o', file('pass.yaml')],
    'a reference table': [...run, input, '--tables', file('tables'), '-o', file('tables', 'codes.csv')],
    'a secret': [...run, input, '--secrets', file('secrets'), '-o', file('secrets', 'demo')],
  };
  for (const [name, args] of Object.entries(refused)) {
    const ended = await inProcess(...args);
    t.equal(ended.status, 2, name);
    t.match(ended.stderr, /^template-run run: .* is not overwritten\. Write another path with -o\.\n/, name);
    t.strictSame(contents(), before, `${name}: nothing is written`);
    t.strictSame(readdirSync(work), names, `${name}: nothing is made`);
  }
  const [descriptor, appending] = [openSync(input, 'r'), openSync(input, 'a')];
  const redirected = (args: readonly string[], stdio: [number, number | 'pipe', 'pipe']) =>
    spawnSync(process.execPath, [CLI, ...run, ...args], { stdio, encoding: 'utf8', timeout: 600_000 });
  for (const path of ['-', '/dev/stdin']) {
    t.match(redirected([path, '-o', input], [descriptor, 'pipe', 'pipe']), { status: 2 }, `${path} redirected`);
  }
  t.match(redirected([input], [descriptor, appending, 'pipe']), { status: 2 }, 'standard output redirected');
  t.match(redirected([input, '-o', '/dev/stdout'], [descriptor, appending, 'pipe']), { status: 2 });
  closeSync(descriptor);
  closeSync(appending);
  t.strictSame(contents(), before, 'nothing is written through a redirected stream');

  t.match(cli([...run, input, '-o', file('empty')]), { status: 0 }, 'the same name in another folder');
  t.match(cli(['run', file('json.yaml'), input, '-o', work]), { status: 0 }, 'another ending beside the input');
  t.equal(readFileSync(file('in.ndjson'), 'utf8'), '{"a":"1","b":"2"}\n');
  t.match(cli([...run, '/dev/null', '-o', '/dev/null']), { status: 1, stderr: /null is a device, not a file\.\n$/ });
  t.strictSame(contents(), before);
});

t.test('permissions of outputs', { skip: skipUnlessLong }, async (t) => {
  const modeOf = (name: string) => (statSync(at(name)).mode & 0o777).toString(8);
  const made = (0o666 & ~process.umask()).toString(8);
  for (const size of ['small', 'large']) {
    const output = `${size}-made.csv`;
    const args = ['run', template, at(`${size}.csv`), '-o', at(output)];
    t.match(cli(args), { status: 0 });
    t.equal(modeOf(output), made, `${size}: as other programs make files`);
    chmodSync(at(output), 0o640);
    t.match(cli(args), { status: 0 });
    t.equal(modeOf(output), '640', `${size}: a file that is replaced keeps its own`);
  }
});

t.test('a file that is read-only is not replaced', async (t) => {
  const isRoot = process.getuid!() === 0;
  const user = isRoot ? NOBODY : process.getuid!();
  if (isRoot && cli(['--help'], user).status !== 0)
    return t.plan(0, 'nobody but root can run the program where it lies');
  const theirs = t.testdir({ 'out.csv': 'old' });
  const output = join(theirs, 'out.csv');
  chmodSync(theirs, 0o777);
  chmodSync(output, 0o444);
  const refused = cli(['run', template, small, '-o', output], user);
  t.match(refused, { status: 1, stderr: /^template-run run: [^\n]*out\.csv cannot be used: permission denied\.\n$/ });
  t.equal(readFileSync(output, 'utf8'), 'old');
});

t.test('messages about an output name the output', async (t) => {
  t.match(cli(['run', template, small, '-o', '/dev/full']), {
    status: 1,
    stderr: 'template-run run: /dev/full cannot be written: the disk is full.\n',
  });
  const isRoot = process.getuid!() === 0;
  const user = isRoot ? NOBODY : process.getuid!();
  if (isRoot && cli(['--help'], user).status !== 0) return;
  const closed = t.testdir({});
  chmodSync(closed, 0o555);
  const output = join(closed, 'new.csv');
  const refused = cli(['run', template, small, '-o', output], user);
  t.match(refused, { status: 1, stderr: `template-run run: ${output} cannot be used: permission denied.\n` });
});
