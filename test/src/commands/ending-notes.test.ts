// Notes about a file name whose extension does not match the format.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { cli } from './command-line.ts';

const NOTE =
  /^note: \S+report\.xlsx will contain csv, as the Template says\. For xlsx, write output: \{format: xlsx\} in the Template\.\n/;

test('run says that a file will not be what its ending says', async (t) => {
  const template = (format: string): string => `{"format": 1, "name": "copy", "output": {"format": "${format}"}}`;
  const folder = t.testdir({
    'csv.json': template('csv'),
    'ndjson.json': template('ndjson'),
    'tabs.json': '{"format": 1, "name": "copy", "output": {"format": "csv", "csv": {"delimiter": "\\t"}}}',
    'in.csv': 'a,b\n1,2\n',
    folder: {},
  });
  const path = (name: string): string => join(folder, name);
  const run = (format: string, ...more: readonly string[]): ReturnType<typeof cli> =>
    cli('run', path(`${format}.json`), path('in.csv'), ...more);
  const wrong = await run('csv', '-o', path('report.xlsx'));
  t.match(wrong, { status: 0, stderr: NOTE });
  t.equal(readFileSync(path('report.xlsx'), 'utf8'), 'a,b\n1,2\n', 'it is written all the same');
  for (const [format, name] of [
    ['csv', 'report.csv'],
    ['csv', 'REPORT.CSV'],
    ['csv', 'report.txt'],
    ['csv', 'report'],
    ['csv', 'report.constructor'],
    ['csv', 'folder'],
    ['tabs', 'report.tsv'],
    ['ndjson', 'report.jsonl'],
  ] as const) {
    const { status, stderr } = await run(format, '-o', path(name));
    t.same({ status, isNoted: stderr.includes('note:') }, { status: 0, isNoted: false }, name);
  }
  const packed = await run('csv', '-o', path('report.csv.gz'));
  t.match(
    packed.stderr,
    /^note: \S+report\.csv\.gz will contain uncompressed csv: run does not compress its outputs\.\n/,
  );
  const summary = await run('csv', '-o', path('report.xlsx'), '--json');
  t.doesNotThrow(() => JSON.parse(summary.stderr), 'lines of JSON stay lines of JSON');
  t.match(await run('csv'), { status: 0, stdout: 'a,b\n1,2\n' });
});
