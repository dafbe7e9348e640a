// Totals over all rows: exact for all batch sizes, and reported as the Template specifies.
import { test } from 'tap';
import { checkTotals } from '../../../workers/operations/check-totals.ts';
import { RunErrors } from '../../../workers/run/row-errors.ts';
import { runOperation } from './harness.ts';

const NO_DEFAULTS = { onError: 'fail', flagColumn: '_issues', maxErrors: null, maxErrorRatio: null } as const;

function failed(checks: readonly object[], batchRows: number): number {
  const rows = Array.from({ length: 1000 }, (_, n) => [n % 3 === 0 ? null : '0.10', String(n)]);
  const input = { columns: ['a', 'Row No'], types: ['decimal', 'integer'] as const, rows };
  const made = runOperation(checkTotals, { op: 'check_totals', checks }, input, { batchRows });
  if (made.problems.length > 0) throw new Error(made.problems.join());
  return made.failedChecks.length;
}

test('totals hold or fail, whatever the batches', async (t) => {
  const cases: [check: object, fails: boolean][] = [
    [{ expr: 'sum(a)', equals: '66.60' }, false],
    [{ expr: 'sum(a)', equals: 66.61 }, true],
    [{ expr: 'sum(a)', equals: 66.61, tolerance: '0.01' }, false],
    [{ expr: 'count()', equals: 1000 }, false],
    [{ expr: 'count_values(a)', between: [666, 666] }, false],
    [{ expr: 'max(`Row No`) - min(`Row No`)', equals: 999 }, false],
    [{ expr: 'max(`Row No`) + count()', between: [0, 1998] }, true],
    [{ expr: '- sum(a)', equals: '-66.6' }, false],
  ];
  for (const [check, fails] of cases) {
    for (const batchRows of [1, 7, 1000]) t.equal(failed([check], batchRows), fails ? 1 : 0, JSON.stringify(check));
  }
  const wrong = ['sum()', 'count(a)', 'sum(a) sum(a)', 'sum(a) * 2', 'first(a)', 'sum(t)'];
  for (const expr of wrong) {
    const given = { op: 'check_totals', checks: [{ expr, equals: 0 }] };
    const input = { columns: ['a', 't'], types: ['decimal', 'text'] as const, rows: [] };
    t.equal(runOperation(checkTotals, given, input).problems.length, 1, expr);
  }
});

test('a row that ends the Run is reported before a total', async (t) => {
  const errors = new RunErrors();
  errors.failCheck(2, 'late');
  errors.failCheck(1, 'early');
  t.same(errors.verdict(NO_DEFAULTS, 5), { code: 'TEMPLATE_CHECK_FAILED', message: 'early' });
  const row = { sourceRow: 3, step: 4, operation: 'set', column: null, code: 'EXPR_TYPE', message: null } as const;
  errors.note(4, row);
  t.equal(errors.verdict(NO_DEFAULTS, 5)?.code, 'TEMPLATE_ROW_ERROR');
});
