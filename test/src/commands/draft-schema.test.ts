// Editors complete Templates: the schema that a draft names exists in an installation and in a checkout, and VS Code's settings
// give the schema to the Templates of this repository.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import t from 'tap';

const COMMAND = resolve('dist/src/cli.js');
const SCHEMA = resolve('dist/schema.json');
const SAMPLE = resolve('examples/files/orders-export.csv');

t.setTimeout(1_200_000);
const outside = mkdtempSync(join(tmpdir(), 'template-run-schema-'));
t.teardown(() => rmSync(outside, { recursive: true, force: true }));

/** The schema that a draft made in this folder names, as an absolute path. */
function schemaOf(folder: string): string | null {
  const { stdout, stderr } = spawnSync(process.execPath, [COMMAND, 'template', 'draft', SAMPLE], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (!stdout.includes('format: 1')) throw new Error(stderr);
  const path = /^# yaml-language-server: \$schema=(\.\S+)$/m.exec(stdout)?.[1];
  return path === undefined ? null : resolve(folder, path);
}

t.test('outside of both, a draft names no schema', async (t) => {
  t.equal(schemaOf(outside), null);
});

t.test('beside an installed package, a draft names its schema', async (t) => {
  const installed = join(outside, 'node_modules', 'template-run', 'dist');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'schema.json'), '{}');
  t.equal(schemaOf(outside), join(installed, 'schema.json'));
});

t.test(
  'in a checkout, a draft names the schema that the build makes',
  { skip: !existsSync(SCHEMA) && 'the schema is not built' },
  async (t) => {
    for (const folder of ['.', 'examples/recipes/wise']) t.equal(schemaOf(resolve(folder)), SCHEMA, folder);
  },
);

t.test("VS Code's settings give the schema to all Templates of the repository, and to nothing else", async (t) => {
  const settings = JSON.parse(readFileSync('.vscode/settings.json', 'utf8')) as {
    readonly 'yaml.schemas': Readonly<Record<string, readonly string[]>>;
  };
  const [[path, patterns], ...others] = Object.entries(settings['yaml.schemas']) as [[string, readonly string[]]];
  t.strictSame(others, []);
  t.equal(resolve(path), SCHEMA);
  // `**/` is any number of folders, and `*` a part of a name.
  const expressions = patterns.map(
    (pattern) =>
      new RegExp(
        `^${pattern.replace(/\./g, '\\.').replace(/\*\*\/|\*/g, (found) => (found === '*' ? '[^/]*' : '(?:.*/)?'))}$`,
      ),
  );
  const matches = (file: string): boolean => expressions.some((expression) => expression.test(file));
  const files = ['examples', 'deploy'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name).split(sep).join('/')),
  );
  const yaml = files.filter((file) => file.endsWith('.yaml'));
  t.ok(yaml.length > 30, `${yaml.length} files`);
  for (const file of yaml) {
    const isTemplate = /^format: 1$/m.test(readFileSync(file, 'utf8'));
    t.equal(matches(file), isTemplate, `${dirname(file)}: ${file}`);
  }
});
