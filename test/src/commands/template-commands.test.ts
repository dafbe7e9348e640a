// `template` from outside: check, test on the engine, explain, schema, docs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { lineDiff } from '../../../src/template-tests/line-diff.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { cli, type Outcome } from './command-line.ts';

async function template(...args: string[]): Promise<Outcome> {
  return cli('template', ...args);
}

test('usage', async (t) => {
  t.match(await template(), { status: 2, stderr: /Write check, test, diff, explain, draft, schema or docs/ });
  t.match(await template('chek'), { status: 2, stderr: /Did you mean "check"\?/ });
  t.match(await template('check'), { status: 2, stderr: /one or more Template files/ });
  t.match(await template('check', 'nowhere.yaml'), { status: 1, stderr: /cannot be read/ });
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
  t.strictSame(await template('check', good), { status: 0, stdout: `${good}: valid\n`, stderr: '' });
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
    'Streams: the output begins while the file is still being read.',
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

test('test compares rejected rows', { skip: skipUnlessLong }, async (t) => {
  const rejecting = (rejects: string, onError = 'reject'): string =>
    `operations: [{parse_number: {columns: n, on_error: ${onError}}}]\n` +
    `tests: [{name: apart, input: {text: "n\\n1\\nx\\n"}, expect: {text: "n\\n1\\n", rejects: "${rejects}"}}]\n`;
  const good = '_row,_operation,_column,_code,n\\n2,1 parse_number,n,NOT_A_NUMBER,x\\n';
  const folder = t.testdir({
    'good.yaml': rejecting(good),
    'bad.yaml': rejecting(good.replace(',x', ',y')),
    'none.yaml': rejecting(good, 'drop_row'),
  });
  t.match(await template('test', join(folder, 'good.yaml')), { status: 0, stdout: /^ok .*apart/m });
  const bad = await template('test', join(folder, 'bad.yaml'));
  t.match(bad, { status: 1, stdout: /rejects: -2,1 parse_number,n,NOT_A_NUMBER,y\n +rejects: \+2,1 .*,x/ });
  t.match(await template('test', join(folder, 'none.yaml')), { status: 1, stdout: /no operation .* on_error: reject/ });
});

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

test('a number in expected rows is a value: YAML drops the zeros of 1.50', { skip: skipUnlessLong }, async (t) => {
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

/** Operations in the words of SQL, pandas or spreadsheets, and the hints of `template check`. */
const FOREIGN: Readonly<Record<string, RegExp>> = {
  '{group_by: {by: a}}':
    /There is no operation "group_by"\. Write the operation aggregate, as in \{aggregate: \{group_by/,
  '{avg: {columns: a}}': /Write the operation aggregate, .*\{fn: mean,/,
  '{lag: {columns: a}}': /Write the operation window, .*\{fn: previous,/,
  '{strip: {columns: a}}': /Write the operation text, .*steps: \[trim\]/,
  '{regex: {columns: a}}': /Write the operation replace, .*mode: regex/,
  '{drop_duplicates: {}}': /Write the operation dedupe/,
  '{frobnicate: {}}': /There is no operation "frobnicate"\. Known: select, drop,/,
  '{aggregate: {columns: [a], metrics: [{fn: sum, column: b}]}}':
    /parameter "columns" of aggregate\. Did you mean "group_by"\?/,
  '{aggregate: {by: [a], metrics: [{fn: avg, column: b}]}}':
    /parameter "by" of aggregate\. Did you mean "group_by"\?.*"mode", .*Did you mean "mean"\?/s,
  '{window: {by: [a], columns: [{fn: lag, column: b}]}}': /Did you mean "partition_by"\?.*Did you mean "previous"\?/s,
  '{sort: {columns: [a]}}': /^[^\n]*parameter "columns" of sort\. Did you mean "by"\?\n$/,
  '{text: {columns: a, steps: [strip]}}': /not "strip"\. Did you mean "trim"\?/,
  "{text: {columns: a, steps: [{regex: 'a+'}]}}": /Unknown key "regex"\. Known: pad_left,/,
  "{replace: {columns: a, regex: 'a+', with: b}}":
    /"regex" of replace\. Write find: '\.\.\.' with mode: regex\..*Did you mean "replace"\?/s,
  "{set: {columns: {c: 'a ?? b'}}}": /Write coalesce\(a, b\)/,
  "{set: {columns: {c: 'a ?: b'}}}": /Write coalesce\(a, b\)/,
  "{set: {columns: {c: 'a || b'}}}": /joins conditions, but this is string\. Write a \+ b/,
  "{set: {columns: {c: 'date(a) - date(b)'}}}": /- does not take date and date\. Write days_between\(from, to\)/,
  "{set: {columns: {c: 'date(a) - 1'}}}": /Write add_days\(d, -n\)/,
  '{set: {columns: {c: "1 < int(a) <= 5"}}}': /Write a < b && b <= c\./,
  "{set: {columns: {c: 'lag(a)'}}}": /operations aggregate and window/,
  '{filter: {where: \'a =~ "x"\'}}': /Write x\.matches/,
};

test('check answers the words of other languages with those of this one', async (t) => {
  const folder = t.testdir({});
  for (const [operation, says] of Object.entries(FOREIGN)) {
    const path = join(folder, 'foreign.yaml');
    writeFileSync(path, `operations: [${operation}]\n`);
    const { status, stdout } = await template('check', path);
    t.equal(status, 1, operation);
    t.match(stdout.replaceAll(path, ''), says, operation);
  }
});

test('a column that is read and not declared is a problem where others are dropped, and with --strict', async (t) => {
  const operations = 'operations:\n  - {filter: {where: Party == "x"}}\n';
  const folder = t.testdir({
    'drop.yaml': `input:\n  other_columns: drop\n  columns: [{name: party}]\n${operations}`,
    'keep.yaml': `input:\n  columns: [{name: party}]\n${operations}`,
  });
  const [drop, keep] = [join(folder, 'drop.yaml'), join(folder, 'keep.yaml')];
  const problem = (path: string, line: number): RegExp =>
    new RegExp(
      `^${path}:${line}:\\d+ /operations/0/filter/where UNDECLARED_COLUMN .*"Party".* Did you mean "party"\\?`,
    );
  t.match(await template('check', drop), { status: 1, stdout: problem(drop, 5) });
  t.match(await template('check', '--lenient', drop), { status: 0, stdout: /: valid\n {2}note, line \d: .*"Party"/ });
  t.match(await template('check', keep), { status: 0, stdout: /: valid\n {2}note, line \d: .*"Party"/ });
  t.match(await template('check', '--strict', keep), { status: 1, stdout: problem(keep, 4) });
  t.match(await template('check', '--strict', '--lenient', keep), { status: 2 });
  const json = await template('check', '--json', drop);
  t.match(JSON.parse(json.stdout), { problems: [{ code: 'UNDECLARED_COLUMN', line: 5 }], notes: [] });
});

test('whole numbers that are divided are noted, for the fraction goes', async (t) => {
  const noted = async (expression: string): Promise<string> => {
    const cast = '  - {cast: {columns: {a: integer, b: integer, c: decimal}}}\n';
    const set = `  - {set: {columns: {x: '${expression}'}}}\n`;
    const folder = t.testdir({ 'a.yaml': `operations:\n${cast}${set}` });
    return (await template('check', join(folder, 'a.yaml'))).stdout;
  };
  for (const doubtful of [
    'a / b',
    'a / 22046',
    '100 * (a / b)',
    'a / b * 100',
    'int(n) / 3',
    '(a + b) / 2',
    '-a / 2',
    'size(n) > 3 ? a / b : 0',
    '1.5d * decimal(a / b)',
  ]) {
    t.match(await noted(doubtful), /note, line 3: With two whole numbers, \/ drops the fraction/, doubtful);
  }
  for (const meant of [
    'a / c',
    'decimal(a) / b',
    'a * 100d / b',
    'int(a / b)',
    'a / 10 * 10',
    '10 * (a / 10)',
    'a / b * b',
    'string(a / 60) + ":" + string(a % 60)',
    'a % b == 0 ? a / b : 0',
    'run.row / 100',
    '7 / 2',
  ]) {
    t.match(await noted(meant), /: valid/, meant);
    t.notMatch(await noted(meant), / note, /, meant);
  }
});

test('a text that is compared with "" is noted, for empty cells are null', async (t) => {
  const noted = async (where: string, input = ''): Promise<string> => {
    const folder = t.testdir({ 'a.yaml': `${input}operations:\n  - {filter: {where: '${where}'}}\n` });
    return (await template('check', join(folder, 'a.yaml'))).stdout;
  };
  t.match(await noted('x != ""'), /note, line 2: x != "" is also true for an empty cell.*Write !is_blank\(x\)\./);
  t.match(
    await noted('"" == row["a b"]'),
    /note, line 2: row\["a b"\] == "" is not true .* is_blank\(row\["a b"\]\)\./,
  );
  t.match(
    await noted('trim(x) != ""'),
    /note, line 2: x != "" is also true for an empty cell/,
    'trim leaves null null',
  );
  t.match(await noted('x.lower() == ""'), /note, line 2: x == "" is not true/);
  t.match(await noted('x != "a" // "b"'), /note, line 2: Text after \/\/ is a comment/);
  for (const meant of ['x != "" && x != null', '!is_blank(x) && x != ""', 'x != "a"', 'coalesce(x, "") == ""']) {
    t.notMatch(await noted(meant), / note, /, meant);
  }
  t.notMatch(await noted('x != ""', 'input: {null_values: []}\n'), / note, /, 'an empty cell is "" there');
});

test('explain says what a Template needs of a file', async (t) => {
  const explained = async (source: string): Promise<readonly string[]> => {
    const path = join(t.testdir(), 'a.yaml');
    writeFileSync(path, source);
    const { status, stdout } = await template('explain', path);
    t.equal(status, 0);
    return stdout.trimEnd().split('\n');
  };
  const file = await explained(`
input: {other_columns: drop, columns: [{name: a, match: [{pattern: ^A}, {position: 2}, B]}, {name: n, required: false}]}
operations:
  - {set: {columns: {d: "date(run.started_at)"}, id: today}}
  - {fill_down: {columns: x, if_missing: skip}}
`);
  t.strictSame(file.slice(0, 8), [
    'Required columns',
    '  "a", also pattern ^A, column 2, "B"',
    'Optional columns',
    '  "n"; without it a column of nulls',
    '  "x"; skipped without it (read by an operation)',
    'Steps',
    '  1. set "today" at /operations/0 [R row by row, depends on the day]',
    '     "a" text, "n" text, "x" text, "d" date',
  ]);
  t.equal(file.at(-1), 'The result depends on the day of the Run.');
  const pivot = await explained('operations: [{pivot: {group_by: a, names_from: b, values_from: c}}]');
  t.strictSame(pivot.slice(-4), [
    'Other columns of the file are kept unless a step removes them.',
    'The last step adds columns whose names come from its rows.',
    'Does not stream: a step needs all rows.',
    'The result does not depend on the day.',
  ]);
  t.ok((await explained('input: {other_columns: drop}')).includes('  csv: (none known)'));
  t.match(await template('explain'), { status: 2, stderr: /Write one Template file\./ });
  t.match(await template('explain', 'a.yaml', 'b.yaml'), { status: 2, stderr: /Write one Template file\./ });
  t.match(await template('schema', 'x'), { status: 2, stderr: /This action takes no arguments\./ });
});

/** Inputs and expectations of tests in a Template, with the lines that are said of each; none: it passes. */
const EXPECTATIONS: readonly (readonly [input: string, expectation: string, ...lines: readonly (string | RegExp)[]])[] =
  [
    ['a,b\n1,x\n', '{rows: [{a: 1, b: x}]}'],
    ['a\nx\n', '{rows: []}', /^the Run failed with TEMPLATE_ROW_ERROR: Operation 1 /],
    ['a\n1\n', '{error: TEMPLATE_ROW_ERROR}', 'expected TEMPLATE_ROW_ERROR, but the Run succeeded'],
    ['a\nx\n', '{error: MALFORMED_FILE}', /^expected MALFORMED_FILE, but TEMPLATE_ROW_ERROR: /],
    ['a\nx\n', '{error: TEMPLATE_ROW_ERROR, report: {rows_read: 7}}', 'report.rows_read: expected 7, is 1'],
    ['a,b\n1,x\n2,y\n', '{match: subset, rows: [{b: y}]}'],
    [
      'a,b\n1,x\n2,y\n',
      '{match: subset, rows: [{b: y}, {b: x}]}',
      'this row is not in the output, or not in this order: {"b":"x"}',
    ],
    ['a,b\n1,x\n2,y\n', '{match: subset, text: "2,y"}'],
    ['a,b\n1,x\n2,y\n', '{match: subset, text: "3,y"}', 'this line is not in the output, or not in this order: 3,y'],
    ['a,b\n1,x\n', '{match: bytes, text: "a,b\\n1,x\\n"}'],
    [
      'a,b\n1,x\n',
      '{match: bytes, text: "a,b\\r\\n1,x\\r\\n"}',
      'the texts are equal, but their bytes differ (10 bytes expected, 8 found)',
    ],
    ['a,b\n1,x\n', '{match: bytes, text: "a,b\\n2,x\\n"}', '@ line 2', ' a,b', '-2,x', '+1,x'],
    [
      'a,b\n1,x\n',
      '{report: {rows_read: 2, nothing: 1, none: {x: 1}}}',
      'report.rows_read: expected 2, is 1',
      'report.nothing: expected 1, is not there',
      'report.none is not there',
    ],
    ['a,b\n1,x\n', '{rejects: "a"}', 'no operation of the Template has on_error: reject'],
  ];

test('test says in what an outcome differs from its expectation', async (t) => {
  const folder = t.testdir();
  for (const [input, expectation, ...lines] of EXPECTATIONS) {
    const path = join(folder, 'a.yaml');
    const one = `{input: {text: ${JSON.stringify(input)}}, expect: ${expectation}}`;
    writeFileSync(path, `operations: [{parse_number: {columns: a}}]\ntests: [${one}]\n`);
    const { status, stdout } = await template('test', path);
    t.equal(status, lines.length === 0 ? 0 : 1, expectation);
    const found = stdout.split('\n').filter((line) => line.startsWith('  '));
    t.match(
      found.map((line) => line.slice(2)),
      lines,
      expectation,
    );
    t.equal(found.length, lines.length, expectation);
  }
});
