// Each operation that holds rows back when memory is short, before a slice or stop_when: output, failure and report are the same
// as with enough memory.
// With all tests only: work and memory of large inputs.
import t from 'tap';
import { applyTemplate } from '../apply-template.ts';

const ROWS = 30_000;
const LAST = 20_000;
/** A row after the end, whose number is invalid. */
const BAD = 28_000;
/** Less memory than the keys of the rows take. */
const STATE_BYTES = 10_000;

const padding = 'x'.repeat(40);
const lines = Array.from({ length: ROWS }, (_, row) => {
  return `group ${row % (ROWS - 500)} ${padding},value ${row},${row === BAD ? 'bad' : row}\n`;
});
const INPUT = `g,v,n\n${lines.join('')}`;
const TABLE = `g,t\n${lines.map((line, row) => `${line.split(',')[0]},${row}\n`).join('')}`;

const CAST = { cast: { columns: { n: 'integer' } } };
const STOP = { stop_when: { where: `v == "value ${LAST}"`, include: true } };
const FILL = { fill_down: { columns: 'v', group_by: 'g' } };
const DEDUPE = { dedupe: { by: 'g' } };
const ON = [{ left: 'g', right: 'g' }];

const CHAINS: Readonly<Record<string, readonly object[]>> = {
  'fill_down with group_by': [CAST, FILL, STOP],
  'dedupe, any number of rows': [CAST, DEDUPE, { slice: { limit: LAST } }],
  'validate unique': [CAST, { validate: { rules: [{ column: 'g', check: 'unique', on_error: 'drop_row' }] } }, STOP],
  join: [CAST, { join: { table: 'codes', on: ON, columns: ['t'], multiple: 'first' } }, STOP],
  'two of them': [CAST, DEDUPE, FILL, STOP],
  'after a sort': [
    { sort: { by: [{ column: 'v', order: 'desc' }] } },
    { cast: { columns: { n: 'integer' } } },
    FILL,
    { slice: { limit: 9000 } },
  ],
};

for (const [title, operations] of Object.entries(CHAINS)) {
  t.test(title, async (t) => {
    const template = { tables: { codes: { ref: 'codes' } }, operations };
    const much = await applyTemplate(template, INPUT, 4096, { codes: TABLE });
    const little = await applyTemplate(
      template,
      INPUT,
      4096,
      { codes: TABLE },
      { spills: true, stateBytes: STATE_BYTES },
    );
    t.equal(much.outcome.failure, null, 'the bad row is after the end');
    t.equal(little.outcome.failure, null, 'also with little memory');
    t.ok(little.text === much.text, 'the same output');
    t.strictSame(little.outcome.report.operations, much.outcome.report.operations);
  });
}

t.test('an operation fails at rows after the end', async (t) => {
  const long = `g,v,${'x'.repeat(1_500_000)}\n`;
  const input = `${INPUT}${long.repeat(3)}`;
  // The cells within an offset may have at most 4 MiB.
  const before = { window: { columns: [{ fn: 'previous', column: 'n', offset: 3, as: 'before' }] } };
  const operations = [before, FILL, STOP];
  const much = await applyTemplate({ operations }, input);
  const little = await applyTemplate({ operations }, input, 4096, {}, { spills: true, stateBytes: STATE_BYTES });
  t.equal(much.outcome.failure, null, 'with much memory, the rows never reach the operation');
  t.equal(little.outcome.failure, null, 'also with little memory');
  t.ok(little.text === much.text, 'the same output');
  t.strictSame(little.outcome.report.operations, much.outcome.report.operations);
  const whole = await applyTemplate(
    { operations: [before, FILL] },
    input,
    4096,
    {},
    { spills: true, stateBytes: STATE_BYTES },
  );
  t.equal(whole.outcome.failure?.code, 'RUN_RESOURCE_LIMIT', 'without an end, the rows fail the Run');
});
