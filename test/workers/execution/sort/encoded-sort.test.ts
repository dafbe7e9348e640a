// A sort that is the last operation holds rows as bytes of the output. The answer, the report and the refusals are the same as
// for a sort before another operation, which holds rows as cells.
// With all tests only: work and memory of large inputs.
import { test } from 'tap';
import { compileKernels, instantiateKernel } from '../../../../workers/kernel/bindings/kernel.ts';
import { unlimitedShare } from '../../../../workers/memory/budget.ts';
import { GrowingBlocks } from '../../../../workers/memory/growing-blocks.ts';
import { Heap } from '../../../../workers/memory/heap.ts';
import { SpillFile } from '../../../../workers/memory/spill-file.ts';
import { type Noise, noise } from '../../../random.ts';
import { skipUnlessLong } from '../../../sweep.ts';
import { applyTemplate, type Limits } from '../../apply-template.ts';

const TEXTS = ['', 'x', 'NA', '=1+1', '-5', '-x', '+49 30', '@at', 'a b', 'é', 'zz;zz', 'null', ' pad ', '\tTab'];
const QUOTED = ['"a,b"', '"say ""now"""', '"line\nbreak"', '""', '"plain"', '"=1"', '"NA"'];

/** Rows with everything that affects a writer; some rows are short, some keys are long. */
function anyInput(rows: number, next: Noise): string {
  const lines = Array.from({ length: rows }, (_, row) => {
    const cell = (): string => (next(5) === 0 ? QUOTED[next(QUOTED.length)]! : TEXTS[next(TEXTS.length)]!);
    const amount = next(9) === 0 ? '' : `${next(2) === 0 ? '-' : ''}${next(40)}.${next(100)}`;
    const key = `${'same beginning '.repeat(next(3))}${next(50)}`;
    const cells = [String(row), key, amount, cell(), cell(), next(30) === 0 ? 'x'.repeat(next(3000)) : cell()];
    return cells.slice(0, next(40) === 0 ? 3 + next(3) : 6).join(',');
  });
  return `n,key,amount,a,b,c\n${lines.join('\n')}\n`;
}

const OUTPUTS: readonly object[] = [
  { format: 'csv' },
  { format: 'csv', formula_guard: 'strict', csv: { quoting: 'all', null: 'NA' } },
  { format: 'csv', formula_guard: 'off', csv: { delimiter: ';', quoting: 'text', line_ending: 'crlf', decimal: ',' } },
  { format: 'csv', formula_guard: 'fail' },
  { format: 'csv', columns: ['c', 'n', 'amount'] },
  { format: 'tsv', csv: { null: '-' } },
  { format: 'json' },
  { format: 'ndjson', json: { nulls: 'omit' } },
];

const ORDERS: readonly (readonly (string | object)[])[] = [
  ['key'],
  [{ column: 'amount', order: 'desc' }],
  [
    { column: 'a', nulls: 'first' },
    { column: 'key', order: 'desc', compare: 'natural' },
  ],
  [{ column: 'c', compare: 'case_insensitive' }, 'amount'],
];

const NO_CHANGE = { op: 'filter', where: 'true' };

/** Runs a Template. The report is without the operation that does nothing, the only difference between the two ways. */
async function answer(template: object, operations: object[], input: string, batchRows: number, limits: Limits) {
  const { text, outcome } = await applyTemplate({ ...template, operations }, input, batchRows, {}, limits);
  const { operations: steps, ...report } = outcome.report;
  return {
    text,
    failure: outcome.failure,
    truncated: outcome.truncated,
    rows: outcome.rowsWritten,
    report: { ...report, template_sha256: '', steps: steps.slice(0, 2) },
  };
}

test('a last sort answers as one before another operation', async (t) => {
  const next = noise(1);
  for (const [index, output] of OUTPUTS.entries()) {
    for (const [place, by] of ORDERS.entries()) {
      const template = { input: { csv: { header_row: 0 }, null_values: ['', 'NA', 'null'] }, output };
      const operations = [
        { op: 'parse_number', columns: ['amount'] },
        { op: 'sort', by },
      ];
      const input = anyInput(300 + next(300), next);
      const limits = next(3) === 0 ? { outputRowsMax: next(200) } : {};
      const expected = await answer(template, [...operations, NO_CHANGE], input, 4096, limits);
      for (const batchRows of [7, 4096]) {
        const made = await answer(template, operations, input, batchRows, limits);
        t.ok(made.text === expected.text, `output ${index}, order ${place}, ${batchRows} rows: the same bytes`);
        t.same({ ...made, text: '' }, { ...expected, text: '' }, 'and the same report');
      }
      if (index !== 3) t.not(expected.text, null, 'it is sound');
    }
  }
});

/** The first case makes more files than are read at once. */
const SPILLED = [
  { rows: 150_000, by: ORDERS[0]!, output: OUTPUTS[0]! },
  { rows: 15_000, by: ORDERS[1]!, output: OUTPUTS[0]! },
  { rows: 15_000, by: ORDERS[2]!, output: OUTPUTS[7]! },
  { rows: 15_000, by: ORDERS[3]!, output: OUTPUTS[5]! },
];

test('files change nothing', { skip: skipUnlessLong, timeout: 120_000 }, async (t) => {
  const next = noise(7);
  for (const [place, { rows, by, output }] of SPILLED.entries()) {
    const operations = [
      { op: 'parse_number', columns: ['amount'] },
      { op: 'sort', by },
    ];
    const input = anyInput(rows, next);
    const template = { input: { csv: { header_row: 0 }, null_values: ['', 'NA'] }, output };
    const expected = await answer(template, [...operations, NO_CHANGE], input, 4096, {});
    const made = await answer(template, operations, input, 4096, { spills: true });
    t.ok(made.text === expected.text, `${place}: the same bytes`);
    t.same({ ...made, text: '' }, { ...expected, text: '' });
  }
});

test('many files are merged at once where the budget let rows be held', { skip: skipUnlessLong }, async (t) => {
  const state = { spills: true, stateBytes: 3_500_000 };
  const next = noise(11);
  const rows = Array.from({ length: 90_000 }, (_, row) => `${next(1e6)},${row},${'wide '.repeat(90 + next(20))}`);
  const input = `n,row,text\n${rows.join('\n')}\n`;
  const operations = [
    { op: 'parse_number', columns: ['n'] },
    { op: 'sort', by: ['n'] },
  ];
  const { append } = SpillFile.prototype;
  const files = new Map<SpillFile, number>();
  SpillFile.prototype.append = function (this: SpillFile, bytes: Uint8Array) {
    files.set(this, (files.get(this) ?? 0) + bytes.length);
    append.call(this, bytes);
  };
  const made = await answer({ input: { csv: { header_row: 0 } } }, operations, input, 4096, state);
  SpillFile.prototype.append = append;
  const expected = rows.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  t.ok(made.text === `n,row,text\n${expected.join('\n')}\n`, 'sorted, equal ones as they came');
  t.ok(files.size > 16, `${files.size} files`);
  const times = [...files.values()].reduce((sum, bytes) => sum + bytes, 0) / input.length;
  t.ok(times < 1.1, `written ${times.toFixed(2)} times`);
});

test('rows larger than any buffer', async (t) => {
  const rows = Array.from(
    { length: 40 },
    (_, row) => `${(row * 7) % 40},${'wide '.repeat(row % 3 === 0 ? 200_000 : 3)}`,
  );
  const input = `n,text\n${rows.join('\n')}\n`;
  const template = { input: { csv: { header_row: 0 } } };
  const operations = [
    { op: 'parse_number', columns: ['n'] },
    { op: 'sort', by: ['n'] },
  ];
  const expected = rows.toSorted((a, b) => Number(a.split(',')[0]) - Number(b.split(',')[0]));
  for (const limits of [{}, { spills: true }]) {
    const made = await answer(template, operations, input, 4096, limits);
    t.ok(made.text === `n,text\n${expected.join('\n')}\n`, JSON.stringify(limits));
  }
});

test('no rows, one row, all rows equal, a key without end', async (t) => {
  const template = { input: { csv: { header_row: 0 } } };
  const operations = [{ op: 'sort', by: ['a'] }];
  const long = 'k'.repeat(700);
  const inputs = ['a,b\n', 'a,b\n1,2\n', `a,b\n${'1,2\n'.repeat(20_000)}`];
  for (const input of inputs) {
    t.ok((await answer(template, operations, input, 4096, {})).text === input);
  }
  const rows = Array.from({ length: 20_000 }, (_, row) => `${long}${(row * 7919) % 13},${row}`);
  const expected = rows.toSorted((a, b) => {
    const [x, y] = [a.split(',')[0]!, b.split(',')[0]!];
    return x < y ? -1 : x > y ? 1 : 0;
  });
  const made = await answer(template, operations, `a,b\n${rows.join('\n')}\n`, 4096, {});
  t.ok(made.text === `a,b\n${expected.join('\n')}\n`);
});

test('large records take one large block once the budget refuses', async (t) => {
  const { memory, exports } = instantiateKernel(compileKernels());
  const share = unlimitedShare();
  const limitBytes = 40_000_000;
  const take = (bytes: number): boolean => share.takenBytes + bytes <= limitBytes && share.take(bytes);
  const heap = new Heap(memory, exports.heapStart(), { ...share, take }, 0);
  const blocks = new GrowingBlocks(heap);
  const recordBytes = 30_000_000;
  for (let filled = 0; filled < limitBytes; filled += 100_000) place(blocks, 100_000);
  for (let record = 0; record < 100; record++) {
    place(blocks, 100_000);
    place(blocks, recordBytes);
  }
  t.ok(share.takenBytes < limitBytes + recordBytes * 4, `${share.takenBytes} bytes`);
});

/** Like the sorter: when the space is used up, all blocks are emptied. */
function place(blocks: GrowingBlocks, bytes: number): void {
  while (blocks.next + bytes > blocks.limit) if (!blocks.advance()) blocks.restart();
  blocks.next += bytes;
}
