// A watched Run: it makes the bytes of one that nobody watches, and what was seen is what stood there.
import { test } from 'tap';
import { operationTable } from '../../../workers/operations/index.ts';
import type { OperationExample } from '../../../workers/operations/operation.ts';
import { RunSnapshot } from '../../../workers/watch/run-snapshot.ts';
import { applyTemplate } from '../apply-template.ts';

const ALL = { gathers: false, rowsMax: Number.POSITIVE_INFINITY, profiledStep: 1 };

/** Of the examples, those whose Run has an output. Typed columns come as texts here, which some operations refuse. */
const SUCCEEDING_SHARE_MIN = 0.75;

function csvOf({ columns, rows }: OperationExample['input']): string {
  const cell = (text: string | null): string => (text === null ? '' : `"${text.replaceAll('"', '""')}"`);
  return [columns, ...rows].map((row) => `${row.map(cell).join(',')}\n`).join('');
}

test('watched and unwatched bytes are the same for the examples of every operation', async (t) => {
  let [all, succeeded] = [0, 0];
  for (const [name, { examples }] of operationTable) {
    for (const { title, operation, input, tables } of examples) {
      const declared = Object.fromEntries(Object.keys(tables ?? {}).map((table) => [table, { ref: table }]));
      const template = { ...(tables === undefined ? {} : { tables: declared }), operations: [operation] };
      for (const batchRows of [1, 1000]) {
        const run = async (watch?: RunSnapshot) => {
          const limits = watch === undefined ? {} : { watch };
          try {
            const { text, outcome } = await applyTemplate(template, csvOf(input), batchRows, tables ?? {}, limits);
            return { text, failure: outcome.failure, report: outcome.report };
          } catch (error) {
            // Not sound where the columns are texts.
            return { text: null, failure: (error as Error).message, report: null };
          }
        };
        const unwatched = await run();
        const snapshot = new RunSnapshot(ALL);
        t.strictSame(await run(snapshot), unwatched, `${name}: ${title}`);
        all++;
        if (unwatched.text === null) continue;
        succeeded++;
        t.equal(snapshot.step(1)?.count, unwatched.report?.operations[0]?.rows_out, `${name}: rows behind it`);
      }
    }
  }
  t.ok(succeeded / all > SUCCEEDING_SHARE_MIN, `${succeeded} of ${all} Runs had an output`);
});

test('bytes of the file that nobody touched stay as they are', async (t) => {
  const input = 'a,b\n"quoted",2\nplain,"3"\n';
  const template = { operations: [{ text: { columns: 'b', steps: ['trim'] } }] };
  const { text } = await applyTemplate(template, input);
  const watched = await applyTemplate(template, input, 4096, {}, { watch: new RunSnapshot(ALL) });
  t.equal(watched.text, text);
});

const STATEMENT = 'day,amount,party\n01.10.2026,"1,50", Ada \n02.10.2026,"2,00",Bob\nSumme,"3,50",\n05.10.2026,x,Eve\n';

const LEDGER = {
  operations: [
    { stop_when: { where: 'day == "Summe"' } },
    { rename: { columns: { party: 'name' } } },
    { text: { columns: 'name', steps: ['trim'] } },
    { parse_number: { columns: 'amount', decimal: ',' } },
  ],
};

test('rows, changes and profiles behind each operation', async (t) => {
  const snapshot = new RunSnapshot({ ...ALL, profiledStep: 4 });
  await applyTemplate(LEDGER, STATEMENT, 4096, {}, { watch: snapshot });
  const [input, stopped, renamed, trimmed, parsed] = [0, 1, 2, 3, 4].map((step) => snapshot.step(step)!);
  t.equal(input!.count, 3, 'what lies behind the end never comes');
  t.equal(stopped!.count, 2);
  t.strictSame(stopped!.changes(0, input!), []);
  t.strictSame(renamed!.changes(0, stopped!), [], 'another name is no other text');
  t.strictSame(trimmed!.changes(0, renamed!), [{ column: 2, text: ' Ada ' }]);
  t.strictSame(trimmed!.changes(1, renamed!), []);
  t.strictSame(parsed!.cells(0), ['01.10.2026', '1.50', 'Ada']);
  t.strictSame(
    parsed!.schema.map(({ name, type }) => `${name} ${type}`),
    ['day text', 'amount decimal', 'name text'],
  );
  const [day, amount] = snapshot.profiles;
  t.match(day, { rows: 2, blank: 0, distinct: 2, shapes: [{ text: '9+.9+.9+', count: 2 }], histogram: null });
  t.match(amount, { least: '1.50', most: '2.00', histogram: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] });
});

test('rows that end a Run are gathered where that is asked for', async (t) => {
  const template = { operations: [{ parse_number: { columns: 'a', decimal: '.' } }] };
  const input = 'a\n1\nx\n3\ny\n';
  const stopped = new RunSnapshot(ALL);
  const { outcome } = await applyTemplate(template, input, 1, {}, { watch: stopped });
  t.match(outcome.failure, { code: 'TEMPLATE_ROW_ERROR', place: { row: 2, step: 0, column: 'a' } });
  t.equal(stopped.troubles(0).length, 1);
  const gathered = new RunSnapshot({ ...ALL, gathers: true });
  await applyTemplate(template, input, 1, {}, { watch: gathered });
  t.strictSame(
    gathered.troubles(0).map(({ row, column, code }) => [row, column, code]),
    [
      [2, 'a', 'NOT_A_NUMBER'],
      [4, 'a', 'NOT_A_NUMBER'],
    ],
  );
  t.equal(gathered.step(1)!.count, 2);
  t.equal(gathered.report!.operations[0]!.rows_in, 4);
});

test('a watched Run reads no more rows than it was told', async (t) => {
  const rows = Array.from({ length: 100 }, (_, index) => `${index}\n`).join('');
  const snapshot = new RunSnapshot({ ...ALL, rowsMax: 10, profiledStep: 0 });
  await applyTemplate({ operations: [{ rename: { columns: { a: 'b' } } }] }, `a\n${rows}`, 7, {}, { watch: snapshot });
  t.equal(snapshot.step(0)!.count, 10);
  t.match(snapshot.profiles, [{ rows: 10, distinct: 10 }]);
});
