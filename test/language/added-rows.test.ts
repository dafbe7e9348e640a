// Rows that `append_rows` adds are not in a file, so they have no row number.
import t from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';

const INPUT = 'a,b\n1,x\n2,y\n3,z\n';
const APPENDED = [{ filter: { where: 'a == "2"' } }, { append_rows: { rows: [{ a: 'bad' }, { a: '7' }] } }];

const rejects = async (operations: readonly object[], output: object = {}) => {
  const { text, outcome } = await applyTemplate({ operations, output }, INPUT);
  const bytes = outcome.rejects?.bytes ?? null;
  return { text, outcome, rejected: bytes === null ? null : Buffer.from(bytes).toString() };
};

t.test('a rejected row has an empty _row, and the report counts it without a number', async (t) => {
  const cast = { cast: { columns: { a: 'integer' }, on_error: 'reject' } };
  const { text, rejected, outcome } = await rejects([...APPENDED, cast]);
  t.equal(text, 'a,b\n2,y\n7,\n');
  t.equal(rejected, '_row,_operation,_column,_code,a,b\n,3 cast,a,NOT_A_NUMBER,bad,\n');
  t.strictSame(outcome.report.operations[2]!.errors, { NOT_A_NUMBER: { count: 1, rows: [] } });
});

t.test('rows made of added ones have no number, also after operations that store rows', async (t) => {
  const cast = { cast: { columns: { a: 'integer' }, on_error: 'reject' } };
  const again = { append_rows: { rows: [{ a: 'worse' }] } };
  const steps = [...APPENDED, { sort: { by: ['a'] } }, again, { fill_up: { columns: 'b', group_by: 'a' } }, cast];
  const { rejected } = await rejects(steps);
  const lines = ',6 cast,a,NOT_A_NUMBER,bad,\n,6 cast,a,NOT_A_NUMBER,worse,\n';
  t.equal(rejected, `_row,_operation,_column,_code,a,b\n${lines}`);
  const grouped = { aggregate: { group_by: 'a', metrics: [{ fn: 'count', as: 'n' }] } };
  t.match((await rejects([...APPENDED, grouped, cast])).rejected, /\n,4 cast,a,NOT_A_NUMBER,bad,1\n$/);
});

t.test('run.row is null', async (t) => {
  const { text } = await rejects([...APPENDED, { set: { columns: { n: 'run.row' } } }]);
  t.equal(text, 'a,b,n\n2,y,2\nbad,,\n7,,\n');
});

t.test('messages say that an operation added the row', async (t) => {
  const { outcome } = await rejects([...APPENDED, { cast: { columns: { a: 'integer' } } }]);
  t.match(outcome.failure, {
    code: 'TEMPLATE_ROW_ERROR',
    message: /column "a": NOT_A_NUMBER in a row that an operation added\./,
    place: { row: null, step: 2, column: 'a' },
  });
  t.strictSame(outcome.report.operations[2]!.errors, { NOT_A_NUMBER: { count: 1, rows: [] } });
  const guarded = [{ append_rows: { rows: [{ a: '=1+1' }] } }];
  const refused = await rejects(guarded, { formula_guard: 'fail' });
  t.match(refused.outcome.failure?.message, /column 1 of the output in a row that an operation added/);
});

t.test('a row of the file that fails ends the Run before an added one does', async (t) => {
  const steps = [APPENDED[1]!, { sort: { by: [{ column: 'b', order: 'desc' }] } }];
  const set = { set: { columns: { c: '10 / (size(a) - 1)' } } };
  const { outcome } = await rejects([...steps, set]);
  t.equal(outcome.failure?.place?.row, 1);
});
