// The text of a report equals the result of JSON.stringify.

import { test } from 'tap';
import { type CodeCounts, type RunReport, reportText } from '../../../workers/protocol/report.ts';
import { fc } from '../../random.ts';

const count = fc.nat();
const errors = fc.dictionary(
  fc.constantFrom('NOT_A_DATE', 'RAGGED_ROW'),
  fc.record({ count, rows: fc.array(count, { maxLength: 3 }) }),
) as fc.Arbitrary<CodeCounts>;

const reports: fc.Arbitrary<RunReport> = fc.record({
  template_sha256: fc.constantFrom('ab'.repeat(32), ''),
  rows_read: count,
  rows_written: count,
  input: fc
    .record({
      type: fc.constantFrom('csv', 'tsv', ''),
      encoding: fc.constantFrom('utf-8', 'windows-1252', ''),
      delimiter: fc.constantFrom(null, ',', '\t', '"', '¦', '\u001f'),
      header_row: fc.option(count),
      errors,
    })
    .chain((input) =>
      fc.constantFrom(
        input,
        { ...input, quotes_after_space: true as const },
        { ...input, values_beside_list: 3 },
        { ...input, header_lines: 2, places: [{ row: 1, sheet: 2, sheet_row: 7 }] },
      ),
    ),
  operations: fc.array(
    fc.record({
      operation: fc.constantFrom('select', 'drop_blank_rows'),
      id: fc.option(fc.string({ unit: 'binary' })),
      rows_in: count,
      rows_out: count,
      cells_changed: fc.maxSafeNat(),
      errors,
    }),
  ),
  output: fc.record({ formulas_guarded: count }),
  tables: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
});

test('a report is written as JSON.stringify writes it', async (t) => {
  fc.assert(fc.property(reports, (report) => reportText(report) === JSON.stringify(report)));
  t.pass();
});
