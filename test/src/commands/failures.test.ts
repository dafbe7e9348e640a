// Messages of a failed `run`: the operation of the Template, and with --show-cell the cell.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cli, type Outcome } from './command-line.ts';

const folder = t.testdir({});

/** `run` of a Template over a CSV. */
async function run(template: string, csv: string, ...flags: readonly string[]): Promise<Outcome> {
  const [templatePath, csvPath] = [join(folder, 'template.yaml'), join(folder, 'input.csv')];
  writeFileSync(templatePath, template);
  writeFileSync(csvPath, csv);
  const args = ['run', templatePath, csvPath, ...flags];
  return cli(...args);
}

const NUMBERS = `format: 1
operations:
  - {comment: {text: counted neither in the report nor here}}
  - {op: drop_blank_rows, enabled: false}
  - {text: {columns: amount, steps: [trim]}}
  - op: parse_number
    id: read_amount
    columns: [amount]
  - {use: tail}
fragments:
  tail:
    - {op: validate, rules: [{column: name, check: required}]}
`;

t.test('a failure names the operation by number, name and line', async (t) => {
  t.match(await run(NUMBERS, 'name,amount\na,1\nb, SecretCell\n'), {
    status: 1,
    stderr:
      /^TEMPLATE_ROW_ERROR: Operation 2 parse_number "read_amount" \(line 6, \/operations\/3\), column "amount": NOT_A_NUMBER in row 2 of the data\.\n/,
  });
  const joined = 'operations:\n  - {aggregate: {metrics: [{fn: join, column: name}]}}\n';
  t.match(await run(joined, `name,x\n${`${'n'.repeat(60_000)},1\n`.repeat(300)}`), {
    status: 1,
    stderr: /^TEMPLATE_ROW_ERROR: Operation 1 aggregate \(line 2, \/operations\/0\): TOO_LONG: a sum or text /,
  });
  t.match(await run('operations:\n\n  - {rename: {columns: {a: b}}}\n', 'a,b\n1,2\n'), {
    status: 1,
    stderr: /^TEMPLATE_COLUMNS_MISSING: .* at operation 1 rename \(line 3, \/operations\/0\): /,
  });
});

t.test('--show-cell shows the row as it came to the operation, on standard error alone', async (t) => {
  const csv = 'name,amount\na,1\nb, SecretCell\nc,3\n';
  const quiet = await run(NUMBERS, csv);
  t.notMatch(quiet.stderr, /SecretCell/, 'nothing of a file without it');
  t.match(quiet.stderr, /\n {2}Add --show-cell to see the cells of this row\.\n/, 'the failure names the flag');
  t.notMatch((await run(NUMBERS, csv, '--quiet')).stderr, /--show-cell/, 'no hint with --quiet');
  const shown = await run(NUMBERS, csv, '--show-cell');
  t.equal(shown.stdout, '');
  t.match(shown.stderr, /in row 2 of the data\.\n {2}> "amount": "SecretCell"\n {4}"name": "b"\n/, 'trimmed by then');
  const filled = 'operations:\n  - {fill_down: {columns: a}}\n  - {parse_number: {columns: b}}\n';
  t.match((await run(filled, 'a,b\nx,1\n,n\n,m\n', '--show-cell')).stderr, /> "b": "n"\n {4}"a": "x"\n/);
  const condition = 'operations:\n  - {filter: {where: "10 / int(b) > 1"}}\n';
  t.match((await run(condition, 'a,b\nx,0\n', '--show-cell')).stderr, /EXPR_DIV_ZERO .*\n {4}"a": "x"\n {4}"b": "0"\n/);
  const long = await run('operations: [{parse_number: {columns: b}}]', `b\n${'y'.repeat(2_000)}\n`, '--show-cell');
  t.match(long.stderr, /> "b": "y{499}\.\.\. \(2002 characters\)\n/);
  const wide = Array.from({ length: 60 }, (_, at) => `c${at}`).join();
  const many = await run('operations: [{parse_number: {columns: c59}}]', `${wide}\n${wide}\n`, '--show-cell');
  t.match(many.stderr, /> "c59": "c59"\n {4}"c0": "c0"\n[\s\S]* {4}and 20 more columns\n/);
});
