// Bundles and V8's code cache: the program is the same with and without the cache, and the cache of another text is never used.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { Bundles } from '../../workers/bundles.ts';

const TWICE = `const { twice } = require('./twice.cjs');
exports.value = (number) => twice(number) + 1;
exports.platform = () => require('node:os').platform();
exports.folder = () => importLibrary('node:path').then((path) => path.dirname(__filename));`;

function write(folder: string, name: string, text: string): void {
  writeFileSync(
    `${folder}/${name}.cjs`,
    `(function (exports, require, module, __filename, importLibrary) {${text}\n})`,
  );
}

interface Program {
  value(number: number): number;
  platform(): string;
  folder(): Promise<string>;
}

t.test('a bundle loads with its cached code', async (t) => {
  const folder = t.testdir();
  const url = pathToFileURL(`${folder}/`);
  write(folder, 'program', TWICE);
  write(folder, 'twice', 'exports.twice = (number) => 2 * number;');
  const first = new Bundles(url);
  const program = first.load('program') as Program;
  t.equal(program.value(4), 9);
  t.equal(program.platform(), process.platform);
  t.equal(await program.folder(), folder);
  t.equal(first.load('program'), program, 'once');
  t.equal(first.isCompiled('program'), false);
  first.keepCompiled();
  t.equal(readdirSync(folder).length, 4);

  const second = new Bundles(url);
  t.equal((second.load('program') as Program).value(5), 11);
  t.equal(second.isCompiled('program'), true);
  t.equal(second.isCompiled('twice'), true);

  write(folder, 'twice', 'exports.twice = (number) => number + number;');
  const other = new Bundles(url);
  t.equal((other.load('program') as Program).value(6), 13);
  t.equal(other.isCompiled('program'), true);
  t.equal(other.isCompiled('twice'), false, 'of another text');
});

t.test('a file that is not a bundle is reported', async (t) => {
  t.throws(() => new Bundles(pathToFileURL(`${t.testdir()}/`)).load('nothing'), { code: 'ENOENT' });
});

/** Names of the libraries that a built module and the modules that it imports load at once. */
function librariesOf(module: URL, seen = new Set<string>()): Set<string> {
  const libraries = new Set<string>();
  if (seen.has(module.href)) return libraries;
  seen.add(module.href);
  for (const [, name] of readFileSync(module, 'utf8').matchAll(/^(?:import|export)\b[^;(]*?from '([^']+)';/gm)) {
    if (!name!.startsWith('.')) libraries.add(name!);
    else for (const library of librariesOf(new URL(name!, module), seen)) libraries.add(library);
  }
  return libraries;
}

t.test('libraries for some Runs only are not loaded when a thread or a command starts', async (t) => {
  for (const entry of ['workers/thread/serve-runs.js', 'src/commands/run.js', 'src/library/run-template.js']) {
    const libraries = [...librariesOf(new URL(`../../${entry}`, import.meta.url))];
    t.ok(libraries.includes('node:fs'), `${entry}: ${libraries.length} libraries`);
    t.strictSame(
      libraries.filter((name) => name.startsWith('exceljs')),
      [],
      entry,
    );
  }
});
