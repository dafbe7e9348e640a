// Steps receive whole batches although stop_when may end the rows at any row: output, rejects, report and failure are
// those of a Run that receives its rows one by one.
// With all tests only: work and memory of large inputs.
import t from 'tap';
import type { RunWatch } from '../../../workers/run/run-job.ts';
import { applyTemplate } from '../apply-template.ts';

const ROWS = 3000;
const LAST = 1700;
/** A row after the end, in the same batch. Its number is invalid, and its text is too long for `window`. */
const BAD = 2100;
const LONG = 'x'.repeat(1_500_000);

function inputOf(bad: string, text = ''): string {
  const lines = Array.from({ length: ROWS }, (_, row) => {
    const value = row % 3 === 0 ? '' : `v${row}`;
    const isBad = row === BAD || row === BAD + 1 || row === BAD + 2;
    return `g${row % 50},${value},${isBad ? bad : row},${row % 7}|${row % 5},${isBad ? text : `t${row}`}\n`;
  });
  return `g,v,n,parts,t\n${lines.join('')}`;
}

const CAST = { cast: { columns: { n: 'integer' } } };
const REJECT = { cast: { columns: { n: 'integer' }, on_error: 'reject' } };
const FILL = { fill_down: { columns: 'v', group_by: 'g' } };
const COUNT = { window: { columns: [{ fn: 'row_number', as: 'k' }] } };
const BEFORE = { window: { columns: [{ fn: 'previous', column: 't', offset: 3, as: 'before' }] } };
const EXPLODE = { explode: { column: 'parts', separator: '|' } };
const STOP = { stop_when: { where: `v == "v${LAST}"` } };

interface Case {
  readonly operations: readonly object[];
  readonly input?: string;
  /** Number of rows that each step receives, if all of them are known. */
  readonly rowsIn?: readonly number[];
  /** Code of the failure with which the Run ends. */
  readonly fails?: string;
}

const CASES: Readonly<Record<string, Case>> = {
  'the column that stop_when reads is filled in groups': { operations: [FILL, STOP] },
  'the row of the end is part of the output': {
    operations: [FILL, { stop_when: { where: `v == "v${LAST}"`, include: true } }],
  },
  'the column is new': { operations: [COUNT, { stop_when: { where: `k == ${LAST}` } }], rowsIn: [LAST, LAST] },
  'several operations with state': { operations: [FILL, COUNT, FILL, { stop_when: { where: `k == ${LAST}` } }] },
  'rows from exploded cells': { operations: [EXPLODE, FILL, COUNT, { stop_when: { where: `k == ${LAST}` } }] },
  'rows from exploded cells after a step with state': {
    operations: [COUNT, EXPLODE, FILL, { stop_when: { where: `k == ${LAST}` } }],
  },
  'after a sort': {
    operations: [
      { sort: { by: [{ column: 't', order: 'desc' }] } },
      COUNT,
      FILL,
      { stop_when: { where: `k == ${LAST}` } },
    ],
    rowsIn: [ROWS, LAST, LAST, LAST],
  },
  'exploded before a sort': {
    operations: [EXPLODE, { sort: { by: 'parts' } }, COUNT, { stop_when: { where: `k == ${LAST}` } }],
    rowsIn: [ROWS, 2 * ROWS, LAST, LAST],
  },
  'before and after a sort': {
    operations: [FILL, STOP, { sort: { by: 't' } }, COUNT, { stop_when: { where: 'k == 900' } }],
    rowsIn: [LAST + 1, LAST + 1, LAST, 900, 900],
  },
  'two ends, the later one first': {
    operations: [{ stop_when: { where: `n == "${ROWS - 5}"` } }, FILL, STOP],
  },
  'two ends, the first one first': {
    operations: [{ stop_when: { where: 'n == "1500"' } }, FILL, STOP],
  },
  'an end and a limit': { operations: [FILL, STOP, { slice: { limit: 1000 } }] },
  'no row is the end': { operations: [FILL, { stop_when: { where: 'v == "none"' } }] },
  'a bad row after the end': { operations: [CAST, FILL, STOP], input: inputOf('bad') },
  'a bad row after the end is rejected': { operations: [REJECT, FILL, STOP], input: inputOf('bad') },
  'a bad row before the end': {
    operations: [CAST, FILL, { stop_when: { where: 'v == "v2500"' } }],
    input: inputOf('bad'),
    fails: 'TEMPLATE_ROW_ERROR',
  },
  'a row that is too large for an operation after the end': {
    operations: [BEFORE, FILL, STOP],
    input: inputOf('1', LONG),
  },
  'a row that is too large for an operation before the end': {
    operations: [BEFORE, FILL, { stop_when: { where: 'v == "v2500"' } }],
    input: inputOf('1', LONG),
    fails: 'RUN_RESOURCE_LIMIT',
  },
};

for (const [title, { operations, input = inputOf('1'), rowsIn, fails = null }] of Object.entries(CASES)) {
  t.test(title, async (t) => {
    const single = await applyTemplate({ operations }, input, 1);
    t.equal(single.outcome.failure?.code ?? null, fails);
    const received = single.outcome.report.operations.map(({ rows_in }) => rows_in);
    if (rowsIn !== undefined) t.strictSame(received, rowsIn);
    for (const [name, rows] of [
      ['whole batches', 4096],
      ['small batches', 37],
    ] as const) {
      const whole = await applyTemplate({ operations }, input, rows);
      t.strictSame(whole.outcome.failure, single.outcome.failure, name);
      t.ok(whole.text === single.text, `${name}: the same output`);
      t.strictSame(whole.outcome.report, single.outcome.report, name);
    }
  });
}

t.test('rows before the end arrive in whole batches', async (t) => {
  let batches = 0;
  const watch: RunWatch = {
    continuesAfterFailure: false,
    rowsMax: Number.POSITIVE_INFINITY,
    pickedRows: null,
    begin: () => undefined,
    rows: (step) => {
      if (step === 1) batches++;
    },
    passed: () => undefined,
    rowError: () => undefined,
  };
  await applyTemplate({ operations: [FILL, STOP] }, inputOf('1'), 1000, {}, { watch });
  t.ok(batches < LAST / 100, `${batches} batches`);
});
