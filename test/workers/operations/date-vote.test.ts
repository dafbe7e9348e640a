// parse_date with column_vote: all rows of the column decide, for all batch sizes and with rows kept in files.
import { test } from 'tap';
import { parseDate } from '../../../workers/operations/parse-date.ts';
import { applyTemplate } from '../apply-template.ts';
import { runOperation } from './harness.ts';

const VOTE = { op: 'parse_date', columns: ['d'], formats: ['dd/MM/yyyy', 'MM/dd/yyyy'], ambiguous: 'column_vote' };

const read = (texts: readonly (string | null)[], operation: object = {}) =>
  runOperation(
    parseDate,
    { ...VOTE, ...operation },
    { columns: ['d'], rows: texts.map((text) => [text]) },
    {
      batchRows: 2,
    },
  );

test('the pattern that reads most cells reads the column', async (t) => {
  const american = read(['01/02/2026', '03/04/2026', null, ' 05/13/2026 ']);
  t.same(american.rows, [['2026-01-02'], ['2026-03-04'], [null], ['2026-05-13']]);
  const british = read(['01/02/2026', '13/02/2026']);
  t.same(british.rows, [['2026-02-01'], ['2026-02-13']]);
  t.same(read(['01/02/2026']).rows, [['2026-02-01']], 'of equal ones the first');
  t.same(read([]).rows, []);
  t.same(read([null, '']).rows, [[null], [null]], 'no cell votes');
  const mixed = read(['13/02/2026', '14/02/2026', '02/15/2026', 'x']);
  t.same(mixed.rows, [['2026-02-13'], ['2026-02-14'], [null], [null]], 'never in two orders');
  t.same(mixed.errors.NOT_A_DATE?.rows, [3, 4]);
});

test('only the rows of `where` vote and are read', async (t) => {
  const rows = [
    ['01/13/2026', 'no'],
    ['01/14/2026', 'no'],
    ['01/02/2026', 'yes'],
    ['28/02/2026', 'yes'],
  ];
  const operation = { ...VOTE, where: 'use == "yes"', into: 'day' };
  const made = runOperation(parseDate, operation, { columns: ['d', 'use'], rows }, { batchRows: 3 });
  t.same(
    made.rows.map((row) => row[2]),
    [null, null, '2026-02-01', '2026-02-28'],
  );
});

test('the last row of many may decide, in files too', async (t) => {
  const rows = Array.from({ length: 20_000 }, (_, n) => [`${n}`, `0${1 + (n % 9)}/0${1 + (n % 7)}/2026`]);
  rows.push(['last', '12/31/2026']);
  const expected = rows.map(([n, text]) => [n, `2026-${text!.slice(0, 2)}-${text!.slice(3, 5)}`]);
  for (const way of [{ batchRows: 1000 }, { batchRows: 999, budgetBytes: 300_000, sparse: true }]) {
    const made = runOperation(parseDate, VOTE, { columns: ['n', 'd'], rows }, way);
    t.ok(JSON.stringify(made.rows) === JSON.stringify(expected), JSON.stringify(way));
    t.equal(made.spilled, 'budgetBytes' in way);
    t.equal(made.sources.at(-1), 20_001);
  }
});

test('in a Template: errors are the first row, flags are kept, the check asks for it', async (t) => {
  const input = 'd,x\n01/02/2026,1\n01/31/2026,2\n31/01/2026,3\n12/31/2026,4\n32/01/2026,5\n';
  const failed = await applyTemplate({ operations: [VOTE] }, input);
  t.match(failed.outcome.failure, { code: 'TEMPLATE_ROW_ERROR', message: /NOT_A_DATE in row 3 of the data/ });
  for (const batchRows of [1, 2, 1000]) {
    const flagged = await applyTemplate({ operations: [{ ...VOTE, on_error: 'flag' }] }, input, batchRows);
    const rows = ['2026-01-02,1,', '2026-01-31,2,', ',3,d:NOT_A_DATE', '2026-12-31,4,', ',5,d:NOT_A_DATE'];
    t.equal(flagged.text, `d,x,_issues\n${rows.join('\n')}\n`);
  }
  const { ambiguous: _, ...without } = VOTE;
  await t.rejects(applyTemplate({ operations: [without] }, input), /AMBIGUOUS_FORMATS.*column_vote/s);
});
