// The report of a Run that ended before its last row: the counts of its operations do not depend on the batches.
import { test } from 'tap';
import { applyTemplate, type Limits } from '../apply-template.ts';

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
  test(`after ${code} the report counts nothing for operations`, async (t) => {
    for (const batchRowsMax of [1, 7, 4_096]) {
      const template = { input: { csv: { delimiter: ',' } }, operations: OPERATIONS };
      const { outcome } = await applyTemplate(template, text, batchRowsMax, {}, limits);
      t.equal(outcome.failure?.code, code);
      t.match(outcome.report.operations, [NOTHING, NOTHING]);
      for (const { errors } of outcome.report.operations) t.strictSame(errors, {});
    }
  });
}
