// `run` and `inspect` on local Parquet files.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { readParquet } from '../../workers/input/parquet/parquet-cells.ts';
import { FLAT, flatFile, ROWS } from '../../workers/input/parquet/sample-files.ts';
import { cli } from './command-line.ts';

test('inspect names the columns of the schema', async (t) => {
  const path = join(t.testdir(), 'file.parquet');
  writeFileSync(path, flatFile());
  const { status, stdout } = await cli('inspect', path);
  t.equal(status, 0);
  t.match(JSON.parse(stdout), { type: 'parquet', encoding: 'utf-8', delimiter: null, header_row: null, rows: ROWS });
  const { count, names, kinds } = JSON.parse(stdout).columns;
  t.strictSame({ count, names }, { count: FLAT.length, names: FLAT.map(({ name }) => name) });
  t.strictSame(kinds[0], { number: 240 }, 'the kinds of its cells, without nulls');
  t.equal(kinds.length, count);
  writeFileSync(path, flatFile().subarray(0, 600));
  const broken = await cli('inspect', path);
  t.equal(broken.status, 1);
  t.match(JSON.parse(broken.stdout), { error: 'MALFORMED_FILE', message: /does not end with PAR1.* at byte 596/ });
});

test('run reads and writes it', async (t) => {
  const folder = t.testdir();
  const [template, input, output] = ['template.json', 'in.parquet', 'out.parquet'].map((name) => join(folder, name));
  writeFileSync(template!, JSON.stringify({ format: 1, name: 'all', output: { format: 'parquet' } }));
  writeFileSync(input!, flatFile());
  t.equal((await cli('run', template!, input!, '-o', output!)).status, 0);
  const { rows } = await readParquet(readFileSync(output!));
  for (const [place, { name, expected }] of FLAT.entries()) {
    t.strictSame(
      rows.map((row) => row[place]?.[1]),
      rows.map((_, row) => expected(row)?.[1]),
      name,
    );
  }
});
