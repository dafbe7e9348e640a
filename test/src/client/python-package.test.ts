// The client for Python as a package: a wheel is built and installed into a virtual environment, where its command and its types
// are used.
// With all tests only: a second client, in Python.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { ScriptedService } from './scripted-service.ts';

const SOURCE = 'examples/clients/python';
const MODULE = join(SOURCE, 'template_run.py');

/** pip starts several times, and may have to download the build backend. */
t.setTimeout(1_200_000);

const folder = mkdtempSync(join(tmpdir(), 'template-run-python-package-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const options = { encoding: 'utf8', env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } } as const;

function succeeds(command: string, ...words: readonly string[]): boolean {
  return spawnSync(command, words, options).status === 0;
}

interface Builder {
  readonly python: string;
  readonly flags: readonly string[];
}

/** A Python that has hatchling or can download it. Debian's Python may have it where the first one in PATH does not. */
function findBuilder(): Builder | string {
  for (const python of ['python3', '/usr/bin/python3']) {
    if (succeeds(python, '-c', 'import ensurepip, hatchling, pip, venv'))
      return { python, flags: ['--no-build-isolation'] };
  }
  if (!succeeds('python3', '-c', 'import ensurepip, pip, venv')) return 'no Python with pip and venv is installed';
  const download = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', join(folder, 'backend'), 'hatchling'];
  if (!succeeds('python3', ...download)) return 'hatchling is not installed, and pip cannot download it';
  return { python: 'python3', flags: [] };
}

t.test('it has the version of the service', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  t.equal(/^version = "(.+)"$/m.exec(readFileSync(join(SOURCE, 'pyproject.toml'), 'utf8'))?.[1], version);
});

t.test(
  'every type hint holds',
  { skip: succeeds('mypy', '--version') ? false : 'mypy is not installed' },
  async (t) => {
    const { status, stdout } = spawnSync('mypy', ['--cache-dir', join(folder, 'mypy'), '--strict', MODULE], options);
    t.equal(status, 0, stdout);
  },
);

const builder = findBuilder();
const skip = typeof builder === 'string' ? builder : false;

t.test('the wheel installs, its command runs, and its types are found', { skip }, async (t) => {
  const { python, flags } = builder as Builder;
  const wheels = join(folder, 'wheels');
  mkdirSync(wheels);
  const build = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', ...flags, '--wheel-dir', wheels, SOURCE];
  execFileSync(python, build, options);
  const [wheel, ...others] = readdirSync(wheels);
  t.match(wheel, /^template_run_client-\d+\.\d+\.\d+-py3-none-any\.whl$/);
  t.strictSame(others, []);

  const environment = join(folder, 'environment');
  execFileSync(python, ['-m', 'venv', environment], options);
  const own = (name: string): string => join(environment, 'bin', name);
  execFileSync(own('python'), ['-m', 'pip', 'install', '--quiet', '--no-index', join(wheels, wheel!)], options);

  const usage = { used: 3, limit: null, resets_at: '2026-12-01T00:00:00Z', runs_in_flight: 0, ceilings: {} };
  const service = await ScriptedService.open(t, [{ status: 200, body: JSON.stringify(usage) }]);
  const env = { ...options.env, TEMPLATE_RUN_URL: service.url, TEMPLATE_RUN_API_KEY: 'trs_key' };
  const child = spawn(own('template-run-client'), ['usage'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.strictSame(JSON.parse(await text(child.stdout)), usage);

  const find = 'import os, template_run; print(os.path.dirname(template_run.__file__))';
  const installed = execFileSync(own('python'), ['-c', find], { ...options, cwd: folder }).trim();
  t.strictSame(
    readFileSync(join(installed, '__init__.py')),
    readFileSync(MODULE),
    'the package is the file that can be copied',
  );
  t.ok(readdirSync(installed).includes('py.typed'));
  if (!succeeds('mypy', '--version')) return;
  writeFileSync(join(folder, 'program.py'), PROGRAM);
  const check = ['--cache-dir', join(folder, 'mypy'), '--python-executable', own('python'), 'program.py'];
  const { status, stdout } = spawnSync('mypy', check, { ...options, cwd: folder });
  t.equal(status, 1);
  t.match(stdout, /^program\.py:4: error: .*"str"/m, 'a use of a wrong type is found');
  t.match(stdout, /^Found 1 error in 1 file/m, 'and only that one');
});

const PROGRAM = `from template_run import TemplateRunClient
run, path = TemplateRunClient("http://127.0.0.1", "key").transform("orders", "orders.csv", "clean.csv")
rows: "int | None" = run.get("rows_written")
rows = path
`;
