// Sets of columns that match no column of a file: an error for every operation, unless no data is lost or the Template allows it.
import { test } from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';

const FILE = 'id,name\n1,a\n2,b\n2,b\n';
const NONE = { pattern: '^absent_' };

const SETS: readonly Record<string, object>[] = [
  { unpivot: { columns: NONE, names_to: 'n', values_to: 'v' } },
  { unpivot: { columns: { type: 'decimal' }, names_to: 'n', values_to: 'v' } },
  { select: { columns: NONE } },
  { aggregate: { group_by: NONE, metrics: [{ fn: 'count', as: 'n' }] } },
  { dedupe: { by: NONE } },
  { dedupe: { any_of: ['id', NONE] } },
  { drop_blank_rows: { columns: NONE } },
  { text: { columns: NONE, steps: ['trim'] } },
  { text: { columns: { except: ['id', 'name'] }, steps: ['trim'] } },
  { redact: { columns: NONE, patterns: ['email'] } },
  { fill_down: { columns: 'name', group_by: NONE } },
  { window: { partition_by: NONE, columns: [{ fn: 'row_number', as: 'n' }] } },
  { top: { n: 1, by: ['id'], group_by: NONE } },
  { reorder: { first: NONE } },
  { set: { each: NONE, expr: 'value' } },
  { merge_columns: { columns: NONE, into: 'x' } },
  { to_json: { columns: NONE, into: 'x' } },
  { round: { columns: { pattern: '^id$' }, scale: 1 } },
];

for (const operation of SETS) {
  test(JSON.stringify(operation), async (t) => {
    const { outcome } = await applyTemplate({ operations: [operation] }, FILE);
    t.equal(outcome.failure?.code, 'TEMPLATE_COLUMNS_MISSING');
    t.match(outcome.failure?.message, /operation 1 .*No column at this step matches (?:\{|"\{)/);
    t.notMatch(outcome.failure?.message, /"name"\.|The columns there/, 'without headers of the file');
  });
}

test('drop has nothing to do, and if_missing: skip leaves such columns out', async (t) => {
  for (const operation of [
    { drop: { columns: NONE } },
    { text: { columns: NONE, steps: ['upper'], if_missing: 'skip' } },
    { dedupe: { by: NONE, if_missing: 'skip' } },
  ]) {
    const { outcome, text } = await applyTemplate({ operations: [operation] }, FILE);
    t.equal(outcome.failure, null);
    t.equal(text, FILE);
  }
});

test('select and unpivot need a column whatever if_missing says', async (t) => {
  for (const columns of [NONE, ['absent']]) {
    for (const operation of [{ select: { columns } }, { unpivot: { columns, names_to: 'n', values_to: 'v' } }]) {
      const [[name, parameters]] = Object.entries(operation) as [[string, object]];
      const { outcome } = await applyTemplate(
        { operations: [{ [name]: { ...parameters, if_missing: 'skip' } }] },
        FILE,
      );
      t.match(outcome.failure?.message, /No column at this step matches/, JSON.stringify(operation));
    }
  }
});
