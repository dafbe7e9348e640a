// The kernel's matches in texts against the engine of the pattern, as validate uses them.
import { test } from 'tap';
import { validate } from '../../../workers/operations/validate.ts';
import { runOperation } from '../operations/harness.ts';

test('patterns hold for the texts in which their engine finds them', async (t) => {
  const texts = ['AB-12', 'AB-', 'ÄB-12', 'xAB-1', '', null, 'AB-1é', 'aAB-99 ', 'ab-12'];
  const table = { columns: ['a'], rows: texts.map((text) => [text]) };
  for (const pattern of ['[A-Z]{2}-[0-9]+', '^[A-Z]{2}-([0-9]{1,2})$', 'B-1.', '(A|a)B', 'é$']) {
    const rules = [{ column: 'a', check: 'pattern', pattern, on_error: 'drop_row' }];
    const made = runOperation(validate, { op: 'validate', rules }, table, { sparse: true });
    const expected = texts.filter((text) => text === null || text === '' || new RegExp(pattern, 'u').test(text));
    t.same(
      made.rows.map(([text]) => text),
      expected,
      pattern,
    );
  }
});
