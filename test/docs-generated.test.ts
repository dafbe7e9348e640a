// Pages that are made of the program say what it says. With TEMPLATE_RUN_WRITE_DOCS=1 they are written anew instead.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { COMMANDS } from '../src/commands/index.ts';
import { operationTable } from '../workers/operations/index.ts';
import { generatedPages } from './documents/generated-pages.ts';

const isWriting = process.env['TEMPLATE_RUN_WRITE_DOCS'] === '1';

t.test('generated pages are those of this program', async (t) => {
  for (const [path, text] of await generatedPages()) {
    if (isWriting) writeFileSync(path, text);
    const written = existsSync(path) ? readFileSync(path, 'utf8') : '';
    // The first line that differs says more than two whole pages.
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
