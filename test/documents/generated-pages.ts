// Pages that are made of the program's own definitions: the whole language of Templates, and the help of every command. Other
// pages have parts that are.
import { readFileSync } from 'node:fs';
import { COMMANDS } from '../../src/commands/index.ts';
import { helpPage } from '../../src/commands/run-cli.ts';
import { templateLanguage } from '../../workers/plan/plan.ts';
import { templateReference } from '../../workers/template/reference.ts';
import { withParts } from './generated-parts.ts';
import { failureTable, flagTable, httpCodeTable, metricTable, operationTables } from './program-tables.ts';

const MADE_BY =
  '<!-- Made of the program: TEMPLATE_RUN_WRITE_DOCS=1 node dist/test/docs-generated.test.js writes it anew. -->';

/** By page and by the name of the part. */
const PARTS: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/reference/flags.md': { flags: flagTable },
  'docs/reference/http-contract.md': { 'error codes': httpCodeTable, 'codes of a failed Run': failureTable },
  'docs/reference/metrics.md': { metrics: metricTable },
  'docs/reference/operations.md': { operations: operationTables },
};

/** Texts of the pages by their paths. Throws where a page has no place for a part. */
export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/reference/full-reference.md', fullReference()],
    ['docs/reference/command-help.md', await commandHelp()],
    ...Object.keys(PARTS).map((path) => [path, pageWithParts(path)] as const),
  ]);
}

function pageWithParts(path: string): string {
  const parts = Object.entries(PARTS[path] ?? {}).map(([name, text]) => [name, text()]);
  return withParts(path, readFileSync(path, 'utf8'), Object.fromEntries(parts));
}

/** What `template docs` prints. */
function fullReference(): string {
  return `${MADE_BY}\n\n${templateReference(templateLanguage)}`;
}

/** What `--help` prints of every command and each of its actions. */
async function commandHelp(): Promise<string> {
  const parts = COMMANDS.map(async ({ name, summary, load }) => {
    const command = await load();
    return [
      section('##', name, helpPage(command), `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
      ...Object.keys(command.actions ?? {}).map((action) =>
        section('###', `${name} ${action}`, helpPage(command, action)),
      ),
    ].join('\n');
  });
  const head = `${MADE_BY}\n\n# Help of all commands\n\nWhat \`--help\` prints; [commands](commands.md) says more.\n`;
  return [head, ...(await Promise.all(parts))].join('\n');
}

function section(level: string, name: string, usage: string, summary = ''): string {
  return `${level} ${name}\n\n${summary === '' ? '' : `${summary}\n\n`}\`\`\`text\n${usage}\n\`\`\`\n`;
}
