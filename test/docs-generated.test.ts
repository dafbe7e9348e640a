// Generated pages and parts of pages match the program. With TEMPLATE_RUN_WRITE_DOCS=1, they are written instead.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { COMMANDS } from '../src/commands/index.ts';
import { operationTable } from '../workers/operations/index.ts';
import { generatedPages } from './documents/generated-pages.ts';
import { withParts } from './documents/generated-parts.ts';

const isWriting = process.env['TEMPLATE_RUN_WRITE_DOCS'] === '1';

t.test('generated pages match the program', async (t) => {
  for (const [path, text] of await generatedPages()) {
    if (isWriting) writeFileSync(path, text);
    const written = existsSync(path) ? readFileSync(path, 'utf8') : '';
    // The first line that differs is easier to read than two whole pages.
    const lines = text.split('\n');
    const at = written.split('\n').findIndex((line, index) => line !== lines[index]);
    t.ok(
      written === text,
      `${path} is up to date${written === text ? '' : `, unlike its line ${at + 1}: ${lines[at]}`}`,
    );
  }
});

t.test('they have a heading for every operation and every command', async (t) => {
  const pages = await generatedPages();
  const reference = pages.get('docs/reference/full-reference.md')!;
  for (const [name, { parameters }] of operationTable) {
    const [, part = ''] = reference.split(`\n### ${name}\n`);
    const own = part.split('\n### ')[0]!;
    for (const parameter of Object.keys((parameters as { properties: object }).properties)) {
      t.match(own, `\n| \`${parameter}\` | `, `${name}: ${parameter}`);
    }
  }
  const help = pages.get('docs/reference/command-help.md')!;
  for (const { name } of COMMANDS) t.match(help, `\n## ${name}\n`, name);
});

t.test('a part is inserted between its comments, and the text around it is unchanged', async (t) => {
  const page = (one: string): string =>
    `# Page\n\n<!-- generated: one -->\n${one}\n<!-- end -->\n\nBetween.\n\n<!-- generated: two -->\n<!-- end -->\n`;
  const parts = { one: '| 1 |\n', two: '2' };
  const whole = withParts('page', page(''), parts);
  t.equal(
    whole,
    '# Page\n\n<!-- generated: one -->\n\n| 1 |\n\n<!-- end -->\n\nBetween.\n\n' +
      '<!-- generated: two -->\n\n2\n\n<!-- end -->\n',
  );
  t.equal(withParts('page', page('\nwhat it was\n'), parts), whole);
  t.equal(withParts('page', whole, parts), whole, 'again');
});

t.test('a part without its comments is a mistake that is named, and so are comments of no part', async (t) => {
  const begin = '<!-- generated: one -->\n';
  const end = '\n<!-- end -->\n';
  const parts = { one: 'text' };
  for (const [page, told] of [
    ['# Page\n', 'page has no place for "one": write <!-- generated: one --> and <!-- end -->'],
    [`${begin}`, 'page: the place of "one" has no <!-- end -->'],
    [`${begin}\n${begin}${end}`, 'page: the place of "one" has no <!-- end -->'],
    [`${begin}${end}${begin}${end}`, 'page has a mark for which nothing is generated: <!-- generated: one -->'],
    [`${begin}${end}${begin.replace('one', 'two')}${end}`, /for which nothing is generated: .*: two -->/],
    ['<!-- generated: one->\n', /for which nothing is generated: <!-- generated: one->/],
  ] as const) {
    t.throws(() => withParts('page', page, parts), { message: told }, page);
  }
  const made = await generatedPages();
  for (const name of readdirSync('docs', { recursive: true, encoding: 'utf8' })) {
    const path = join('docs', name);
    if (!name.endsWith('.md') || made.has(path)) continue;
    t.notMatch(readFileSync(path, 'utf8'), /<!-- generated: /, `${path}: nothing is made for it`);
  }
});
