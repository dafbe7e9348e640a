// Workbooks over HTTP: what the Run says of its output, the download in one piece and by range, the same bytes each time.
// With all tests only: files of all formats over HTTP.
import t from 'tap';
import { valuesOf } from '../workers/output/read-workbook.ts';
import { ALL_SCOPES, step, template } from './catalog-folder.ts';
import { expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { startService } from './service.ts';

const MIME_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const TEMPLATE = template(
  [
    step('parse_number', { columns: ['amount'], decimal: ',' }),
    step('parse_date', { columns: ['on'], formats: ['dd.MM.yyyy'] }),
  ],
  { output: { format: 'xlsx', xlsx: { freeze_header: true, sheet: 'Bookings' } } },
);
const UPLOAD = Buffer.from('id;amount;on\n007;1,50;31.01.2026\n=1+1;-2;01.03.1900\n');

t.test('a workbook is made, told and downloaded', async (t) => {
  const accounts = { acme: { keys: { full: { scopes: ALL_SCOPES } }, templates: { workbook: TEMPLATE } } };
  const service = await startService(t, { accounts }, { workers: 2 });
  const acme = service.client();
  t.match((await acme.get('/api/v1/templates')).text, '"output_format":"xlsx"');

  const answer = await acme.upload('workbook', [file(UPLOAD)]);
  expectRun(t, answer, 201, 'succeeded');
  const { id, output } = answer.run;
  t.match(output, { mime_type: MIME_TYPE, name: /\.xlsx$/ });
  const whole = await acme.get(`/api/v1/runs/${id}/output`);
  t.equal(whole.status, 200);
  t.equal(output?.size_bytes, whole.body.length);
  t.match(whole.headers['content-disposition'], /\.xlsx/);
  t.strictSame(await valuesOf(whole.body), [
    ['id', 'amount', 'on'],
    ['007', 1.5, new Date('2026-01-31T00:00:00Z')],
    ['=1+1', -2, new Date('1900-03-01T00:00:00Z')],
  ]);
  const tail = await acme.get(`/api/v1/runs/${id}/output`, { range: 'bytes=100-' });
  t.equal(tail.status, 206);
  t.ok(tail.body.equals(whole.body.subarray(100)));

  // Enough of them at once for both threads; each loads what it needs with its first.
  const again = await Promise.all(Array.from({ length: 4 }, () => acme.upload('workbook', [file(UPLOAD)])));
  for (const { run } of again) {
    const { body } = await acme.get(`/api/v1/runs/${run.id}/output`);
    t.ok(body.equals(whole.body), 'the same bytes');
  }
});

t.test('an output in several files is an archive', async (t) => {
  const split = template([], { output: { format: 'xlsx', split_by: ['id'] } });
  const accounts = { acme: { keys: { full: { scopes: ALL_SCOPES } }, templates: { split } } };
  const service = await startService(t, { accounts }, { workers: 2 });
  const acme = service.client();
  const answer = await acme.upload('split', [file(UPLOAD)]);
  expectRun(t, answer, 201, 'succeeded');
  const { id, output } = answer.run;
  t.match(output, { mime_type: 'application/zip', name: /\.zip$/ });
  const { body, headers } = await acme.get(`/api/v1/runs/${id}/output`);
  t.match(headers['content-disposition'], /\.zip/);
  t.equal(body.length, output?.size_bytes);
  t.ok(body.includes('007.xlsx') && body.includes('=1+1.xlsx'));
});
