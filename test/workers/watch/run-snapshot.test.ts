// A watched Run: its bytes equal those of an unwatched Run, and the recorded cells are the real ones.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'tap';
import type { Batch } from '../../../workers/batch/batch.ts';
import { operationTable } from '../../../workers/operations/index.ts';
import type { OperationExample } from '../../../workers/template/operation.ts';
import { ROWS_KEPT_MAX, RunSnapshot } from '../../../workers/watch/run-snapshot.ts';
import { INTERESTING_ROWS_MAX } from '../../../workers/watch/step-watch.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { applyTemplate } from '../apply-template.ts';

const ALL = { continuesAfterFailure: false, rowsMax: null, pickedRows: null, profiledStep: 1 };

/** Minimum share of the examples whose Run has an output. Typed columns are texts here, which some operations refuse. */
const SUCCEEDING_SHARE_MIN = 0.7;

function csvOf({ columns, rows }: OperationExample['input']): string {
  const cell = (text: string | null): string => (text === null ? '' : `"${text.replaceAll('"', '""')}"`);
  return [columns, ...rows].map((row) => `${row.map(cell).join(',')}\n`).join('');
}

test('watched and unwatched bytes are the same for the examples of every operation', {
  skip: skipUnlessLong,
}, async (t) => {
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
            // The Template is invalid if the columns are texts.
            return { text: null, failure: (error as Error).message, report: null };
          }
        };
        const unwatched = await run();
        const snapshot = new RunSnapshot(ALL);
        t.strictSame(await run(snapshot), unwatched, `${name}: ${title}`);
        all++;
        if (unwatched.text === null) continue;
        succeeded++;
        t.equal(snapshot.step(1)?.count, unwatched.report?.operations[0]?.rows_out, `${name}: rows after it`);
      }
    }
  }
  t.ok(succeeded / all > SUCCEEDING_SHARE_MIN, `${succeeded} of ${all} Runs had an output`);
});

test('bytes of the file that no operation changed are written unchanged', async (t) => {
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

test('rows of one source row that come in several batches are counted through them', async (t) => {
  const operations = [
    { explode: { column: 'a', separator: '|' } },
    { parse_number: { columns: 'a', on_error: 'drop_row' } },
  ];
  for (const batchRows of [1, 2, 4096]) {
    const snapshot = new RunSnapshot(ALL);
    await applyTemplate({ operations }, 'a,b\n1|x|3|y|z|6,p\n7|u,q\n', batchRows, {}, { watch: snapshot });
    t.strictSame(
      snapshot.rowsWithErrors(1).map(({ sourceRow, repeat, cells }) => [sourceRow, repeat, cells[0]]),
      [
        [1, 0, '1'],
        [1, 1, 'x'],
        [1, 2, '3'],
        [1, 3, 'y'],
        [1, 4, 'z'],
        [1, 5, '6'],
        [2, 0, '7'],
        [2, 1, 'u'],
      ],
      `batches of ${batchRows}`,
    );
  }
});

test('rows, changes and profiles after each operation', async (t) => {
  const snapshot = new RunSnapshot({ ...ALL, profiledStep: 4 });
  await applyTemplate(LEDGER, STATEMENT, 4096, {}, { watch: snapshot });
  const [input, stopped, parsed] = [0, 1, 4].map((step) => snapshot.step(step)!);
  t.equal(input!.count, 3, 'what lies after the end never comes');
  t.equal(stopped!.count, 2);
  t.strictSame(snapshot.changed(1), []);
  t.strictSame(snapshot.changed(2), [], 'another name is no other text');
  t.strictSame(snapshot.changed(3), [
    {
      sourceRow: 1,
      repeat: 0,
      cells: ['01.10.2026', '1,50', 'Ada'],
      changed: [{ column: 2, text: ' Ada ' }],
    },
  ]);
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
  t.equal(stopped.errors(0).length, 1);
  const gathered = new RunSnapshot({ ...ALL, continuesAfterFailure: true });
  await applyTemplate(template, input, 1, {}, { watch: gathered });
  t.strictSame(
    gathered.errors(0).map(({ row, column, code }) => [row, column, code]),
    [
      [2, 'a', 'NOT_A_NUMBER'],
      [4, 'a', 'NOT_A_NUMBER'],
    ],
  );
  t.equal(gathered.step(1)!.count, 2);
  t.equal(gathered.report!.operations[0]!.rows_in, 4);
});

test('a watched Run reads at most the given number of rows', async (t) => {
  const rows = Array.from({ length: 100 }, (_, index) => `${index}\n`).join('');
  const snapshot = new RunSnapshot({ ...ALL, rowsMax: 10, profiledStep: 0 });
  await applyTemplate({ operations: [{ rename: { columns: { a: 'b' } } }] }, `a\n${rows}`, 7, {}, { watch: snapshot });
  t.equal(snapshot.step(0)!.count, 10);
  t.match(snapshot.profiles, [{ rows: 10, distinct: 10 }]);
});

/** Number of rows at the start that need no change and have no error. */
const SOUND_ROWS = 50_000;

const LATE_ROWS = 3_000;

test('changed rows and rows with errors are kept wherever they are in the file', async (t) => {
  const rows = Array.from({ length: SOUND_ROWS + LATE_ROWS }, (_, index) =>
    index < SOUND_ROWS ? `${index},Ada,1\n` : `${index}, Bob ,x\n`,
  );
  const operations = [
    { text: { columns: 'name', steps: ['trim'] } },
    { parse_number: { columns: 'amount', decimal: '.', on_error: 'blank' } },
    { sort: { by: ['name'] } },
  ];
  const input = `number,name,amount\n${rows.join('')}`;
  const snapshot = new RunSnapshot(ALL);
  const { text } = await applyTemplate({ operations }, input, 4096, {}, { watch: snapshot });
  t.equal(text, (await applyTemplate({ operations }, input)).text, 'the bytes are those of a Run that nobody watches');
  t.equal(snapshot.step(1)!.count, ROWS_KEPT_MAX);
  const changed = snapshot.changed(1);
  t.equal(changed.length, INTERESTING_ROWS_MAX);
  t.ok(snapshot.hasMoreChanged(1));
  t.strictSame(changed[0], {
    sourceRow: SOUND_ROWS + 1,
    repeat: 0,
    cells: [String(SOUND_ROWS), 'Bob', 'x'],
    changed: [{ column: 1, text: ' Bob ' }],
  });
  t.strictSame(
    changed.map(({ sourceRow }) => sourceRow),
    Array.from({ length: INTERESTING_ROWS_MAX }, (_, index) => SOUND_ROWS + 1 + index),
  );
  const rowsWithErrors = snapshot.rowsWithErrors(1);
  t.equal(rowsWithErrors.length, INTERESTING_ROWS_MAX);
  t.strictSame(rowsWithErrors[0]!.cells, [String(SOUND_ROWS), 'Bob', 'x'], 'as it came to the operation');
  t.strictSame(snapshot.changed(2)[0]!.changed, [{ column: 2, text: 'x' }], 'and what became of it');
  t.strictSame(snapshot.changed(3), [], 'rows that only moved did not change');
});

test('changes of rows that an operation makes or holds back', async (t) => {
  const input = 'id,list\n1,a;b\n2,\n3,c\n';
  const operations = [
    { explode: { column: 'list', separator: ';' } },
    { fill_up: { columns: 'list' } },
    { text: { columns: 'list', steps: ['upper'] } },
  ];
  for (const batchRows of [1, 2, 4096]) {
    const snapshot = new RunSnapshot(ALL);
    const { outcome } = await applyTemplate({ operations }, input, batchRows, {}, { watch: snapshot });
    t.equal(outcome.failure, null, JSON.stringify(outcome.failure));
    const seen = [1, 2, 3].map((step) =>
      snapshot.changed(step).map(({ sourceRow, repeat, changed }) => [sourceRow, repeat, changed[0]!.text]),
    );
    t.strictSame(seen, [
      [[1, 0, 'a;b']],
      [[2, 0, null]],
      [
        [1, 0, 'a'],
        [1, 1, 'b'],
        [2, 0, 'c'],
        [3, 0, 'c'],
      ],
    ]);
  }
});

test('rows that were picked run alone and keep their numbers', async (t) => {
  const rows = Array.from({ length: 10_000 }, (_, index) => `${index + 1}\n`).join('');
  const pickedRows = [1, 2, 4_097, 9_000];
  for (const batchRows of [1, 4096]) {
    const snapshot = new RunSnapshot({ ...ALL, pickedRows });
    const template = { operations: [{ dedupe: { by: ['a'] } }] };
    const { text, outcome } = await applyTemplate(template, `a\n${rows}`, batchRows, {}, { watch: snapshot });
    t.equal(text, 'a\n1\n2\n4097\n9000\n');
    t.equal(outcome.report.rows_read, 9_000, 'nothing is read after the last');
    const kept = snapshot.step(1)!;
    t.strictSame(
      Array.from({ length: kept.count }, (_, place) => kept.sourceRow(place)),
      pickedRows,
    );
  }
});

test('the snapshot of a Run does not keep its memory', async (t) => {
  let seen: WeakRef<Batch> | null = null;
  class Seen extends RunSnapshot {
    override rows(step: number, batch: Batch): void {
      seen = new WeakRef(batch);
      super.rows(step, batch);
    }
  }
  const snapshot = new Seen({ ...ALL, profiledStep: 4 });
  await applyTemplate(LEDGER, STATEMENT, 4096, {}, { watch: snapshot });
  snapshot.close();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // A reference that was dereferenced stays alive until the end of its turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  t.ok((seen as WeakRef<Batch> | null)?.deref() === undefined, 'the batch is gone');
  t.match(snapshot.profiles[1], { least: '1.50', most: '2.00' }, 'and is still there');
});
