// Parquet over HTTP as input and output: what is read, what is refused, and that memory stays within the budget.
// With all tests only: files of all formats over HTTP.
import { gzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import t, { type Test } from 'tap';
import { processorClock } from '../processor-clock.ts';
import { skipUnlessLong } from '../sweep.ts';
import { FLAT, flatFile, nestedFile, ROWS } from '../workers/input/parquet/sample-files.ts';
import { plan, step, template } from './catalog-folder.ts';
import type { Answer } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const toParquet = { output: { format: 'parquet' } };
const templates = {
  all: template([]),
  parquet: template([], toParquet),
  json: template([], { output: { format: 'ndjson' } }),
  typed: template([step('cast', { columns: { id: 'integer', amount: 'decimal', on: 'date' } })], toParquet),
  german: template([step('parse_number', { columns: 'amount', decimal: ',', grouping: '.' })]),
  lacking: template([], { input: { columns: [{ name: 'nobody has it' }] } }),
  one: template([], { input: { columns: [{ name: 'text PLAIN' }], other_columns: 'drop' } }),
  undeclared: template([step('filter', { where: 'row["int64 PLAIN"] != "7"' })], {
    input: { columns: [{ name: 'text PLAIN' }], other_columns: 'drop' },
  }),
};
const service = await startService(t, {
  plans: { small: plan({ inflated_bytes_max: 20_000 }), few: plan({ rows_max: 100 }) },
  accounts: { acme: { templates }, small: { plan: 'small', templates }, few: { plan: 'few', templates } },
});
const acme = service.client();

async function bytesOf(t: Test, answer: Answer): Promise<Buffer> {
  expectRun(t, answer, 201, 'succeeded');
  return (await acme.get(`/api/v1/runs/${answer.run.id}/output`)).body;
}

async function objectsOf(bytes: Buffer): Promise<Record<string, unknown>[]> {
  return await parquetReadObjects({ file: new Uint8Array(bytes).buffer });
}

function written(columnData: Parameters<typeof parquetWriteBuffer>[0]['columnData'], rowGroupSize = 1000): Buffer {
  return Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize }));
}

t.test('goes through an empty Template', async (t) => {
  const answer = await acme.upload('parquet', [file(Buffer.from(flatFile()))]);
  const rows = await objectsOf(await bytesOf(t, answer));
  t.match(answer.run.output, { mime_type: 'application/vnd.apache.parquet' });
  t.match(answer.json['report'], { rows_read: ROWS, input: { type: 'parquet', header_row: null } });
  for (const { name, expected } of FLAT) {
    t.strictSame(
      rows.map((row) => row[name] ?? null),
      rows.map((_, row) => expected(row)?.[1] ?? null),
      name,
    );
  }
  const again = await acme.upload('parquet', [file(Buffer.from(flatFile()))]);
  t.ok((await bytesOf(t, again)).equals(await bytesOf(t, answer)), 'the same bytes');
});

t.test('comes from CSV with types', async (t) => {
  const csv = Buffer.from('id,amount,on,note\n1,1.50,2026-01-31,a\n2,,2026-02-28,"b, c"\n');
  const rows = await objectsOf(await bytesOf(t, await acme.upload('typed', [file(csv)])));
  t.strictSame(rows, [
    { id: 1n, amount: 1.5, on: new Date('2026-01-31'), note: 'a' },
    { id: 2n, amount: null, on: new Date('2026-02-28'), note: 'b, c' },
  ]);
});

t.test('its cells know their kinds', async (t) => {
  const bytes = written([{ name: 'amount', data: [1234.5, null, -0.25], type: 'DOUBLE', nullable: true }]);
  t.equal(String(await bytesOf(t, await acme.upload('german', [file(bytes)]))), 'amount\n1234.5\n""\n-0.25\n');
  const json = String(await bytesOf(t, await acme.upload('json', [file(Buffer.from(nestedFile()))])));
  t.strictSame(JSON.parse(json.split('\n')[2]!), {
    list: [1, null, 3],
    struct: { name: 'a "b"', size: 2 },
    map: { x: 1, y: null },
  });
});

t.test('columns that a Template does not name are left out, those that it reads are there', async (t) => {
  const expected = FLAT.find(({ name }) => name === 'text PLAIN')!.expected;
  for (const name of ['one', 'undeclared']) {
    const bytes = await bytesOf(t, await acme.upload(name, [file(Buffer.from(flatFile()))]));
    t.match(String(bytes), `${expected(1)![1]}`, name);
  }
});

t.test('in gzip, too', async (t) => {
  const bytes = await bytesOf(t, await acme.upload('all', [file(gzipSync(flatFile()))]));
  t.equal(String(bytes).trimEnd().split('\n').length, ROWS + 1);
});

t.test('what is broken, too large or secret is refused', async (t) => {
  const whole = Buffer.from(flatFile());
  for (const cut of [whole.length - 1, whole.length - 9, 500, 12, 5]) {
    const answer = await acme.upload('all', [file(whole.subarray(0, cut))]);
    expectError(t, answer, 400, 'MALFORMED_FILE');
    t.match(answer.json['message'], /at byte \d+\.$/);
  }
  const secret = Buffer.from(whole);
  secret.write('PARE', secret.length - 4);
  expectError(t, await acme.upload('all', [file(secret)]), 415, 'UNSUPPORTED_FILE_TYPE');
  secret.write('PARE', 0);
  expectError(t, await acme.upload('all', [file(secret)]), 415, 'UNSUPPORTED_FILE_TYPE');
  const lacking = await acme.upload('lacking', [file(whole)]);
  expectError(t, lacking, 422, 'TEMPLATE_COLUMNS_MISSING');
  const small = service.client('small');
  expectError(t, await small.upload('all', [file(whole)]), 413, 'FILE_TOO_LARGE');
  expectError(t, await service.client('few').upload('all', [file(whole)]), 413, 'ROW_LIMIT_EXCEEDED');
});

t.test('metadata that lies of lengths and rows', async (t) => {
  const bytes = written([
    { name: 'a', data: Array.from({ length: 3000 }, (_, row) => `value ${row}`), type: 'STRING' },
  ]);
  const now = processorClock(service);
  const started = now();
  const footer = bytes.readUInt32LE(bytes.length - 8);
  for (let at = bytes.length - 8 - footer; at < bytes.length - 4; at += 7) {
    const lying = Buffer.from(bytes);
    lying.fill(0xff, at, at + 4);
    const answer = await acme.upload('all', [file(lying)]);
    t.ok([201, 400, 413, 415].includes(answer.status), `byte ${at}: ${answer.status} ${answer.code}`);
  }
  const uploads = footer / 7;
  t.ok((now() - started) / uploads < 2000, 'each within 2 s of a processor');
});

t.test('a page that does not fit a Run is a clear 413', { skip: skipUnlessLong }, async (t) => {
  // One page of 80 MB that says so: nothing of it is inflated.
  const line = 'x'.repeat(1_000_000);
  const data = Array.from({ length: 80 }, (_, row) => `${row}${line}`);
  const bytes = Buffer.from(
    parquetWriteBuffer({ columnData: [{ name: 'a', data, type: 'STRING', encoding: 'PLAIN' }], pageSize: 2 ** 30 }),
  );
  const answer = await acme.upload('all', [file(bytes)]);
  expectError(t, answer, 413, 'FILE_TOO_LARGE');
  t.match(answer.json['message'], /smaller pages/);
});

t.test('the logs tell nothing of it', async (t) => {
  await checkLogs(t, service);
});
