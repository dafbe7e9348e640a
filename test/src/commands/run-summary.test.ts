// The summary of `run` on standard error: how a file was read, what was left out, and what each operation changed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cli } from './command-line.ts';

const folder = t.testdir({});
const at = (name: string) => join(folder, name);

/** The lines of the summary after the first one. */
async function summary(template: string, name: string, text: string): Promise<readonly string[]> {
  writeFileSync(at('template.yaml'), template);
  writeFileSync(at(name), text);
  const { status, stderr } = await cli('run', at('template.yaml'), at(name));
  t.equal(status, 0, stderr);
  return stderr.trimEnd().split('\n').slice(1);
}

t.test('how a file was read, and what was left out', async (t) => {
  const cases: readonly (readonly [template: string, name: string, text: string, line: string])[] = [
    ['{}', 'a.csv', 'a~|~b\n1~|~2\n3~|~4\n', '  input: read with the delimiter "~|~"'],
    ['{}', 'b.csv', 'a,b\n1,"x\\"y, z"\n2,"x\\"y"\n', '  input: read with backslash escapes'],
    ['{}', 'c.csv', 'a, b\n1, "x, y"\n2, "z, \n"\n', '  input: read with quotes after spaces'],
    ['input: {csv: {nul_bytes: drop}}', 'd.csv', 'a,b\n1,x\0y\n', '  input: 1 NUL byte left out'],
    ['input: {csv: {comment: "#"}}', 'e.csv', 'a,b\n# x\n1,2\n# y\n', '  input: 2 comment lines left out'],
    [
      'input: {json: {nan: blank}}',
      'f.json',
      '[{"a": NaN}, {"a": 1}]',
      '  input: 1 value NaN or Infinity read as null',
    ],
  ];
  for (const [template, name, text, line] of cases) t.strictSame(await summary(template, name, text), [line], name);
  t.strictSame(await summary('{}', 'plain.csv', 'a,b\n1,2\n'), [], 'nothing to say');
});

t.test('what operations changed', async (t) => {
  const text = 'a,b\n1,2\n3,4\n';
  t.strictSame(await summary(`operations: [{filter: {where: "a == '1'", id: ones}}]`, 'a.csv', text), [
    '  1 filter (ones): 2 rows in, 1 out',
  ]);
  const added = 'operations: [{append_rows: {rows: [{a: x}]}}, {parse_number: {columns: a, on_error: blank}}]';
  t.match(await summary(added, 'a.csv', text), [
    '  1 append_rows: 2 rows in, 3 out',
    '  2 parse_number: 3 cells changed',
    '  2 parse_number: NOT_A_NUMBER 1 time, in rows that operations added',
  ]);
});

t.test('with --json a failed file has its code and message', async (t) => {
  writeFileSync(at('template.yaml'), 'operations: [{parse_number: {columns: a}}]');
  for (const [text, wanted] of [
    ['a,b\nx,2\n', { status: 'failed', rows_written: null, error: { code: 'TEMPLATE_ROW_ERROR', message: /row 1/ } }],
    ['a,b\n1,2\n', { status: 'succeeded', rows_written: 1, error: null }],
  ] as const) {
    writeFileSync(at('a.csv'), text);
    const { stderr } = await cli('run', '--json', at('template.yaml'), at('a.csv'));
    t.match(JSON.parse(stderr.trimEnd().split('\n').at(-1)!), { file: at('a.csv'), ...wanted });
  }
});
