// `template check --sample`: a Template is checked against the columns of a file.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { cli } from './command-line.ts';

const TEMPLATE = `input:
  columns: [{name: party, match: [Name]}]
operations:
  - {text: {columns: party, steps: [trim]}}
  - {parse_number: {columns: amout, decimal: ","}}
  - {filter: {where: 'Amount != null'}}
`;

test('a column that the sample does not have is a problem at its place', async (t) => {
  const folder = t.testdir({
    'template.yaml': TEMPLATE,
    'right.yaml': TEMPLATE.replace('amout', 'amount').replace('Amount', 'amount'),
    'sample.csv': 'Name,amount\nAda,1\n',
    'other.csv': 'Client,amount\nAda,1\n',
  });
  const [template, right, sample, other] = ['template.yaml', 'right.yaml', 'sample.csv', 'other.csv'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  t.match(await cli('template', 'check', template), { status: 0 }, 'without a file it may be one that files have');
  const checked = await cli('template', 'check', '--sample', sample, template);
  t.equal(checked.status, 1);
  const [first] = checked.stdout.split('\n');
  t.equal(
    first,
    `${template}:5:21 /operations/1/parse_number/columns NOT_IN_SAMPLE "amout" is missing in the sample, or matches several of its columns. ` +
      'Did you mean "amount"?',
  );
  t.match(await cli('template', 'check', '--sample', sample, right), { status: 0, stdout: /: valid/ });
  // A column that the Template renames is called by its new name.
  const renamed = join(folder, 'renamed.yaml');
  writeFileSync(
    renamed,
    'format: 1\ninput:\n  columns: [{name: total, match: [AMOUNT]}]\noperations:\n  - {parse_number: {columns: amoumt}}\n',
  );
  const hinted = await cli('template', 'check', '--sample', sample, renamed);
  t.match(hinted.stdout, /NOT_IN_SAMPLE "amoumt" is missing.* Did you mean "total"\?/);
  const declared = await cli('template', 'check', '--json', '--sample', other, right);
  t.match(JSON.parse(declared.stdout), { problems: [{ pointer: '/input/columns/0', code: 'NOT_IN_SAMPLE', line: 2 }] });
  t.match(await cli('template', 'check', '--sample', join(folder, 'none.csv'), right), {
    status: 1,
    stderr: /sample cannot be read/,
  });
});

test('a type that does not fit is explained by a column that is missing or not declared', async (t) => {
  const operations = `operations:
  - {set: {columns: {double: 'amuont * 2'}}}
  - {round: {columns: amuont, scale: 2}}
`;
  const folder = t.testdir({
    'declared.yaml': `input: {columns: [{name: amount, match: [Betrag]}]}\n${operations}`,
    'undeclared.yaml': operations,
    'broken.yaml': 'operations: [',
    'sample.csv': 'Betrag,party\n1,Ada\n',
  });
  const check = async (...args: readonly string[]): Promise<string> =>
    (await cli('template', 'check', ...args.map((arg) => (arg.startsWith('@') ? join(folder, arg.slice(1)) : arg))))
      .stdout;
  const declared = await check('@declared.yaml');
  t.match(
    declared,
    /EXPR_TYPE .* The column "amuont" is not declared under input.columns, so it counts as text. Did you mean "amount"\?/,
  );
  t.match(
    declared,
    /WRONG_TYPE .* The column "amuont" is not declared under input.columns, so it counts as text. Did you mean "amount"\?/,
  );
  t.match(
    await check('@undeclared.yaml'),
    /EXPR_TYPE .* The column "amuont" is not declared under input.columns, so it counts as text.\n/,
  );
  const sampled = await check('--sample', '@sample.csv', '@declared.yaml');
  t.match(sampled, /UNKNOWN_COLUMN The column "amuont" does not exist at this step. Did you mean "amount"\?\n/);
  t.notMatch(sampled, /does not take|is text at this step/);
  t.match(await check('--sample', '@sample.csv', '@broken.yaml'), /SYNTAX/);
});
