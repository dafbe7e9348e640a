// The GitHub Action: its script runs the commands, and problems become annotations at their files and lines.
// With all tests only: the files of examples and packages.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: {
    readonly steps: readonly { readonly run?: string; readonly env?: Readonly<Record<string, string>> }[];
  };
}

const action = parse(readFileSync('action.yml', 'utf8')) as Action;
const step = action.runs.steps.find(({ run }) => run !== undefined)!;

t.setTimeout(1_200_000);
const folder = mkdtempSync(join(tmpdir(), 'template-run-action-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

// A replacement for npx: it records the package, and runs the built command.
const programs = join(folder, 'programs');
mkdirSync(programs);
const npx = join(programs, 'npx');
const command = resolve('dist/src/cli.js');
writeFileSync(
  npx,
  `#!/bin/sh\necho "$1 $2 $3 $4" >> "${folder}/npx.log"\nshift 4\nexec "${process.execPath}" "${command}" "$@"\n`,
);
chmodSync(npx, 0o755);

const SOUND = 'format: 1\nname: Sound\noperations: []\noutput: { format: csv }\n';
const FAILING = `${SOUND}tests:\n  - name: "a, b: 100%"\n    input: { text: "id\\n1\\n" }\n    expect: { text: "id\\n2\\n" }\n`;
const WRONG = 'format: 1\nname: Wrong\noperations:\n  - { op: selekt }\noutput: { format: csv }\n';

function run(inputs: Readonly<Record<string, string>>) {
  const given = Object.fromEntries(
    Object.entries(step.env!).map(([name, value]) => {
      const input = /^\$\{\{ inputs\.(\S+) \}\}$/.exec(value)![1]!;
      return [name, inputs[input] ?? action.inputs[input]!.default];
    }),
  );
  const env = { ...process.env, ...given, PATH: `${programs}${delimiter}${process.env['PATH']}` };
  // The arguments with which GitHub runs a step that has `shell: bash`.
  const words = ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', step.run!];
  return spawnSync('bash', words, { cwd: folder, env, encoding: 'utf8' });
}

t.test('the package is this version', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  t.equal(action.inputs['package']!.default, `template-run@${version}`);
});

t.test('sound Templates: no error', async (t) => {
  mkdirSync(join(folder, 'sound', 'deep'), { recursive: true });
  writeFileSync(join(folder, 'sound', 'deep', 'one.yaml'), SOUND);
  const { status, stdout, stderr } = run({ templates: 'sound/**/*.yaml' });
  t.equal(status, 0, stdout + stderr);
  t.notMatch(stdout, '::error');
  t.match(
    readFileSync(join(folder, 'npx.log'), 'utf8'),
    `--yes --package ${action.inputs['package']!.default} template-run`,
  );
});

t.test('problems and failed tests are annotations, and all files are checked', async (t) => {
  writeFileSync(join(folder, 'wrong.yaml'), WRONG);
  writeFileSync(join(folder, 'failing.yaml'), FAILING);
  const { status, stdout } = run({ templates: 'wrong.yaml\nfailing.yaml' });
  t.equal(status, 1);
  t.match(stdout, /^::error file=wrong\.yaml,line=4,col=\d+,title=[A-Z_]+::.*selekt/m);
  t.match(stdout, /^::error file=failing\.yaml,line=6,col=\d+,title=a%2C b%3A 100%25::.+/m);
});

t.test('a catalog: its problems are annotations with the path from the root', async (t) => {
  mkdirSync(join(folder, 'catalog', 'accounts'), { recursive: true });
  writeFileSync(join(folder, 'catalog', 'plans.json'), '{');
  const { status, stdout } = run({ catalog: 'catalog' });
  t.equal(status, 1);
  t.match(stdout, /^::error file=catalog\/plans\.json,.*title=.+::.+/m);
});

t.test('nothing to check, and no such file, are errors', async (t) => {
  for (const inputs of [{ templates: '' }, { templates: 'none/*.yaml' }]) {
    const { status, stdout } = run(inputs);
    t.equal(status, 2);
    t.match(stdout, /^::error title=Template Run checks::/);
  }
});

t.test('an unknown format is refused', async (t) => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [command, 'template', 'check', '--format', 'gitlab', 'x.yaml'],
    {
      encoding: 'utf8',
    },
  );
  t.equal(status, 2);
  t.match(stderr, '--format is text or github.');
});
