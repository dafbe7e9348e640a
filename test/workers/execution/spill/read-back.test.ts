// Rows and values that were in files are unchanged when they are read back: decimals beyond 64 bits in parts of batches, rows of
// increasing length, rows that are held back in small batches, and the values of metrics.
// With all tests only: work and memory of large inputs.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { skipUnlessLong } from '../../../sweep.ts';
import { applyTemplate } from '../../apply-template.ts';

const COMMAND = fileURLToPath(new URL('../../../../src/cli.js', import.meta.url));

/** The batch size of a worker thread. */
const BATCH_ROWS = 4096;

/** Twenty-six digits, which do not fit 64 bits. */
const big = (row: number): string => `${10n ** 25n + BigInt(row) * 7n ** 20n}`;

const id = (row: number): string => String(row).padStart(6, '0');

const csv = (header: string, count: number, row: (row: number) => string): string =>
  `${header}\n${Array.from({ length: count }, (_, index) => `${row(index)}\n`).join('')}`;

test('large decimals in parts of batches that were read back', { skip: skipUnlessLong }, async (t) => {
  const text = 'x'.repeat(150);
  for (const isBig of [(row: number) => row % 2048 === 0, (row: number) => row % 2048 < 200, () => true]) {
    const file = csv(
      'id,k,v,t',
      6000,
      (row) => `${id(row)},k${(row * 7919) % 5000},${isBig(row) ? big(row) : row},${text}`,
    );
    for (const step of [
      { op: 'fill_up', columns: ['v'] },
      {
        op: 'window',
        columns: [
          { fn: 'previous', column: 'v', as: 'before' },
          { fn: 'previous', column: 't', as: 'above' },
        ],
      },
    ]) {
      const operations = [
        { op: 'parse_number', columns: 'v' },
        step,
        { op: 'set', columns: { u: 'id + "-" + k + "-" + id + "-" + t + id' } },
        { op: 'sort', by: ['id'] },
        { op: 'filter', where: 'id != "x"' },
        { op: 'select', columns: ['id', 'v'] },
      ];
      const meant = csv('id,v', 6000, (row) => `${id(row)},${isBig(row) ? big(row) : row}`);
      for (const spills of [false, true]) {
        const made = await applyTemplate({ format: 1, operations }, file, BATCH_ROWS, {}, { spills });
        t.equal(made.text, meant, `${step.op}, ${spills ? 'with' : 'without'} files`);
      }
    }
  }
});

test('rows that become longer and longer', { skip: skipUnlessLong }, async (t) => {
  const folder = t.testdir({
    'longer.json': JSON.stringify({
      format: 1,
      operations: [
        { op: 'set', columns: { t: 'pad_left("x", 300000 + int(n) * 16, "y")' } },
        { op: 'window', columns: [{ fn: 'next', column: 'n', as: 'then' }] },
        { op: 'set', columns: { s: 'size(t)' } },
        { op: 'drop', columns: ['t'] },
      ],
    }),
    'in.csv': csv('n', 300, String),
  });
  const args = [COMMAND, 'run', join(folder, 'longer.json'), join(folder, 'in.csv'), '--memory-budget', '52MiB'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  t.equal(status, 0, stderr);
  t.equal(
    stdout,
    csv('n,then,s', 300, (row) => `${row},${row === 299 ? '' : row + 1},${300_000 + row * 16}`),
  );
});

test('few rows of each batch are held back without a file for each', {
  skip: process.platform === 'win32',
}, async (t) => {
  const folder = t.testdir({
    'last.json': JSON.stringify({
      format: 1,
      operations: [
        { op: 'filter', where: 'int(n) % 4000 == 7' },
        { op: 'slice', skip_last: 70 },
      ],
    }),
    'in.csv': csv('n', 400_000, String),
  });
  const run = `ulimit -n 80; exec "$0" "$@"`;
  const args = ['-c', run, process.execPath, COMMAND, 'run', join(folder, 'last.json'), join(folder, 'in.csv')];
  const { status, stdout, stderr } = spawnSync('/bin/sh', args, { encoding: 'utf8' });
  t.equal(status, 0, stderr);
  t.equal(
    stdout,
    csv('n', 30, (row) => String(row * 4000 + 7)),
  );
});

test('metrics over large decimals that do not fit memory', { skip: skipUnlessLong }, async (t) => {
  const file = csv('k,v', 80_000, (row) => `${row % 3},${big((row * 31) % 40_000)}`);
  const metrics = ['mode', 'median', 'count_distinct', 'min', 'max'].map((fn) => ({ fn, column: 'v', as: fn }));
  const operations = [
    { op: 'parse_number', columns: 'v' },
    { op: 'aggregate', group_by: ['k'], metrics },
  ];
  const free = await applyTemplate({ format: 1, operations }, file);
  const spilled = await applyTemplate({ format: 1, operations }, file, BATCH_ROWS, {}, { spills: true });
  t.equal(spilled.text, free.text);
  t.equal(free.text?.split('\n').length, 5);
});

test('a row that continues in the next batch is counted once', async (t) => {
  const operations = [{ op: 'merge_rows', when: 'd == null', join: ['t'] }];
  const { text, outcome } = await applyTemplate({ format: 1, operations }, 'd,t\n1,a\n2,b\n,c\n');
  t.equal(text, 'd,t\n1,a\n2,b c\n');
  t.equal(outcome.report.operations[0]?.cells_changed, 1);
});

test('NaN is one value, however it was made', async (t) => {
  const operations = [
    { op: 'cast', columns: { v: 'number' } },
    { op: 'set', columns: { x: 'v == 0.0 ? v / v : (v == 1.0 ? double("NaN") : v)' } },
    {
      op: 'aggregate',
      group_by: ['x'],
      metrics: [
        { fn: 'count', as: 'n' },
        { fn: 'count_distinct', column: 'x', as: 'd' },
      ],
    },
    { op: 'sort', by: ['x'] },
  ];
  const { text } = await applyTemplate({ format: 1, operations }, 'v\n0\n1\n2\n0\n1\n');
  t.equal(text, 'x,n,d\n2,1,1\nNaN,4,1\n');
});
