// A format that needs the whole file, over HTTP: its Run waits for the end of the upload, beside others that read CSV.
// With all tests only: files of all formats over HTTP.
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { KIND_BOOLEAN, KIND_DATE, KIND_JSON, KIND_NUMBER, KIND_TEXT } from '../../workers/kernel/layout/cells.ts';
import { typedTable } from '../fixtures/typed-table.ts';
import { skipUnlessLong } from '../sweep.ts';
import { template } from './catalog-folder.ts';
import { expectRun } from './expect.ts';
import { file, form } from './multipart.ts';
import { checkLogs, Service } from './service.ts';

const PROGRAM = fileURLToPath(new URL('../fixtures/serve-typed.js', import.meta.url));
const ROWS = 40_000;

const table = typedTable(
  { headers: ['id', 'name'], hasKinds: [true, false] },
  Array.from({ length: ROWS }, (_, row) => [
    [KIND_NUMBER, String(row)],
    [KIND_TEXT, `CanaryCell ${row}`],
  ]),
);

t.test('a format that needs the whole file', { skip: skipUnlessLong }, async (t) => {
  const sorted = template([{ op: 'filter', where: 'row.id != "7"' }]);
  const bank = template([
    { op: 'parse_number', columns: 'amount', decimal: ',', grouping: '.' },
    { op: 'parse_date', columns: 'day', formats: ['dd.MM.yyyy'] },
  ]);
  const same = template([], { output: { format: 'ndjson' } });
  const service = new Service({ accounts: { acme: { templates: { all: sorted, bank, same } } } }, {}, {}, [PROGRAM]);
  t.teardown(() => service.remove());
  await service.start();
  const client = service.client();

  await t.test('is read once the upload is whole, and not before', async (t) => {
    const upload = form([file(table)]);
    t.ok(upload.body.length > 1_000_000, 'it goes to the spool, and its task begins before its end');
    const held = client.hold('all', upload, 600_000);
    // The one thread is free meanwhile.
    expectRun(t, await client.upload('all', [file('id\n1\n')]), 201, 'succeeded');
    held.send(upload.body.subarray(600_000, upload.body.length - 100));
    expectRun(t, await client.upload('all', [file('id\n1\n')]), 201, 'succeeded');
    t.notOk(held.answered());
    held.send(upload.body.subarray(-100));
    const answer = await held.answer;
    expectRun(t, answer, 201, 'succeeded');
    t.equal(answer.run.rows_written, ROWS - 1);
  });

  await t.test('gives the thread back when its client leaves', async (t) => {
    const upload = form([file(table)]);
    const held = client.hold('all', upload, 600_000);
    expectRun(t, await client.upload('all', [file('id\n1\n')]), 201, 'succeeded');
    held.vanish();
    await held.answer.catch(() => undefined);
    expectRun(t, await client.upload('all', [file(table)]), 201, 'succeeded');
  });

  await t.test('a Template for the texts of a CSV is right for the values of a file that knows them', async (t) => {
    const csv = 'day;amount\n31.01.2026;"1.234,50"\n01.02.2026;-5\n';
    const values = typedTable({ headers: ['day', 'amount'], hasKinds: [true, true] }, [
      [
        [KIND_DATE, '2026-01-31'],
        [KIND_NUMBER, '1234.50'],
      ],
      [
        [KIND_TEXT, '01.02.2026'],
        [KIND_NUMBER, '-5'],
      ],
    ]);
    const outputs = [];
    for (const upload of [file(csv), file(values)]) {
      const answer = await client.upload('bank', [upload]);
      expectRun(t, answer, 201, 'succeeded');
      outputs.push((await client.get(`/api/v1/runs/${answer.run.id}/output`)).text);
    }
    t.equal(outputs[0], 'day,amount\n2026-01-31,1234.50\n2026-02-01,-5\n');
    t.equal(outputs[1], outputs[0]);
  });

  await t.test('an empty Template writes each cell as what it is', async (t) => {
    const values = typedTable({ headers: ['a', 'b'], hasKinds: [true, true] }, [
      [
        [KIND_NUMBER, '12345678901234567890'],
        [KIND_TEXT, '007'],
      ],
      [
        [KIND_JSON, '{"x":[1.50]}'],
        [KIND_DATE, '2026-01-31'],
      ],
      [[KIND_BOOLEAN, 'true'], null],
    ]);
    const answer = await client.upload('same', [file(values)]);
    expectRun(t, answer, 201, 'succeeded');
    t.equal(
      (await client.get(`/api/v1/runs/${answer.run.id}/output`)).text,
      '{"a":12345678901234567890,"b":"007"}\n{"a":{"x":[1.50]},"b":"2026-01-31"}\n{"a":true,"b":null}\n',
    );
  });

  await t.test('a small one travels in memory', async (t) => {
    const small = typedTable({ headers: ['id'], hasKinds: [true] }, [[[KIND_NUMBER, '1']]]);
    expectRun(t, await client.upload('all', [file(small)]), 201, 'succeeded');
  });

  await checkLogs(t, service);
});
