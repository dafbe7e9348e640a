// `template diff`: what a change of a Template changes, and what it could not compare.
import { join } from 'node:path';
import { test } from 'tap';
import { skipUnlessLong } from '../../sweep.ts';
import { cli } from './command-line.ts';

const template = (...args: string[]) => cli('template', ...args);

test('diff reads the reference tables of samples', { skip: skipUnlessLong }, async (t) => {
  const old = 'tables: {rates: {ref: rates}}\noperations:\n  - {join: {table: rates, on: [code], columns: [rate]}}\n';
  const folder = t.testdir({
    'old.yaml': old,
    'new.yaml': `${old}  - {filter: {where: rate != null}}\n`,
    'sample.csv': 'code\na\nb\n',
    tables: { 'rates.csv': 'code,rate\na,1\n' },
  });
  const diff = (...more: string[]) =>
    template('diff', ...['old.yaml', 'new.yaml', 'sample.csv'].map((name) => join(folder, name)), ...more);
  t.match(await diff('--tables', join(folder, 'tables')), { status: 1, stdout: /-\{"code":"b","rate":null\}/ });
  t.match(await diff(), { status: 0, stdout: /both Templates fail with [A-Z_]+\n0 of 1 input changed/ });
});

test('diff tells which rows are rejected', { skip: skipUnlessLong }, async (t) => {
  const reject = 'operations:\n  - {parse_number: {columns: n, on_error: reject}}\n';
  const folder = t.testdir({
    'old.yaml': reject,
    'new.yaml': reject.replace('columns: n', 'columns: n, decimal: ","'),
    'drop.yaml': reject.replace('on_error: reject', 'on_error: drop_row'),
    'sample.csv': 'n\n1\nx\n2.5\n',
  });
  const diff = (old: string, now: string) =>
    template('diff', ...[old, now, 'sample.csv'].map((name) => join(folder, name)));
  t.match(
    (await diff('old.yaml', 'new.yaml')).stdout,
    /-\{"n":"2\.5"\}\n.*\+rejected: 3,1 parse_number,n,NOT_A_NUMBER,2\.5/s,
  );
  t.match((await diff('old.yaml', 'drop.yaml')).stdout, /-rejected: 2,1 parse_number,n,NOT_A_NUMBER,x/);
});

test('diff tells what a change of a Template changes', { skip: skipUnlessLong }, async (t) => {
  const old = `
operations:
  - {parse_number: {columns: amount}}
tests:
  - {name: plain, input: {text: "name,amount\\na,1\\nb,20\\n"}, expect: {error: MALFORMED_FILE}}
  - {name: gone, input: {text: "name,amount\\nc,3\\n"}, expect: {error: MALFORMED_FILE}}
`;
  const folder = t.testdir({
    'old.yaml': old,
    'new.yaml': old
      .replace('tests:', '  - {filter: {where: amount > 10d}}\n  - {drop: {columns: note, if_missing: skip}}\ntests:')
      .replace('name: gone', 'name: more'),
    'json.yaml': `${old}output: {format: json}\n`,
    'sample.csv': 'name,amount\nx,50\n',
    'fails.csv': 'name,amount\nx,y\n',
    'bad.yaml': 'operations: [{drop: 1}]',
  });
  const [before, after, json, sample, fails, bad] = ['old', 'new', 'json', 'sample.csv', 'fails.csv', 'bad'].map(
    (name) => join(folder, name.includes('.') ? name : `${name}.yaml`),
  ) as [string, string, string, string, string, string];
  t.strictSame(await template('diff', before, before, sample, fails), {
    status: 0,
    stdout: `sample ${fails}: both Templates fail with TEMPLATE_ROW_ERROR\n0 of 4 inputs changed\n`,
    stderr: '',
  });
  const changed = await template('diff', before, after, sample);
  t.equal(changed.status, 1);
  t.equal(
    changed.stdout,
    `columns
  @ line 2
   reads "amount"
  +reads "note" if it exists
   writes "amount" decimal
test plain
  @ line 1
  -{"name":"a","amount":"1"}
   {"name":"b","amount":"20"}
test gone
  @ line 1
  -{"name":"c","amount":"3"}
test more
  @ line 1
  -{"name":"c","amount":"3"}
3 of 4 inputs changed
`,
  );
  const format = await template('diff', before, json, sample);
  t.match(format, {
    status: 1,
    stdout:
      /writes json[\s\S]*sample .*\n {2}the rows are equal, but the output files differ \(17 bytes before, \d+ after\)/,
  });
  t.match(JSON.parse((await template('diff', '--json', before, after)).stdout), [
    { of: 'columns' },
    { of: 'test plain' },
    {},
    {},
  ]);
  t.match(await template('diff', before, bad), { status: 1, stderr: /bad\.yaml:1:/ });
  t.match(await template('diff', before), { status: 2, stderr: /old and the new/ });
  t.match(await template('diff', before, after, join(folder, 'none.csv')), {
    status: 1,
    stderr: /sample cannot be read/,
  });
});
