// The recipes: each has a Template with a test on its whole file, and a page about the difficulties of the file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cli } from '../src/commands/command-line.ts';

const FOLDER = 'examples/recipes';

const names = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

t.test('the Templates are valid, and give the expected outputs', async (t) => {
  t.ok(names.length >= 20, `${names.length} recipes`);
  const templates = names.map((name) => join(FOLDER, name, 'template.yaml'));
  const checked = await cli('template', 'check', ...templates);
  t.equal(checked.status, 0, checked.stderr + checked.stdout);
  const tested = await cli('template', 'test', ...templates);
  t.equal(tested.status, 0, tested.stderr + tested.stdout);
  for (const name of names) {
    const text = readFileSync(join(FOLDER, name, 'template.yaml'), 'utf8');
    t.match(text, /expect: \{file: expected\.csv, match: bytes\}/, `${name} is tested on its whole file, byte by byte`);
    t.ok(readFileSync(join(FOLDER, name, 'expected.csv'), 'utf8').split('\n').length > 2, `${name} has rows`);
  }
});

t.test('each has a page that names its files, its difficulties and the source, and is listed', async (t) => {
  const list = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  for (const name of names) {
    t.ok(list.includes(`](${name}/README.md)`), `${name} is listed`);
    const page = readFileSync(join(FOLDER, name, 'README.md'), 'utf8');
    t.match(page, /^## What is hard about it\n\n- [\s\S]*^## Source\n\n\S/m, name);
    const links = [...page.matchAll(/\]\(([^):]+)\)/g)].map(([, target]) => target!);
    t.ok(links.length >= 3, `${name} names its files`);
    for (const target of links) t.ok(existsSync(join(FOLDER, name, target)), `${name} names ${target}`);
  }
});
