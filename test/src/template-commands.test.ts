// `template` from outside: check, test on the engine, explain, schema, docs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'tap';
import { lineDiff } from '../../src/commands/line-diff.ts';
import { runCli } from '../../src/commands/run-cli.ts';

interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function template(...args: string[]): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const status = await runCli(['template', ...args], { stdin: process.stdin, stdout, stderr, env: {} });
  return { status, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

test('usage', async (t) => {
  t.match(await template(), { status: 2, stderr: /Write check, test, explain, schema or docs/ });
  t.match(await template('chek'), { status: 2, stderr: /Did you mean "check"\?/ });
  t.match(await template('check'), { status: 2, stderr: /one or more Template files/ });
  t.match(await template('check', 'nowhere.yaml'), { status: 2, stderr: /cannot be read/ });
  t.match(await template('check', 'a.txt'), { status: 2, stderr: /ends in \.json, \.yaml or \.yml/ });
  t.match(await template('docs', 'x'), { status: 2 });
});

test('check prints each problem with its place', async (t) => {
  const folder = t.testdir({
    'good.yaml': 'operations: [{drop: {columns: a}}]\n',
    'bad.json': '{"operations": [\n  {"op": "drop", "colums": ["a"]}, {"op": "sor"}\n]}',
  });
  writeFileSync(join(folder, 'binary.yaml'), Buffer.from([0x61, 0xff, 0xfe]));
  const [good, bad, binary] = ['good.yaml', 'bad.json', 'binary.yaml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  t.strictSame(await template('check', good), { status: 0, stdout: `${good}: sound\n`, stderr: '' });
  const checked = await template('check', good, bad);
  t.equal(checked.status, 1);
  t.strictSame(checked.stdout.split('\n').slice(1, 2), [
    `${bad}:2:18 /operations/0/colums UNKNOWN_PARAMETER Unknown parameter "colums" of drop. Did you mean "columns"?`,
  ]);
  t.match(checked.stdout.split('\n')[2]!, `${bad}:2:36 /operations/1 UNKNOWN_OPERATION There is no operation "sor".`);
  const json = await template('check', '--json', bad);
  t.match(JSON.parse(json.stdout), {
    file: bad,
    problems: [{ pointer: '/operations/0/colums', line: 2, column: 18 }, {}],
  });
  t.match(await template('check', binary), { status: 1, stdout: /:1:1 \/ SYNTAX A Template is text in UTF-8/ });
});

test('explain, schema and docs', async (t) => {
  const folder = t.testdir({
    'a.yaml': `
input: {columns: [{name: amount, match: [Betrag]}, {name: note, required: false}]}
operations:
  - rename: {columns: {amount: total}}
  - {op: select, columns: [total, id]}
output: {format: ndjson}
`,
    'bad.yaml': 'nam: x',
  });
  const explained = await template('explain', join(folder, 'a.yaml'));
  t.equal(explained.status, 0);
  for (const line of [
    '  "amount", also "Betrag"',
    '  "id" (read by an operation)',
    '  "note"; without it a column of nulls',
    '  2. select at /operations/1 [R row by row]',
    '  ndjson: "total" text, "id" text',
    'Streams: rows come out while the file is still read.',
  ]) {
    t.ok(explained.stdout.split('\n').includes(line), line);
  }
  const json = await template('explain', '--json', join(folder, 'a.yaml'));
  t.match(JSON.parse(json.stdout), { streams: true, output: { columns: [{ name: 'total', type: 'text' }, {}] } });
  t.match(await template('explain', join(folder, 'bad.yaml')), { status: 1, stdout: '', stderr: /UNKNOWN_KEY/ });
  const schema = JSON.parse((await template('schema')).stdout) as { $schema: string; $defs: object };
  t.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
  t.ok('rename' in schema.$defs);
  t.match((await template('docs')).stdout, /^# Reference of Templates\n/);
});

const TESTED = `
operations:
  - {op: text, columns: name, steps: [trim]}
  - {op: select, columns: [id, name]}
output: {csv: {line_ending: crlf}}
tests:
  - {name: rows, input: {text: "name,id,x\\n a ,1,\\n b,02,\\n"}, expect: {rows: [{id: 1, name: a}, {id: "02", name: b}]}}
  - {name: text, input: {text: "name;id\\n a ;1\\n", delimiter: ";"}, expect: {text: "id,name\\n1,a\\n"}}
  - {name: bytes, input: {file: in.csv}, expect: {file: out.csv, match: bytes}}
  - {name: subset, input: {file: in.csv}, expect: {rows: [{name: b}], match: subset}}
  - {name: report, input: {file: in.csv}, expect: {report: {rows_read: 2, rows_written: 2}}}
  - {name: error, input: {text: "x,y\\n1,2\\n"}, expect: {error: TEMPLATE_COLUMNS_MISSING}}
`;

test('test runs the tests of a Template on the engine', async (t) => {
  const folder = t.testdir({
    'good.yaml': TESTED,
    'bad.yaml': TESTED.replace('[{id: 1, name: a}', '[{id: 1, name: c}')
      .replace('rows_read: 2', 'rows_read: 3')
      .replace('COLUMNS_MISSING', 'ROW_ERROR')
      .replace('{file: in.csv}, expect: {file', '{file: no.csv}, expect: {file')
      .replace('"id,name\\n1,a\\n"', '"id,name\\n2,a\\n"'),
    'none.yaml': 'operations: []',
    'in.csv': 'id,name\n1,a\n2,b\n',
    'out.csv': 'id,name\r\n1,a\r\n2,b\r\n',
  });
  const good = await template('test', join(folder, 'good.yaml'));
  t.equal(good.status, 0, good.stdout);
  t.equal(good.stdout.match(/^ok /gm)?.length, 6);
  const bad = await template('test', join(folder, 'bad.yaml'));
  t.equal(bad.status, 1);
  t.equal(bad.stdout.match(/^FAILED /gm)?.length, 5, bad.stdout);
  for (const line of [
    '  -{"id": "1", "name": "c"}',
    '  +{"id": "1", "name": "a"}',
    '  -2,a',
    '  +1,a',
    '  report.rows_read: expected 3, is 2',
  ]) {
    t.ok(bad.stdout.split('\n').includes(line), line);
  }
  t.match(bad.stdout, /expected TEMPLATE_ROW_ERROR, but TEMPLATE_COLUMNS_MISSING/);
  t.match(bad.stdout, /cannot be read/);
  t.match(await template('test', join(folder, 'none.yaml')), { status: 0, stdout: /no tests/ });
});

test('a number in expected rows is a value: YAML drops the zeros of 1.50', async (t) => {
  const source = (row: string, match = 'exact'): string =>
    `operations: []\ntests:\n  - {name: one, input: {text: "a,b\\n1.50,x\\n"}, expect: {rows: [${row}], match: ${match}}}\n`;
  const folder = t.testdir({
    'same.yaml': source('{a: 1.50, b: x}'),
    'subset.yaml': source('{a: 1.50}', 'subset'),
    'other.yaml': source('{a: 1.51, b: x}'),
    'text.yaml': source('{a: "1.5", b: x}'),
  });
  const statusOf = async (name: string): Promise<number | null> => (await template('test', join(folder, name))).status;
  t.strictSame(await Promise.all(['same.yaml', 'subset.yaml', 'other.yaml', 'text.yaml'].map(statusOf)), [0, 0, 1, 1]);
});

test('differences of lines', async (t) => {
  t.strictSame(lineDiff('a\nb\nc\nd', 'a\nc\nx\nd'), ['@ line 2', ' a', '-b', ' c', '+x', ' d']);
  t.strictSame(lineDiff('', 'a'), ['@ line 1', '+a']);
  const long = Array.from({ length: 5_000 }, (_, index) => `${index}`);
  const found = lineDiff(long.join('\n'), [...long].reverse().join('\n'));
  t.ok(found.length <= 42);
  t.match(found.at(-1)!, /more lines$/);
});
