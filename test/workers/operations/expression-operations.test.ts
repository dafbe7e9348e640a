// Expressions in operations, through the whole engine: conditions, ends, errors in rows, and CEL's conformance cases as cells of
// JSON.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import { type Test, test } from 'tap';
import { MapValue, OptionalValue, TypeValue, Uint, type Value } from '../../../workers/expression/compile/value.ts';
import { Duration, durationText, Timestamp, timestampText } from '../../../workers/values/timestamp.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { applyTemplate } from '../apply-template.ts';
import { type ConformanceCase, casesOf, RULES, valueOfJson } from '../expression/conformance-case.ts';

const CLI = new URL('../../../src/cli.js', import.meta.url).pathname;

const BATCH_ROWS = [1, 2, 3, 1000];

/** Minimum number of cases: those of @bufbuild/cel-spec 0.6.1 without variables. */
const CASES_RUN_MIN = 1300;

/** Expressions per Template: fewer Runs than one per case, and each case has a separate column. */
const CASES_PER_RUN = 40;

/** The expected JSON cell of a value. NaN and the infinities have no JSON notation and are null. */
function jsonOf(value: Value): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof OptionalValue) return value.present ? jsonOf(value.value) : null;
  if (Array.isArray(value)) return value.map(jsonOf);
  if (value instanceof MapValue) {
    const entries = [...value.entries()].map(({ key, value: held }) => [String(jsonOf(key)), jsonOf(held)]);
    return Object.fromEntries(entries);
  }
  throw new Error('a value of this kind is not expected');
}

/** The results of expressions as cells of one Run, or their failures. */
async function resultsOf(sources: readonly string[]): Promise<unknown[]> {
  const columns = Object.fromEntries(sources.map((source, index) => [`c${index}`, source]));
  const template = { operations: [{ op: 'set', columns }], output: { format: 'ndjson' } };
  try {
    const { text, outcome } = await applyTemplate(template, 'id\n1\n');
    if (text !== null) {
      const row = JSON.parse(text) as Record<string, unknown>;
      return sources.map((_, index) => ({ value: row[`c${index}`] }));
    }
    if (sources.length === 1) return [{ failure: outcome.failure!.message }];
  } catch (error) {
    if (sources.length === 1) return [{ problem: String(error) }];
  }
  // At least one expression fails: run each of them alone.
  return (await Promise.all(sources.map((source) => resultsOf([source])))).flat();
}

function isWithoutVariables({ original }: ConformanceCase): boolean {
  return (original.typeEnv ?? []).length === 0 && Object.keys(original.bindings ?? {}).length === 0;
}

test('the conformance cases of CEL give their results as cells of JSON', { skip: skipUnlessLong }, async (t) => {
  const cases = [...casesOf(tests as never)].filter(
    (each) =>
      !RULES.some(({ holds }) => holds(each)) &&
      isWithoutVariables(each) &&
      each.original.disableCheck !== true &&
      each.original.checkOnly !== true,
  );
  const withValue = cases.filter(({ original }) => original.evalError === undefined);
  let run = 0;
  for (let at = 0; at < withValue.length; at += CASES_PER_RUN) {
    const some = withValue.slice(at, at + CASES_PER_RUN);
    const results = await resultsOf(some.map(({ original }) => original.expr));
    for (const [index, { original, suite, name }] of some.entries()) {
      const expected = original.value ?? original.typedResult?.result;
      const value = expected === undefined ? true : jsonOf(valueOfJson(expected as never));
      t.strictSame(results[index], { value }, `${suite}: ${name}: ${original.expr}`);
      run++;
    }
  }
  const failing = cases.filter(({ original }) => original.evalError !== undefined);
  for (const { original, suite, name } of failing) {
    const [result] = await resultsOf([original.expr]);
    t.notOk('value' in (result as object), `${suite}: ${name}: ${original.expr} is an error`);
    run++;
  }
  t.comment(`${run} cases`);
  t.ok(run >= CASES_RUN_MIN, `${run} cases were run`);
});

/** Output of a Template over texts of one or several columns. Checks that it is the same for all batch sizes. */
async function outputs(
  t: Test,
  template: object,
  input: string,
): Promise<{ text: string | null; report: unknown; failure: unknown }> {
  const results = [];
  for (const size of BATCH_ROWS) {
    const { text, outcome } = await applyTemplate({ ...template, output: { format: 'csv' } }, input, size);
    const operations = outcome.report.operations.map(({ operation, rows_in, rows_out, cells_changed, errors }) => {
      return { operation, rows_in, rows_out, cells_changed, errors };
    });
    // The number of rows that a failed Run processes after its failure depends on the batches.
    results.push({ text, report: outcome.failure === null ? operations : null, failure: outcome.failure });
  }
  for (const result of results) t.strictSame(result, results[0], 'the same whatever the batches');
  return results[0]!;
}

test('the end of the rows is exact for the operations before it', async (t) => {
  const rows = Array.from(
    { length: 40 },
    (_, index) => `${index},${index === 17 ? 'Total' : index % 3 === 0 ? '' : 'x'}`,
  );
  const input = `n,kind\n${rows.join('\n')}\n`;
  const operations = [
    // Fails in row 31 of the data, which is after the end.
    { op: 'set', columns: { half: '100 / (30 - int(n))' } },
    { op: 'fill_empty', columns: 'kind', value: 'none' },
    { op: 'filter', where: 'int(n) % 2 == 1' },
    { op: 'stop_when', where: 'kind == "Total"' },
    { op: 'slice', limit: 5 },
  ];
  const whole = await outputs(t, { operations: operations.slice(0, 4) }, input);
  t.match(whole.text, /^n,kind,half\n1,x,3\n/);
  t.equal(whole.text!.trim().split('\n').length, 9, 'the odd rows before 17');
  t.match(whole.report, [
    { rows_in: 18 },
    { rows_in: 18, cells_changed: 6 },
    { rows_in: 18, rows_out: 9 },
    { rows_in: 9, rows_out: 8 },
  ]);
  const sliced = await outputs(t, { operations }, input);
  t.match(sliced.report, [
    { rows_in: 10 },
    { rows_in: 10 },
    { rows_in: 10 },
    { rows_in: 5, rows_out: 5 },
    { rows_in: 5 },
  ]);
  const state = [{ op: 'dedupe', by: ['kind'] }, ...operations.slice(3)];
  const kept = await outputs(t, { operations: state }, input);
  t.equal(kept.text, 'n,kind\n0,\n1,x\n', 'after an operation with state too');
  t.match(kept.report, [{ rows_in: 18, rows_out: 3 }, { rows_in: 3, rows_out: 2 }, { rows_in: 2 }]);
});

test('a failure before the end counts, a failure after it does not', async (t) => {
  const input = 'n\n1\n0\nend\n0\n';
  const stop = { op: 'stop_when', where: 'n == "end"' };
  const divide = { op: 'set', columns: { q: '1 / int(n)' }, where: 'n != "end"' };
  const failed = await outputs(t, { operations: [divide, stop] }, input);
  t.match(failed.failure, {
    code: 'TEMPLATE_ROW_ERROR',
    message: /set \(line \d+, \/operations\/\d\), column "q": EXPR_DIV_ZERO in row 2 of the data/,
  });
  const kept = await outputs(t, { operations: [{ ...divide, on_error: 'blank' }, stop] }, input);
  t.equal(kept.text, 'n,q\n1,1\n0,\n');
  t.match(kept.report, [{ errors: { EXPR_DIV_ZERO: { count: 1, rows: [2] } } }, {}]);
});

test('where on operations on cells, its errors and its types', async (t) => {
  const input = 'id,amount,name\n1,5, a \n2,x, b \n3,7, c \n';
  const operation = { op: 'text', columns: 'name', steps: ['trim', 'upper'], where: 'int(amount) > 5' };
  const run = async (on_error: string) => outputs(t, { operations: [{ ...operation, on_error }] }, input);
  t.equal((await run('blank')).text, 'id,amount,name\n1,5, a \n2,x, b \n3,7,C\n');
  t.equal((await run('drop_row')).text, 'id,amount,name\n1,5, a \n3,7,C\n');
  t.match((await run('keep')).report, [{ cells_changed: 1, errors: { NOT_A_NUMBER: { count: 1, rows: [2] } } }]);
  t.match((await run('fail')).failure, {
    message: /Operation 1 text \(line 1, \/operations\/0\): NOT_A_NUMBER in row 2/,
  });
  const flagged = await run('flag');
  t.equal(flagged.text, 'id,amount,name,_issues\n1,5, a ,\n2,x, b ,text:NOT_A_NUMBER\n3,7,C,\n');
  const refused = (operations: object[]) => t.rejects(applyTemplate({ operations }, input), /.*/);
  await t.rejects(applyTemplate({ operations: [{ ...operation, where: 'amount + "x"' }] }, input), {
    message: /\/operations\/0\/where EXPR_TYPE This must be a condition.* gives string/,
  });
  await t.rejects(
    applyTemplate({ operations: [{ op: 'cast', columns: { amount: 'integer' }, where: 'id == "1"' }] }, input),
    {
      message: /\/operations\/0\/where WHERE_TYPE/,
    },
  );
  const unknown = [
    { op: 'select', columns: ['id', 'amount'] },
    { op: 'filter', where: 'amout == "1"' },
  ];
  await t.rejects(applyTemplate({ operations: unknown }, input), {
    message: /^\/operations\/1\/where UNKNOWN_COLUMN .*"amout".*Did you mean "amount"\?$/,
  });
  await refused([{ op: 'filter', where: '' }]);
});

test('filter: what on_error does to rows whose condition fails', async (t) => {
  const input = 'n\n1\nx\n3\n';
  const run = async (mode: string, on_error: string) => {
    const { text } = await outputs(t, { operations: [{ op: 'filter', where: 'int(n) < 2', mode, on_error }] }, input);
    return text?.trim().split('\n').slice(1).join(' ');
  };
  t.equal(await run('keep', 'blank'), '1');
  t.equal(await run('drop', 'blank'), 'x 3');
  t.equal(await run('keep', 'keep'), '1 x');
  t.equal(await run('drop', 'keep'), 'x 3');
  t.equal(await run('keep', 'drop_row'), '1');
  t.equal(await run('drop', 'drop_row'), '3');
  t.equal(await run('drop', 'fail'), undefined);
});

test('columns whose names are words of the language, of types, or not there yet', async (t) => {
  const input = 'type,date,row,value,Invoice No\nint,d,r,v,7\n';
  const columns = {
    a: 'row.type',
    b: 'date',
    c: 'row["row"]',
    d: 'row["value"]',
    e: '`Invoice No`',
    f: 'string(type(1) == int)',
  };
  const { text } = await outputs(t, { operations: [{ op: 'set', columns }] }, input);
  t.equal(text!.split('\n')[1], 'int,d,r,v,7,int,d,r,v,7,true');
});

test('results that do not fit into the arena at once', async (t) => {
  const names = ['Ada', 'Björn', '"Q ""x"""', ''];
  const rows = Array.from({ length: 3000 }, (_, index) => `${index},${names[index % 4]},${index % 7}`);
  const columns = { wide: 'pad_left(name, 3000, "·")', both: 'name + "/" + string(other)', other: 'other * 2' };
  const operations = [
    { op: 'cast', columns: { other: 'integer' } },
    { op: 'set', columns, where: 'int(id) % 3 != 0 && name != "x"' },
    { op: 'text', columns: ['both'], steps: ['upper'] },
    { op: 'filter', where: 'size(wide) == 3000 || wide == null' },
    { op: 'set', columns: { wide: 'string(size(wide))' } },
  ];
  const input = `id,name,other\n${rows.join('\n')}\n`;
  const { text, failure } = await outputs(t, { operations }, input);
  t.equal(failure, null);
  const lines = text!.trim().split('\n');
  t.equal(lines.length, 3001);
  t.strictSame(lines.slice(1, 6), [
    '0,Ada,0,,',
    '1,Björn,2,3000,BJÖRN/1',
    '2,"Q ""x""",4,3000,"Q ""X""/2"',
    '3,,3,,',
    '4,Ada,8,3000,ADA/4',
  ]);
});

test('texts of days while the memory of the Run grows', async (t) => {
  // Each pattern keeps 128 KiB, so together they need more than the memory that another Run leaves behind. Each text is
  // compared and dropped, so that the arena has space for all rows at once.
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  const operations = [
    { op: 'set', columns: { day: 'date(timestamp(instant))', instant: 'timestamp(instant)' } },
    ...numbers.flatMap((number) =>
      ['day', 'instant'].flatMap((column) => [
        { op: 'set', columns: { made: `format_date(${column}, "MMMM '${number}'")` } },
        { op: 'filter', where: `made == month + " ${number}"` },
      ]),
    ),
  ];
  const months = ['January', 'February', 'March'];
  const rows = Array.from({ length: 1200 }, (_, row) => `${months[row % 3]},2026-0${(row % 3) + 1}-05T12:00:00Z\n`);
  const { outcome } = await applyTemplate({ operations }, `month,instant\n${rows.join('')}`);
  t.equal(outcome.failure, null);
  t.equal(outcome.rowsWritten, rows.length);
});

test('the same bytes in every zone and language', { skip: skipUnlessLong }, async (t) => {
  const folder = t.testdir({
    'template.json': JSON.stringify({
      format: 1,
      operations: [
        {
          op: 'set',
          columns: {
            upper: 'upper(name) + lower("I") + title("istanbul ırmak")',
            day: 'date(timestamp(at))',
            hour: 'timestamp(at).getHours()',
            text: 'format_date(date(timestamp(at)), "dd. MMMM yyyy")',
            next: 'add_months(date(timestamp(at)), 1)',
            number: 'string(1234567.5) + string(1.50d)',
            order: 'name < "ä"',
          },
        },
        { op: 'filter', where: 'name >= "I" && timestamp(at) < timestamp("2026-03-29T02:30:00Z")' },
      ],
    }),
    'in.csv': 'name,at\nistanbul,2026-03-29T01:30:00Z\nİ,2026-01-31T23:59:59.5+05:45\nÄ,2026-03-29T02:00:00Z\n',
  });
  const run = (zone: string, language: string) =>
    execFileSync(process.execPath, [CLI, 'run', join(folder, 'template.json'), join(folder, 'in.csv')], {
      env: { ...process.env, TZ: zone, LANG: language, LC_ALL: language },
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    });
  const expected = run('UTC', 'C');
  t.match(
    expected,
    /^istanbul,2026-03-29T01:30:00Z,ISTANBULiIstanbul Irmak,2026-03-29,1,29\. March 2026,2026-04-29,1234567.51.50,true$/m,
  );
  t.equal(expected.trim().split('\n').length, 4);
  t.equal(run('Asia/Kathmandu', 'tr_TR.UTF-8'), expected);
  t.equal(run('America/St_Johns', 'de_DE.UTF-8'), expected);
});
