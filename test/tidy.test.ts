// Checks the rules of the codebase that a program can check: import directions, one importer per library, lengths, no leftovers.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { test } from 'tap';
import { borderOf, LAYERS, MAY_IMPORT, TYPES_FROM_ABOVE } from './import-borders.ts';

const FILE_LINES_MAX = 600;
const FUNCTION_LINES_MAX = 70;
/**
 * Maximum number of operations that a file may name, outside the operations and the expression language, whose functions have the
 * same names.
 */
const OPERATIONS_NAMED_MAX = 3;
const ROOTS = ['src', 'workers', 'bench', 'test'];

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
      const border = borderOf(file.path);
      if (root === 'src' && other === 'workers' && !border.some((allowed) => allowed.test(target))) {
        t.fail(`${file.path} imports ${target}: src uses only the engine's border`);
      }
      if (isOperation(file.path) && isOperation(target)) t.fail(`${file.path} imports the operation ${target}`);
    }
  }
});

test('the folders of the engine import only from lower folders', async (t) => {
  // Files directly in `workers` and the libraries are below all folders.
  const rankOf = (path: string): number => {
    const [, folder, ...rest] = path.split('/');
    return rest.length === 0 || folder === 'bundled' ? -1 : LAYERS.indexOf(folder!);
  };
  const typesFromAbove: string[] = [];
  let followed = 0;
  for (const file of files.filter(({ path }) => path.startsWith('workers/'))) {
    const rank = rankOf(file.path);
    if (rank === -1 && !/^workers\/(?:bundled\/)?[^/]+$/.test(file.path)) t.fail(`${file.path} is not in a layer`);
    const atRuntime = new Set(runtimeImports(file));
    for (const target of relativeImports(file)) {
      followed++;
      if (rankOf(target) <= rank) continue;
      if (atRuntime.has(target)) t.fail(`${file.path} imports ${target} from a higher layer`);
      else typesFromAbove.push(`${file.path} imports ${target}`);
    }
  }
  t.strictSame(typesFromAbove.sort(), [...TYPES_FROM_ABOVE].sort(), 'no other types come from a higher layer');
  t.ok(followed > 3_000, `${followed} imports were followed`);
});

test('the page of the studio imports no code of the engine, only names', async (t) => {
  const page = files.filter(({ path }) => path.startsWith('src/studio/page/'));
  t.ok(page.length > 5, 'the walk found the page');
  for (const file of page) {
    for (const target of runtimeImports(file)) {
      if (!target.startsWith('src/studio/page/')) t.fail(`${file.path} imports ${target}`);
    }
  }
});

test('the page of the console takes the client for browsers, and no other code', async (t) => {
  const page = files.filter(({ path }) => path.startsWith('src/pages/console/'));
  t.ok(page.length > 2, 'the walk found the page');
  for (const file of page) {
    for (const target of runtimeImports(file)) {
      if (!/^src\/(?:pages\/console|client\/browser)\//.test(target)) t.fail(`${file.path} imports ${target}`);
    }
  }
});

test('the checker of Templates reaches operations and formats only through its arguments', async (t) => {
  const contracts = ['workers/input/reader.ts', 'workers/output/format.ts', 'workers/output/writer.ts'];
  const isGiven = (path: string): boolean => /^workers\/(?:operations|input|output)\//.test(path);
  const seen = new Map<string, string>();
  const visit = (path: string, from: string): void => {
    if (seen.has(path)) return;
    seen.set(path, from);
    const file = files.find((candidate) => candidate.path === path);
    // Types do not exist at run time, so a contract may import any type.
    for (const target of file === undefined ? [] : runtimeImports(file)) visit(target, path);
  };
  for (const file of files.filter(({ path }) => path.startsWith('workers/template/'))) {
    visit(file.path, '');
    for (const target of relativeImports(file)) {
      if (isGiven(target) && !contracts.includes(target)) t.fail(`${file.path} imports ${target}`);
    }
  }
  for (const [path, from] of seen) {
    if (isGiven(path) && !contracts.includes(path)) t.fail(`workers/template reaches ${path} by ${from}`);
  }
  t.ok(seen.has('workers/expression/check/checker.ts'), 'imports were followed');
});

test('a format of outputs knows no other', async (t) => {
  const folderOf = (path: string): string | undefined => /^workers\/output\/(\w+)\//.exec(path)?.[1];
  for (const file of product) {
    const folder = folderOf(file.path);
    if (folder === undefined) {
      if (file.path === 'workers/output/index.ts') continue;
      const formats = relativeImports(file).filter((target) => (folderOf(target) ?? 'sink') !== 'sink');
      if (formats.length > 0) t.fail(`${file.path} imports ${formats.join(', ')}: formats are reached by their table`);
    } else {
      const others = relativeImports(file).filter((target) => ![undefined, 'sink', folder].includes(folderOf(target)));
      if (others.length > 0) t.fail(`${file.path} imports ${others.join(', ')}`);
    }
  }
});

test('the product is built without the benchmark and the tests', async (t) => {
  const scripts = ['workers', 'examples'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.mjs'))
      .map((path) => join(root, path)),
  );
  t.ok(scripts.includes('workers/bundled/keep-compiled.mjs'), 'the walk found the scripts of the build');
  for (const path of ['rolldown.config.mjs', ...scripts]) {
    const named = readFileSync(path, 'utf8').match(
      /['"\x60](?:\.{1,2}\/|dist\/)[^'"\x60]*\b(?:bench|test)\/[^'"\x60]*/,
    );
    if (named !== null) t.fail(`${path} names ${named[0].slice(1)}`);
  }
});

test('operations are one file each, beside their table', async (t) => {
  const others = ['workers/operations/index.ts'];
  for (const { path } of product) {
    if (!path.startsWith('workers/operations/') || others.includes(path)) continue;
    if (!isOperation(path)) t.fail(`${path} defines no operation`);
  }
});

test('an operation is its file and its line in the table', async (t) => {
  const table = files.find(({ path }) => path === 'workers/operations/index.ts')!;
  const topics = /const OPERATION_TOPICS\b[^=]*= \{([^}]*)\}/.exec(table.text)![1]!;
  // Without the names of the topics.
  const list = topics.replaceAll(/(?:'[^']*'|\w+):/g, '');
  const operations = product.filter(({ path }) => isOperation(path));
  t.equal(list.match(/\w+/g)!.length, operations.length, 'as many lines as files');
  const names: string[] = [];
  for (const { path, text } of operations) {
    const [, constant, name] = /^export const (\w+) = defineOperation\([\s\S]*?^ {2}name: '(\w+)'/m.exec(text)!;
    names.push(name!);
    if (`${name!.replaceAll('_', '-')}.ts` !== basename(path)) t.fail(`${path} is not named after ${name}`);
    if (list.match(new RegExp(`\\b${constant}\\b`, 'g'))?.length !== 1) t.fail(`${constant} is not once in the table`);
  }
  for (const { path, text } of product) {
    if (/^workers\/(?:operations|expression|execution\/expressions)\//.test(path)) continue;
    const named = names.filter((name) => text.includes(`'${name}'`) || text.includes(`"${name}"`));
    if (named.length > OPERATIONS_NAMED_MAX) t.fail(`${path} has a list of operations: ${named.join(', ')}`);
  }
});

test('no files import each other in a circle', async (t) => {
  // AssemblyScript imports files without an extension.
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
    // All files of a page may import its framework.
    if (/^src\/(?:studio\/page|pages\/console)\//.test(file.path)) continue;
    for (const library of libraries(file)) {
      importers.set(library, (importers.get(library) ?? new Set()).add(file.path));
    }
  }
  for (const [library, paths] of importers) {
    if (paths.size > 1) t.fail(`${library} is imported by ${[...paths].join(', ')}`);
  }
});

test('chance in tests comes from one place, by a seed that a failure names', async (t) => {
  const sources = ['test/random.ts', 'test/fuzz/chance.ts'];
  const OWN_CHANCE =
    /\bMath\.random\(|\brandom(?:Bytes|Int|FillSync)\(|\bgetRandomValues\(|\b1_?664_?525\b|\b0x6d2b79f5\b|TEMPLATE_RUN_SEED'/;
  for (const file of files) {
    if (!file.path.startsWith('test/') || file.path === 'test/tidy.test.ts' || sources.includes(file.path)) continue;
    const own = libraries(file).includes('fast-check') ? ['fast-check'] : OWN_CHANCE.exec(file.text);
    if (own !== null) t.fail(`${file.path} takes chance from ${own[0]} and not from ${sources[0]}`);
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

test('texts are normalised in one place, and compared by no locale', async (t) => {
  const ONLY_NORMALISER = 'workers/values/normalise.ts';
  const calls = product.filter(({ text }) => /\.normalize\(|\['normalize'\]/.test(text)).map(({ path }) => path);
  t.strictSame(calls, [ONLY_NORMALISER], 'String.prototype.normalize takes the square of a long run of marks');
  for (const { path, text } of product) {
    if (/\.localeCompare\(|\.toLocale\w+\(|\bIntl\.(?:Collator|Segmenter)\b/.test(text))
      t.fail(`${path} depends on a locale, in a time that nobody knows`);
  }
});

/** Fault messages reach logs and terminals: their texts must not come from a cell (workers/protocol/fault-text.ts). */
test('faults of the engine have constant texts', async (t) => {
  for (const { path, text } of files) {
    if (!path.startsWith('workers/') || path === 'workers/protocol/fault-text.ts') continue;
    for (const [call] of text.matchAll(/\bnew Error\((?!'(?:[^'\\]|\\.)*'\)).*/g)) {
      t.fail(`${path}: ${call} is no constant text`);
    }
  }
});

/** After files are merged or moved, such names send readers to the wrong place. */
test('comments name only other files that exist', async (t) => {
  // The build makes this file.
  const paths = [...files.map(({ path }) => path), 'workers/kernel/bindings/exports.ts'];
  let named = 0;
  for (const { path, lines } of product) {
    for (const comment of lines.filter((line) => /^\s*(?:\/\/|\/?\*)/.test(line))) {
      for (const [name] of comment.matchAll(/(?<![\w/.@-])[\w/-]*[\w-]+\.tsx?\b/g)) {
        named++;
        const found = paths.filter((other) => `/${other}`.endsWith(`/${name}`));
        if (found.length === 0) t.fail(`${path} names ${name}, which does not exist`);
        else if (found.every((other) => other === path)) t.fail(`${path} names itself as another file: ${name}`);
      }
    }
  }
  t.ok(named > 100, `${named} names were found`);
});

test('names, headers and leftovers', async (t) => {
  for (const { path, text } of files) {
    const name = basename(path);
    if (NAMES_REFUSED.test(name)) t.fail(`${path}: the name says nothing`);
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test|\.d)?\.tsx?$/.test(name)) t.fail(`${path}: not in kebab-case`);
    if (!/^(?:#!.*\n)?\/\/ /.test(text)) t.fail(`${path} does not open with what it owns`);
    if (/\b(?:TODO|FIXME|XXX|HACK)\b/.test(text) && name !== 'tidy.test.ts') t.fail(`${path} holds a leftover`);
    if (/\bas unknown as\b/.test(text) && name !== 'tidy.test.ts') t.fail(`${path} casts away what is known of a type`);
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
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.parentPath.includes('node_modules'))
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

/** Imports except those of types. */
function runtimeImports({ path, text }: SourceFile): string[] {
  return relativeImports({ path, lines: [], text: text.replace(/^(?:import|export) type\s[^;]*;/gm, '') });
}

function libraries(file: SourceFile): string[] {
  if (file.path.includes('/assembly/')) return [];
  return importSources(file)
    .filter((source) => !source.startsWith('.') && !source.startsWith('node:'))
    .map((source) => (source.startsWith('@') ? source.split('/').slice(0, 2).join('/') : source.split('/')[0]!));
}

/** Operations are the files in workers/operations that define an operation. */
function isOperation(path: string): boolean {
  if (!path.startsWith('workers/operations/')) return false;
  const file = files.find((candidate) => candidate.path === path);
  return file !== undefined && /^export const \w+ = defineOperation\(/m.test(file.text);
}

test('the programs of the pages are type-checked', async (t) => {
  const root = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as { exclude: string[] };
  const pages = root.exclude.filter((path) => existsSync(join(path, 'tsconfig.json')));
  t.ok(pages.length >= 2, 'the pages are checked apart, for browsers');
  for (const page of pages) {
    const config = JSON.parse(readFileSync(join(page, 'tsconfig.json'), 'utf8')) as { exclude?: string[] };
    // A configuration that excludes nothing itself would inherit that the root excludes the page.
    t.strictSame(config.exclude, [], page);
  }
});

/** Functions and methods, found by the indentation that the formatter produces. */
function functions(lines: readonly string[]): { name: string; length: number }[] {
  const found: { name: string; length: number }[] = [];
  for (const [start, line] of lines.entries()) {
    const head =
      /^(\s*)(?:export )?(?:async )?(?:function\*? (\w+)|(?:static |async |\*|get |set )*(#?\w+)\([^;]*\)?(?::.*)? \{$)/.exec(
        line,
      );
    if (head === null || /^\s*(?:if|for|while|switch|catch|return|test)\b/.test(line)) continue;
    // The closing brace of a callback or of a method of an object literal is followed by other characters.
    const end = lines.findIndex(
      (other, index) => index > start && other.startsWith(`${head[1]}}`) && !other.endsWith('{'),
    );
    if (end > 0) found.push({ name: head[2] ?? head[3] ?? '', length: end - start + 1 });
  }
  return found;
}
