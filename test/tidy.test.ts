// Keeps the rules of the house that a machine can keep: import directions, one importer per library, lengths, no leftovers.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { test } from 'tap';

const FILE_LINES_MAX = 300;
const FUNCTION_LINES_MAX = 70;
const ROOTS = ['src', 'workers', 'bench', 'test'];

/** A folder may import from itself and from these. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  workers: [],
  src: ['workers'],
  bench: ['src', 'workers'],
  test: ['src', 'workers', 'bench'],
};

/** Of `workers`, the HTTP process may use the messages, the Template's checker, the operation table and what they need; and bundles. */
const WORKERS_FOR_SRC = [
  /^workers\/(?:bundles|messages|parcel|task-packer|outcome-packer|failure|report|budget|core-share|schema)\.ts$/,
  /^workers\/template\//,
  /^workers\/operations\/(?:index|operation)\.ts$/,
  /^workers\/kernel\/kernel\.ts$/,
];

/** Commands over local files also use the engine in their own thread. */
const WORKERS_FOR_COMMANDS = [
  ...WORKERS_FOR_SRC,
  /^workers\/(?:collector|inspect|split|thread)\.ts$/,
  /^workers\/output\/output-turns\.ts$/,
];

const NAMES_REFUSED = /(?:^|[-.])(?:utils?|helpers?|common|types|misc)(?:\.|-|$)/;

interface SourceFile {
  readonly path: string;
  readonly lines: readonly string[];
  readonly text: string;
}

const files = ROOTS.filter((root) => existsSync(root)).flatMap((root) => sourceFiles(root));
const product = files.filter(({ path }) => path.startsWith('src/') || path.startsWith('workers/'));

test('there are files to look at', async (t) => {
  t.ok(product.length > 20, 'the walk found the product');
});

test('imports point one way', async (t) => {
  for (const file of files) {
    const root = file.path.split('/')[0]!;
    for (const target of relativeImports(file)) {
      const other = target.split('/')[0]!;
      if (other !== root && !MAY_IMPORT[root]!.includes(other)) t.fail(`${file.path} imports ${target}`);
      const border = file.path.startsWith('src/commands/') ? WORKERS_FOR_COMMANDS : WORKERS_FOR_SRC;
      if (root === 'src' && other === 'workers' && !border.some((allowed) => allowed.test(target))) {
        t.fail(`${file.path} imports ${target}: src uses only the engine's border`);
      }
      if (isOperation(file.path) && isOperation(target)) t.fail(`${file.path} imports the operation ${target}`);
    }
  }
});

test('no files import each other in a circle', async (t) => {
  // AssemblyScript names its files without an ending.
  const ended = (target: string): string => (target.includes('/assembly/') ? `${target}.ts` : target);
  const imports = new Map(files.map((file) => [file.path, relativeImports(file).map(ended)]));
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) return void t.fail(`a circle: ${[...way.slice(way.indexOf(path)), path].join(' → ')}`);
    if (done.has(path)) return;
    for (const target of imports.get(path) ?? []) if (imports.has(target)) visit(target, [...way, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  const followed = [...imports.values()].flat().filter((target) => imports.has(target));
  t.ok(followed.length > files.length, `${followed.length} imports of ${files.length} files were followed`);
});

test('each library has one importer', async (t) => {
  const importers = new Map<string, Set<string>>();
  for (const file of product) {
    for (const library of libraries(file)) {
      importers.set(library, (importers.get(library) ?? new Set()).add(file.path));
    }
  }
  for (const [library, paths] of importers) {
    if (paths.size > 1) t.fail(`${library} is imported by ${[...paths].join(', ')}`);
  }
});

test('files and functions stay short', async (t) => {
  for (const { path, lines } of files) {
    if (lines.length > FILE_LINES_MAX) t.fail(`${path} has ${lines.length} lines`);
    for (const { name, length } of functions(lines)) {
      if (length > FUNCTION_LINES_MAX) t.fail(`${path}: ${name} has ${length} lines`);
    }
  }
});

test('names, headers and leftovers', async (t) => {
  for (const { path, text } of files) {
    const name = basename(path);
    if (NAMES_REFUSED.test(name)) t.fail(`${path}: the name says nothing`);
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test|\.d)?\.ts$/.test(name)) t.fail(`${path}: not in kebab-case`);
    if (!/^(?:#!.*\n)?\/\/ /.test(text)) t.fail(`${path} does not open with what it owns`);
    if (/\b(?:TODO|FIXME|XXX|HACK)\b/.test(text) && name !== 'tidy.test.ts') t.fail(`${path} holds a leftover`);
    if (/^export default\b/m.test(text)) t.fail(`${path} has a default export`);
    if (/^let /m.test(text) && !path.includes('/assembly/') && !path.startsWith('test/')) {
      t.fail(`${path} has module state`);
    }
    if (/\bt\.only\(|\btest\.only\(|^\s*debugger;/m.test(text) && name !== 'tidy.test.ts')
      t.fail(`${path} holds a leftover`);
  }
});

function sourceFiles(root: string): SourceFile[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const text = readFileSync(path, 'utf8');
      return { path, text, lines: text.replace(/\n$/, '').split('\n') };
    });
}

function importSources({ text }: SourceFile): string[] {
  const found = text.matchAll(
    /^(?:import|export)\s[^;'"(=]*?\bfrom\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
  );
  return [...found].map((match) => (match[1] ?? match[2] ?? match[3])!);
}

function relativeImports(file: SourceFile): string[] {
  return importSources(file)
    .filter((source) => source.startsWith('.'))
    .map((source) => normalize(join(dirname(file.path), source)));
}

function libraries(file: SourceFile): string[] {
  if (file.path.includes('/assembly/')) return [];
  return importSources(file)
    .filter((source) => !source.startsWith('.') && !source.startsWith('node:'))
    .map((source) => (source.startsWith('@') ? source.split('/').slice(0, 2).join('/') : source.split('/')[0]!));
}

/** Operations are the files of workers/operations that define one. */
function isOperation(path: string): boolean {
  if (!path.startsWith('workers/operations/')) return false;
  const file = files.find((candidate) => candidate.path === path);
  return file !== undefined && /^export const \w+ = defineOperation\(/m.test(file.text);
}

/** Functions and methods by their indentation, as the formatter lays them out. */
function functions(lines: readonly string[]): { name: string; length: number }[] {
  const found: { name: string; length: number }[] = [];
  for (const [start, line] of lines.entries()) {
    const head =
      /^(\s*)(?:export )?(?:async )?(?:function\*? (\w+)|(?:static |async |\*|get |set )*(#?\w+)\([^;]*\)?(?::.*)? \{$)/.exec(
        line,
      );
    if (head === null || /^\s*(?:if|for|while|switch|catch|return|test)\b/.test(line)) continue;
    const end = lines.findIndex((other, index) => index > start && other === `${head[1]}}`);
    if (end > 0) found.push({ name: head[2] ?? head[3] ?? '', length: end - start + 1 });
  }
  return found;
}
