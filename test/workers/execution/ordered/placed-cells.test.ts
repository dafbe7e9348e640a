// Cells made by window functions return to their rows: written at their positions, or sorted by position, with the same bytes.
import { test } from 'tap';
import { applyTemplate } from '../../apply-template.ts';

const ROWS = 9_001;

/** Sums exceed 64 bits from the second row of a group on. */
const LARGE = 9_223_372_036_854_775_807n;

const groupOf = (row: number): string => `g${(row * 7) % 5}`;
/** The order within groups differs from that of the file. */
const orderOf = (row: number): number => (row * 7919) % ROWS;

const template = (columns: readonly object[]) => ({
  operations: [
    { op: 'parse_number', columns: ['order'], type: 'integer' },
    { op: 'parse_number', columns: ['amount'] },
    { op: 'window', partition_by: 'g', order_by: 'order', columns },
  ],
});
const SUMS = [
  { fn: 'running_sum', column: 'amount', as: 'sum' },
  { fn: 'rank', as: 'rank' },
];

/** The result of both functions by definition: rows of `g,order,amount,sum,rank` in the order of the file. */
function expected(amountOf: (row: number) => bigint): string {
  const cells = new Map<number, string>();
  const rows = Array.from({ length: ROWS }, (_, row) => row).sort((a, b) => orderOf(a) - orderOf(b));
  const sums = new Map<string, { sum: bigint; rank: number }>();
  for (const row of rows) {
    const { sum, rank } = sums.get(groupOf(row)) ?? { sum: 0n, rank: 0 };
    const now = { sum: sum + amountOf(row), rank: rank + 1 };
    sums.set(groupOf(row), now);
    cells.set(row, `${now.sum},${now.rank}`);
  }
  const lines = Array.from(
    { length: ROWS },
    (_, row) => `${groupOf(row)},${orderOf(row)},${amountOf(row)},${cells.get(row)}`,
  );
  return `g,order,amount,sum,rank\n${lines.join('\n')}\n`;
}

const fileOf = (amountOf: (row: number) => bigint): string =>
  `g,order,amount\n${Array.from({ length: ROWS }, (_, row) => `${groupOf(row)},${orderOf(row)},${amountOf(row)}\n`).join('')}`;

const AMOUNTS = [
  ['small numbers', (row: number) => BigInt(row % 100) - 50n],
  ['some beyond 64 bits', (row: number) => (row % 5000 === 0 ? LARGE : 0n)],
  ['more of them than are kept beside their places', () => LARGE],
] as const;

for (const [name, amountOf] of AMOUNTS) {
  test(`sums and ranks: ${name}`, async (t) => {
    const input = fileOf(amountOf);
    const right = expected(amountOf);
    for (const limits of [{}, { spills: true }]) {
      for (const batchRows of [4096, 100]) {
        const { text, outcome } = await applyTemplate(template(SUMS), input, batchRows, {}, limits);
        t.equal(outcome.failure, null);
        t.ok(text === right, `batches of ${batchRows}${'spills' in limits ? ', in files' : ''}`);
      }
    }
  });
}

test('functions that look ahead come to the same, also beside texts, which are sorted by their places', async (t) => {
  const [, amountOf] = AMOUNTS[0];
  const ahead = [{ fn: 'next', column: 'order', as: 'next' }, ...SUMS];
  const withText = [...ahead, { fn: 'first', column: 'g', as: 'name' }];
  const alone = await applyTemplate(template(ahead), fileOf(amountOf));
  const beside = await applyTemplate(template(withText), fileOf(amountOf));
  const lines = alone.text!.trimEnd().split('\n');
  const named = lines.map((line, index) => `${line},${index === 0 ? 'name' : line.split(',')[0]}`);
  t.equal(lines.length, ROWS + 1);
  t.ok(beside.text === `${named.join('\n')}\n`);
});
