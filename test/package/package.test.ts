// The package as users install it: its files, its entry points, and that it works in an empty folder.
// With all tests only: the files of examples and packages.
import { type ExecFileSyncOptions, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { skipUnlessLong } from '../sweep.ts';

/** Two thirds are the binaries of classic-level for all platforms (see package.json, bundleDependencies). */
const PACKED_BYTES_MAX = 6 * 1024 * 1024;
const REGISTRY_MILLISECONDS_MAX = 20_000;
/** Installing goes over the network, and one dependency may be compiled. */
const FILE_MILLISECONDS = 1_800_000;

t.setTimeout(FILE_MILLISECONDS);

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly shasum: string;
  readonly files: readonly { readonly path: string }[];
}

const folder = mkdtempSync(join(tmpdir(), 'template-run-package-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const quiet: ExecFileSyncOptions & { readonly encoding: 'utf8' } = {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'pipe'],
};

/** Of the package that was built first, null before. */
let firstShasum: string | null = null;

function pack(...flags: readonly string[]): Packed {
  const told = execFileSync('npm', ['pack', '--json', '--ignore-scripts', ...flags], quiet);
  return (JSON.parse(told) as Packed[])[0]!;
}

t.test('installing it runs none of its scripts', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object };
  // npm runs `prepare` for packages that are installed from a folder, a tarball or a repository.
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) t.notHas(scripts, { [name]: String }, name);
});

t.test('it holds what runs, and neither sources nor tests nor what V8 compiled', async (t) => {
  const { size, files } = pack('--dry-run');
  const paths = files.map(({ path }) => path);
  t.ok(size < PACKED_BYTES_MAX, `${size} bytes`);
  for (const path of [
    'dist/src/cli.js',
    'dist/bundled/thread.cjs',
    'dist/workers/kernel/kernel.wasm',
    'dist/workers/thread.cjs',
    'dist/workers/checks.cjs',
    'dist/workers/watch.cjs',
    'dist/workers/read-ahead.cjs',
    'dist/LICENCES.md',
    'dist/console/page.js',
    'dist/studio/page.js',
  ])
    t.ok(paths.includes(path), path);
  for (const path of paths) {
    if (path.startsWith('node_modules/')) continue;
    if (/\.compiled$|^(?:src|workers|test|bench)\/|^dist\/(?:test|bench)|\.test\.[jt]s|\.map$/.test(path)) t.fail(path);
  }
});

t.test('the licences of all that is bundled are in it', async (t) => {
  const listed = readFileSync('dist/LICENCES.md', 'utf8');
  for (const library of ['ajv', 'csv-parse', 'exceljs', 'fzstd', 'ioredis', 're2js', 'typebox', 'yaml'])
    t.match(listed, new RegExp(`^## ${library} \\d\\S*: \\S+`, 'm'), library);
  for (const [, name, licence] of listed.matchAll(/^## (\S+) \S+: (.+)$/gm))
    t.match(licence, /MIT|ISC|BSD|Apache-2\.0|0BSD|BlueOak|CC0|Unlicense|Zlib/, `${name} may be carried: ${licence}`);
});

t.test('no bundle asks for a library that is not installed with it', async (t) => {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly dependencies: object;
    readonly optionalDependencies: object;
  };
  const installed = new Set(Object.keys({ ...dependencies, ...optionalDependencies }));
  const found = new Set<string>();
  const { files } = pack('--dry-run');
  const { builtinModules } = await import('node:module');
  for (const { path } of files.filter(({ path }) => /^dist\/.*\.c?js$/.test(path))) {
    const asked = readFileSync(path, 'utf8').matchAll(/(?:^|[\s=(;,])(?:require|importLibrary)\("([^".][^"]*)"\)/g);
    for (const [, id] of asked) {
      found.add(id!);
      const isThere = id!.startsWith('node:') || builtinModules.includes(id!) || installed.has(id!.split('/')[0]!);
      // In the text of a program that Ajv would write into a file.
      if (!isThere && id !== 'ajv/dist/runtime/validation_error') t.fail(`${path} asks for ${id}`);
    }
  }
  for (const library of ['uWebSockets.js', 'piscina', 'classic-level']) t.ok(found.has(library), library);
});

t.test('publint and attw find its entries and their types sound', { skip: skipUnlessLong }, async (t) => {
  execFileSync('npm', ['run', '-s', 'build:package'], quiet);
  const publint = spawnSync('npx', ['publint', 'run', '--strict', '--pack', 'false'], quiet);
  t.equal(publint.status, 0, `${publint.stdout}${publint.stderr}`);
  const { filename, shasum } = pack('--pack-destination', folder);
  firstShasum = shasum;
  // Node 16 and bundlers read the entries; what reads none of them is of no Node that this runs on.
  const attw = spawnSync(
    'npx',
    ['attw', '--profile', 'esm-only', join(folder, filename), '--exclude-entrypoints', 'schema.json'],
    quiet,
  );
  t.equal(attw.status, 0, `${attw.stdout}${attw.stderr}`);
});

const skip = skipUnlessLong || registry();

t.test('it installs into an empty folder, and init, serve, send, client and library work', { skip }, async (t) => {
  execFileSync('npm', ['run', '-s', 'build:package'], quiet);
  const { filename, shasum } = pack('--pack-destination', folder);
  t.ok(firstShasum === null || shasum === firstShasum, 'built again it has the same bytes');
  const inFolder = { ...quiet, cwd: folder };
  const npx = ['--yes', '--package', join(folder, filename), 'template-run', '--version'];
  t.match(execFileSync('npx', npx, inFolder), /^\d+\.\d+\.\d+\n$/, 'npx runs it from the tarball');
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const installed = spawnSync('npm', ['install', '--no-audit', '--no-fund', `./${filename}`], inFolder);
  t.equal(installed.status, 0, installed.stderr);
  t.notMatch(installed.stderr, /warn/i, 'installing it prints no warning');
  const command = join(folder, 'node_modules', '.bin', 'template-run');
  t.match(execFileSync(command, ['--version'], inFolder), /^\d+\.\d+\.\d+\n$/);
  const key = execFileSync(command, ['init', 'catalog'], inFolder).trim();
  const serve = ['serve', '--catalog', 'catalog', '--data', 'data', '--port', '0', '--console', 'yes'];
  const [, port] = await untilSaid(t, command, serve, /"event":"listening".*"port":(\d+)/);
  const orders = resolve('examples/files/orders-export.csv');
  const env = { ...process.env, TEMPLATE_RUN_URL: `http://127.0.0.1:${port}`, TEMPLATE_RUN_API_KEY: key };
  execFileSync(command, ['send', 'shop-orders', orders, '-o', 'sent/'], { ...inFolder, env });
  const sent = readFileSync(join(folder, 'sent', 'orders-export.csv'), 'utf8');
  t.ok(sent.length > 0);
  writeFileSync(join(folder, 'use.mjs'), USE);
  execFileSync(process.execPath, ['use.mjs', orders], { ...inFolder, env });
  t.equal(readFileSync(join(folder, 'by-client.csv'), 'utf8'), sent, 'the client');
  t.equal(readFileSync(join(folder, 'by-library.csv'), 'utf8'), sent, 'the library');
  const own = join(folder, 'node_modules', 'template-run');
  const python = [join(own, 'examples/clients/python/template_run.py'), 'send', 'shop-orders', orders];
  if (spawnSync('python3', ['--version']).status === 0) {
    execFileSync('python3', ['-B', ...python, '-o', 'by-python.csv'], { ...inFolder, env });
    t.equal(readFileSync(join(folder, 'by-python.csv'), 'utf8'), sent, 'the client for Python');
  }
  for (const path of ['/docs', '/console', '/console/page.js'])
    t.equal((await fetch(`http://127.0.0.1:${port}${path}`)).status, 200, path);
  const demo = join(own, 'examples/catalog/templates/demo/shop-orders.yaml');
  const [studio] = await untilSaid(t, command, ['studio', demo, orders, '--no-open'], /http:\/\/127\.0\.0\.1:\d+/);
  t.equal((await fetch(`${studio}/page.js`)).status, 200, 'the page of the studio');
  await checkHttpLibrary(t, command);
  execFileSync(command, ['send', 'shop-orders', orders, '-o', 'sent/'], { ...inFolder, env });
});

/**
 * Which HTTP library is used: with the library of this package, one that is installed beside it, and none. npm leaves the
 * library out on Node 20, where the warning names the command that installs it.
 */
async function checkHttpLibrary(t: Test, command: string): Promise<void> {
  const library = join(folder, 'node_modules', 'uWebSockets.js');
  const own = join(folder, 'node_modules', 'template-run', 'node_modules', 'uWebSockets.js');
  const said = async (data: string, pattern: RegExp): Promise<string | undefined> =>
    (await untilSaid(t, command, ['serve', '--catalog', 'catalog', '--data', data, '--port', '0'], pattern))[1];
  const used = (data: string): Promise<string | undefined> => said(data, /"event":"listening".*"http_library":"(\w+)"/);
  const { modules } = process.versions;
  if (modules === '115') {
    t.equal(await used('left-out'), 'node', 'npm leaves the library out on Node 20');
    const reason = (await said('advice', /"event":"slow_http_library".*"reason":"([^"]*)"/))!;
    const [line, wanted] = /`npm install (\S+)`/.exec(reason) ?? [reason, ''];
    t.ok(readFileSync('docs/how-to/run-a-node.md', 'utf8').includes(line), 'the document names the same command');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', wanted], { ...quiet, cwd: folder });
  }
  const loads = modules === '115' || modules === '127';
  t.equal(await used('installed'), loads ? 'uws' : 'node');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'package.json'), '{"name": "uWebSockets.js", "version": "1.0.0", "main": "index.js"}');
  writeFileSync(join(own, 'index.js'), "throw new Error('no binary')");
  if (loads) likeOfficial(library);
  t.equal(await used('beside'), loads ? 'uws' : 'node', 'the library beside this package is used where its own fails');
  checkPruning(t, loads ? [library] : [], [own]);
  t.equal(await used('pruned'), loads ? 'uws' : 'node', 'what is left is enough');
  rmSync(library, { recursive: true, force: true });
  t.equal(await used('without'), 'node', "without the library Node's own server is used");
  const words = ['serve', '--catalog', 'catalog', '--data', 'refused', '--port', '0', '--http-library', 'uws'];
  const refused = spawnSync(command, words, { ...quiet, cwd: folder });
  t.equal(refused.status, 1);
  t.match(refused.stderr, /uWebSockets\.js is not installed: (?:`npm install uWebSockets|run Node 22)/);
}

/** Gives the repack the form of the official package, which is a CommonJS module. */
function likeOfficial(library: string): void {
  writeFileSync(join(library, 'package.json'), '{"name": "uWebSockets.js", "version": "20.57.0", "main": "uws.js"}');
  writeFileSync(join(library, 'uws.js'), "module.exports = { ...require('./dist/index.mjs') };");
}

/** Only binaries that load are kept, and only copies of uWebSockets.js that have one. */
function checkPruning(t: Test, kept: readonly string[], removed: readonly string[]): void {
  const script = join(folder, 'node_modules', 'template-run', 'deploy', 'prune-binaries.mjs');
  t.match(execFileSync(process.execPath, [script], quiet), /^Removed [1-9]\d* binaries \(\d+ MB\)/);
  for (const path of kept) t.ok(existsSync(path), `${path} is kept`);
  for (const path of removed) t.notOk(existsSync(path), `${path} is removed`);
  const files = readdirSync(join(folder, 'node_modules'), { recursive: true, encoding: 'utf8' });
  const binaries = files.filter((path) => /(?:^|\/)(?:classic-level|uWebSockets\.js)\/.*\.node$/.test(path));
  t.equal(binaries.length, kept.length + 1, `one for each library: ${binaries.join(', ')}`);
}

/**
 * Starts the command, which ends with the test, and waits for a line of its standard output. Rejects if a service
 * listens without having written the line, which would not come any more.
 */
function untilSaid(t: Test, command: string, words: readonly string[], pattern: RegExp): Promise<RegExpExecArray> {
  const child = spawn(command, words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  return new Promise((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const found = pattern.exec(line);
      if (found !== null) resolve(found);
      else if (line.includes('"event":"listening"'))
        reject(new Error(`${words[0]} listens, without ${pattern}: ${line}`));
    });
    child.on('exit', (status) => reject(new Error(`${words[0]} ended with ${status}`)));
  });
}

const USE = `
import { readFileSync } from 'node:fs';
import { runTemplate } from 'template-run';
import { TemplateRunClient } from 'template-run/client';
import schema from 'template-run/schema.json' with { type: 'json' };

if (schema.properties.operations === undefined) throw new Error('the schema is none of Templates');
const [, , orders] = process.argv;
const { TEMPLATE_RUN_URL: baseUrl, TEMPLATE_RUN_API_KEY: apiKey } = process.env;
await new TemplateRunClient({ baseUrl, apiKey }).transform('shop-orders', orders, 'by-client.csv');
await runTemplate(readFileSync('catalog/templates/demo/shop-orders.yaml', 'utf8'), orders, 'by-library.csv');
`;

/** Why nothing can be installed, or false. */
function registry(): string | false {
  const ping = spawnSync('npm', ['ping'], { timeout: REGISTRY_MILLISECONDS_MAX });
  return ping.status === 0 ? false : 'the npm registry is not reachable';
}
