// Checks the documents against the program: links, metrics, log events, operations, settings, commands, and the Templates that
// are shown. People have to check the sentences.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'tap';
import { COMMANDS } from '../src/commands/index.ts';
import { EXTRA_DATE_FUNCTIONS } from '../workers/expression/functions/extra-date.ts';
import { EXTRA_NUMBER_FUNCTIONS } from '../workers/expression/functions/extra-number.ts';
import { EXTRA_SIMILARITY_FUNCTIONS, EXTRA_TEXT_FUNCTIONS } from '../workers/expression/functions/extra-text.ts';
import { EXTRA_TIME_FUNCTIONS } from '../workers/expression/functions/extra-time.ts';
import { KEY_FUNCTIONS, MISSING_VALUE_FUNCTIONS } from '../workers/expression/functions/extra-value.ts';
import { inputFormats } from '../workers/input/index.ts';
import { operationTable } from '../workers/operations/index.ts';
import { outputFormats } from '../workers/output/index.ts';
import { templateLanguage } from '../workers/plan/plan.ts';
import { templateReference } from '../workers/template/reference.ts';
import { problemsOf } from './workers/template/check-problems.ts';

const README_LINES_MAX = 150;
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...markdownIn('docs')];
const LANGUAGE_PAGES = ['template', 'input', 'operations', 'expressions', 'output'].map(
  (name) => `docs/reference/${name}.md`,
);
/** Functions that CEL and its extensions do not have. */
const OWN_FUNCTIONS = [
  ...[...MISSING_VALUE_FUNCTIONS, ...KEY_FUNCTIONS, ...EXTRA_TEXT_FUNCTIONS, ...EXTRA_SIMILARITY_FUNCTIONS],
  ...[...EXTRA_NUMBER_FUNCTIONS, ...EXTRA_DATE_FUNCTIONS, ...EXTRA_TIME_FUNCTIONS],
];
const LANGUAGE = LANGUAGE_PAGES.map(read).join('\n');
const METRICS = read('docs/reference/metrics.md');

test('every relative link leads somewhere, and every heading that a link names is there', async (t) => {
  let links = 0;
  for (const path of DOCUMENTS) {
    for (const [, target] of withoutCode(read(path)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target!)) continue;
      links += 1;
      const [file = '', heading] = target!.split('#');
      const linked = file === '' ? path : normalize(join(dirname(path), file));
      t.ok(existsSync(linked), `${path} links to ${target}`);
      if (heading !== undefined)
        t.ok(anchors(linked).includes(heading), `${path} links to ${target}: the heading is there`);
    }
  }
  t.ok(links > 30, `${links} links were followed`);
});

test('the README is short and leads to every document', async (t) => {
  const readme = read('README.md');
  t.ok(readme.split('\n').length <= README_LINES_MAX);
  for (const path of DOCUMENTS) if (path !== 'README.md') t.match(readme, `](${path})`, path);
});

test('files that are named as answers are there', async (t) => {
  const answers = rows(section(read('docs/explanation/architecture.md'), 'Where is …?'));
  t.ok(answers.length >= 20, `${answers.length} questions`);
  for (const [question, answer] of answers) {
    const paths = [...answer!.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path]) => path!);
    t.ok(paths.length > 0, question!);
    for (const path of paths) t.ok(existsSync(path), `${question}: ${path}`);
  }
});

test('files and folders that are named as places to change are there', async (t) => {
  const page = read('docs/how-to/add-an-operation.md');
  const paths = unique(page.matchAll(/`((?:src|workers|test|bench|docs)\/[\w./-]+)`/g)).filter(
    (path) => !path.includes('NAME'),
  );
  t.ok(paths.length >= 30, `${paths.length} paths`);
  for (const path of paths) t.ok(existsSync(path), path);
  const examples = unique(section(page, 'An operation').matchAll(/`([a-z-]+\.ts)`/g));
  t.ok(examples.length >= 10, `${examples.length} operations`);
  for (const name of examples) t.ok(existsSync(`workers/operations/${name}`), name);
});

test('each folder of the code has a README, and the files that it names are there', async (t) => {
  for (const root of ['src', 'workers']) {
    const entries = readdirSync(root, { recursive: true, withFileTypes: true });
    const folders = entries.flatMap((entry) => (entry.isDirectory() ? [join(entry.parentPath, entry.name)] : []));
    const files = entries.map(({ parentPath, name }) => join(parentPath, name));
    for (const folder of [root, ...folders]) {
      const path = join(folder, 'README.md');
      t.ok(existsSync(path), path);
      // A README may name a file of its folder or of one below without the path between them.
      const below = files.filter((file) => file.startsWith(`${folder}/`));
      for (const name of unique(read(path).matchAll(/`([\w./-]+\.tsx?)`/g))) {
        const isThere =
          existsSync(join(folder, name)) || existsSync(name) || below.some((file) => file.endsWith(`/${name}`));
        t.ok(isThere, `${path}: ${name}`);
      }
    }
  }
});

test('commands that documents name exist, and all are listed', async (t) => {
  const known = COMMANDS.map(({ name }) => `template-run ${name}`);
  const listed = rows(section(read('docs/reference/commands.md'), 'Commands')).map(([name]) => plain(name));
  t.strictSame(listed.sort(), known.slice().sort());
  for (const path of DOCUMENTS) {
    for (const [, command] of read(path).matchAll(/(?:^ *|`)(template-run [a-z]+)/gm)) {
      t.ok(known.includes(command!), `${path}: ${command}`);
    }
  }
});

test('metrics and log events match the program', async (t) => {
  const program = ['src', 'workers'].flatMap(sources).join('\n');
  const metrics = unique(program.matchAll(/'(template_run_[a-z0-9_]+)'/g));
  t.ok(metrics.length > 10, 'the program has metrics');
  t.strictSame(unique(section(METRICS, 'Health and metrics').matchAll(/`(template_run_[a-z0-9_]+)`/g)), metrics);
  const events = unique(program.matchAll(/(?:\.(?:info|warn|fault|always|rendered)\(\s*|\bevent: )'([a-z_]+)'/g));
  t.ok(events.length > 10, 'the program logs events');
  const listed = rows(section(METRICS, 'Logs'))
    .map(([names]) => names!)
    .join(' ');
  t.strictSame(unique(listed.matchAll(/`([a-z_]+)`/g)), events);
});

test('every operation is listed with its memory class and whether it works on cells', async (t) => {
  const listed = rows(section(LANGUAGE, 'Operations')).map(([name, , memory]) => [...name!.split(' '), memory!]);
  t.strictSame(listed.map(([name]) => plain(name)).sort(), [...operationTable.keys()].sort());
  for (const row of listed) {
    const { memory, cells } = operationTable.get(plain(row[0]))!;
    t.equal(row.includes('●'), cells, `${row[0]} works on cells: ${cells}`);
    if (typeof memory === 'string') t.equal(row.at(-1), memory, `${row[0]} has the class ${memory}`);
    else t.match(row.at(-1), / or /, `${row[0]}: its class depends on its parameters`);
  }
});

test('the table of operations on several threads matches their definitions', async (t) => {
  const listed = rows(section(read('docs/explanation/memory.md'), 'One large file on several threads'));
  const named = listed.map(([cell]) => new Set([...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name)));
  const alone = named.pop()!;
  for (const [name, { memory, worksInParts, inOrder, merges, hasKeys, sortsParts }] of operationTable) {
    if (memory === 'R') continue;
    const isShared = [worksInParts, inOrder, merges, hasKeys, sortsParts].some((declared) => declared !== undefined);
    t.equal(
      named.some((names) => names.has(name)),
      isShared,
      `${name} has a condition: ${isShared}`,
    );
    t.equal(alone.has(name), !isShared, `${name} needs one thread: ${!isShared}`);
  }
});

test('settings, functions and row errors of the language match the program', async (t) => {
  const reference = templateReference(templateLanguage);
  const settings = unique(LANGUAGE.matchAll(/`((?:input|output|defaults)\.[a-z_.]+)`/g));
  t.ok(settings.length > 20, 'the document names settings');
  for (const setting of settings) t.match(reference, `| \`${setting}\` |`, setting);
  const functions = rows(section(LANGUAGE, 'Expressions')).flatMap(([, calls]) => [...calls!.matchAll(/`(\w+)\(/g)]);
  t.ok(functions.length > 30, 'the document names functions');
  for (const [, name] of functions) t.ok(new RegExp(`\\b${name}\\(`).test(reference), `${name}()`);
  const listed = new Set(functions.map(([, name]) => name));
  for (const { name } of OWN_FUNCTIONS) t.ok(listed.has(name), `docs/reference/expressions.md lists ${name}()`);
  const [, union = ''] = /export type RowErrorCode =([^;]+);/.exec(read('workers/protocol/report.ts')) ?? [];
  t.strictSame(codesIn(section(LANGUAGE, 'Errors in rows')), unique(union.matchAll(/'([A-Z_]+)'/g)));
});

test('the README and the pages about files name every format', async (t) => {
  for (const { name } of inputFormats) {
    for (const path of ['README.md', 'docs/reference/input.md'])
      t.match(read(path), new RegExp(`\\b${name}\\b`, 'i'), `${path} names the input format ${name}`);
  }
  for (const name of outputFormats.keys()) {
    for (const path of ['README.md', 'docs/reference/output.md'])
      t.match(read(path), new RegExp(`\\b${name}\\b`, 'i'), `${path} names the output format ${name}`);
  }
});

test('Templates and parts of them that are shown are valid', async (t) => {
  let shown = 0;
  for (const path of ['README.md', 'docs/tutorial.md', ...LANGUAGE_PAGES]) {
    for (const source of templatesIn(read(path))) {
      shown += 1;
      t.strictSame(problemsOf(source), [], `${path}:\n${source}`);
    }
  }
  t.ok(shown >= 3, `${shown} Templates were checked`);
});

/** Blocks of YAML. A block without operations is the start of a Template that the next block continues. */
function templatesIn(markdown: string): string[] {
  const found: string[] = [];
  let begun = '';
  for (const [, indent = '', block = ''] of markdown.matchAll(/^( *)```yaml(?: [\w.-]+)?\n([\s\S]*?)^ *```$/gm)) {
    const text = begun + block.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    begun = /^operations:/m.test(text) || !/^format:/m.test(text) ? '' : text;
    if (begun === '') found.push(/^operations:/m.test(text) ? text : `operations: []\n${text}`);
  }
  return found;
}

/** The text from a heading to the next heading of the same or a higher level. */
function section(markdown: string, heading: string): string {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading);
  if (start < 0) throw new Error(`there is no heading ${heading}`);
  const level = /^#+/.exec(lines[start]!)![0].length;
  const length = lines.slice(start + 1).findIndex((line) => new RegExp(`^#{1,${level}} `).test(line));
  return lines.slice(start + 1, length < 0 ? undefined : start + 1 + length).join('\n');
}

/** Trimmed cells of the rows of all tables, without the header rows. */
function rows(markdown: string): string[][] {
  const lines = markdown.split('\n');
  return lines.flatMap((line, index) => {
    const isHead = /^\|[-|:]+\|$/.test(lines[index + 1] ?? '') || /^\|[-|:]+\|$/.test(line);
    if (!line.startsWith('|') || isHead) return [];
    return [
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    ];
  });
}

/** Codes in the first cells of tables. */
function codesIn(markdown: string): string[] {
  const names = rows(markdown).map(([name]) => name!);
  return unique(names.join(' ').matchAll(/`([A-Z_]+)`/g));
}

function plain(cell: string | undefined): string {
  return (cell ?? '')
    .replace(/^\[(.*)\]\(.*\)$/, '$1')
    .replaceAll('`', '')
    .replaceAll('\\|', '|');
}

function unique(matches: Iterable<RegExpMatchArray>): string[] {
  return [...new Set([...matches].map((match) => match[1]!))].sort();
}

/** Anchors that GitHub generates from headings. */
function anchors(path: string): string[] {
  return [...withoutCode(read(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
}

function markdownIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : []));
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
    name.endsWith('.ts') ? [read(join(folder, name))] : [],
  );
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}
