// `head` prints the first rows of a file as a table.
import { join } from 'node:path';
import t from 'tap';
import { cli } from './command-line.ts';

const folder = t.testdir({ 'a.csv': 'name;n\nZoë;1\nB;20\nC;3\n', 'lines.json': '[{"a": 1.50}, {"a": null}]' });
const at = (name: string): string => join(folder, name);

t.test('the first rows', async (t) => {
  t.match(await cli('head', '-n', '2', at('a.csv')), {
    status: 0,
    stdout: 'name   n\nZoë    1\nB     20\n',
    stderr: /^$/,
  });
  t.match(await cli('head', at('lines.json')), { status: 0, stdout: /1\.50/ });
  t.match((await cli('head', at('a.csv'), '--delimiter', ',', '--header-row', '1')).stdout, /^Zoë;1\n/);
});

t.test('mistakes', async (t) => {
  t.match(await cli('head'), { status: 2, stderr: /Write one file/ });
  t.match(await cli('head', at('a.csv'), at('a.csv')), { status: 2, stderr: /Write one file/ });
  t.match(await cli('head', 'bank.yaml'), { status: 2, stderr: /head: bank\.yaml is a Template: / });
  t.match(await cli('head', '-n', '0', at('a.csv')), { status: 2, stderr: /--rows takes a number from 1 to 10000/ });
  t.match(await cli('head', at('none.csv')), { stdout: '', stderr: /does not exist/ });
});
