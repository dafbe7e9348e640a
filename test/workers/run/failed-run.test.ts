// A Run that fails: its failure and its report depend on the rows, not on the batches or on rows in files.
import { test } from 'tap';
import { type Noise, noise } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { type Applied, applyTemplate, type Limits } from '../apply-template.ts';

const RUNS = sweep({ short: 60, long: 1_500 });
const BATCH_ROWS = [1, 7, 50, 4_096];
const CSV = { csv: { delimiter: ',', header_row: 0 } };

const OPERATIONS = [
  { op: 'parse_number', columns: 'a', on_error: 'blank' },
  { op: 'filter', where: 'a != 3' },
];
const ROWS = 'a\n1\nx\n3\n4\n'.concat('5\n'.repeat(2_000));
const NOTHING = { rows_in: 0, rows_out: 0, cells_changed: 0, errors: {} };

const CASES: readonly { readonly code: string; readonly text: string; readonly limits: Limits }[] = [
  { code: 'MALFORMED_FILE', text: `${ROWS}"6\n`, limits: {} },
  { code: 'RUN_RESOURCE_LIMIT', text: ROWS, limits: { outputBytesMax: 1_000 } },
];

for (const { code, text, limits } of CASES) {
  test(`after ${code} the report counts nothing for operations, and all rows of the file`, async (t) => {
    for (const batchRowsMax of BATCH_ROWS) {
      const { outcome } = await applyTemplate({ input: CSV, operations: OPERATIONS }, text, batchRowsMax, {}, limits);
      t.equal(outcome.failure?.code, code);
      t.match(outcome.report.operations, [NOTHING, NOTHING]);
      for (const { errors } of outcome.report.operations) t.strictSame(errors, {});
      if (code === 'RUN_RESOURCE_LIMIT') t.equal(outcome.report.rows_read, 2_004);
    }
  });
}

/** Code and row of the failure, for all batch sizes. */
async function failures(template: object, text: string, limits: Limits): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const batchRowsMax of BATCH_ROWS) {
    const { outcome } = await applyTemplate({ input: CSV, ...template }, text, batchRowsMax, {}, limits);
    found.add(`${outcome.failure?.code} ${outcome.failure?.place?.row ?? '-'} ${outcome.report.rows_read}`);
  }
  return [...found];
}

test('the earlier row decides between an error in a row and an output that is too large', async (t) => {
  const operations = [{ op: 'parse_number', columns: 'a' }];
  const text = (rowOfError: number) =>
    `a\n${Array.from({ length: 3_000 }, (_, row) => (row + 1 === rowOfError ? 'x' : '123456789')).join('\n')}\n`;
  const limits = { outputBytesMax: 10_002 };
  t.same(await failures({ operations }, text(1_000), limits), ['TEMPLATE_ROW_ERROR 1000 3000']);
  t.same(
    await failures({ operations }, text(1_001), limits),
    ['TEMPLATE_ROW_ERROR 1001 3000'],
    'the output is just full',
  );
  t.same(await failures({ operations }, text(1_002), limits), ['RUN_RESOURCE_LIMIT - 3000']);
  const sorted = [...operations, { op: 'sort', by: ['a'] }];
  t.same(await failures({ operations: sorted }, text(1_001), limits), ['TEMPLATE_ROW_ERROR 1001 3000']);
  t.same(await failures({ operations: sorted }, text(1_002), limits), ['RUN_RESOURCE_LIMIT - 3000']);
});

test('failures of the file come before all others', async (t) => {
  const text = `a\n${'123456789\n'.repeat(3_000)}`;
  const limits = { outputBytesMax: 500 };
  t.same(await failures({}, `${text}"1\n`, limits), ['MALFORMED_FILE - 3000']);
  t.same(await failures({}, text, { ...limits, rowsMax: 2_999 }), ['ROW_LIMIT_EXCEEDED - 3000']);
  t.same(await failures({}, text, { ...limits, rowsMax: 3_000 }), ['RUN_RESOURCE_LIMIT - 3000']);
});

test('a row with an error ends the rows of operations that need all rows', async (t) => {
  // The sum of the rows before the error is below the limit; the sum of all rows is not.
  const operations = [
    { op: 'cast', columns: { a: 'integer' } },
    { op: 'aggregate', metrics: [{ fn: 'sum', column: 'a', as: 'sum' }] },
    { op: 'validate', rules: [{ check: 'expr', expr: 'sum < 10' }] },
  ];
  t.same(await failures({ operations }, `a\n1\n2\nx\n${'5\n'.repeat(100)}`, {}), ['TEMPLATE_ROW_ERROR 3 103']);
  t.same(await failures({ operations }, `a\n1\n20\nx\n${'5\n'.repeat(100)}`, {}), ['TEMPLATE_ROW_ERROR 1 103']);
});

type Pick = <T>(some: readonly T[]) => T;

function anyOperation(next: Noise, pick: Pick, name: string): object {
  return pick<object>([
    { op: 'parse_number', columns: 'b', into: name },
    { op: 'validate', rules: [{ column: 'b', check: 'in', values: ['1', '2', '3', '4', '5', '6', '7', '8'] }] },
    { op: 'validate', rules: [{ column: 'a', check: pick(['unique', 'required', 'increasing']) }] },
    { op: 'explode', column: 'a', separator: '|', max_items: 1 + next(4) },
    { op: 'fill_up', columns: ['a'], ...pick([{}, { group_by: 'g' }]) },
    { op: 'fill_down', columns: 'a' },
    { op: 'sort', by: [pick(['a', 'b'])] },
    { op: 'dedupe', by: ['a', 'b'], keep: pick(['first', 'last']) },
    { op: 'window', columns: [{ fn: 'next', column: 'b', as: name }] },
    { op: 'filter', where: 'int(b) != 7' },
    { op: 'append_rows', rows: [{ a: 'y', b: 'z' }] },
    { op: 'merge_rows', when: 'b == "3"', join: 'a', separator: '-' },
    { op: 'stop_when', where: pick(['b == "9"', 'run.row == 40']) },
  ]);
}

function anyInput(next: Noise, pick: Pick): string {
  const rows = Array.from({ length: 1 + next(120) }, (_, row) => {
    const isOdd = next(60) === 0;
    return `${pick(['g1', 'g2'])},${pick([`k${row}`, 'p|q', '', 'long text '.repeat(3)])},${isOdd ? 'x' : next(10)}`;
  });
  return `g,a,b\n${rows.join('\n')}\n${pick(['', '', '', '"1\n'])}`;
}

test('any Run that may fail', async (t) => {
  const next = noise(5);
  const pick: Pick = (some) => some[next(some.length)]!;
  const codes = new Map<string, number>();
  for (let run = 0; run < RUNS; run++) {
    const operations = Array.from({ length: 1 + next(3) }, (_, index) => anyOperation(next, pick, `new_${index}`));
    const template = { input: CSV, operations, output: { format: pick(['csv', 'json', 'ndjson']) } };
    const input = anyInput(next, pick);
    const limits: Limits = { outputBytesMax: pick([1 + next(3_000), 100_000]), rowsMax: pick([1 + next(120), 1_000]) };
    const answers: string[] = [];
    const note = ({ text, outcome }: Applied): void => {
      answers.push(JSON.stringify([text, outcome.failure, outcome.report]));
      codes.set(outcome.failure?.code ?? 'none', (codes.get(outcome.failure?.code ?? 'none') ?? 0) + 1);
    };
    for (const batchRows of BATCH_ROWS) note(await applyTemplate(template, input, batchRows, {}, limits));
    note(await applyTemplate(template, input, 50, {}, { ...limits, spills: true }));
    const isSame = answers.every((answer) => answer === answers[0]);
    if (!isSame) t.comment(JSON.stringify({ template, input, limits }), answers);
    t.ok(isSame, `run ${run}`);
  }
  const wanted = ['none', 'MALFORMED_FILE', 'ROW_LIMIT_EXCEEDED', 'RUN_RESOURCE_LIMIT', 'TEMPLATE_ROW_ERROR'];
  for (const code of wanted) t.ok(codes.has(code), code);
});
