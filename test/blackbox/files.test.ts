// Each error of a file by itself, and which error create_run reports if there are several.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { skipUnlessLong } from '../sweep.ts';
import { ALL_SCOPES, PICK, plan, step, template } from './catalog-folder.ts';
import { type Answer, pause } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import { field, file, form, type Part } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const BYTES_MAX = 200_000;
const ONE_PER_HOUR = { requests: 1, window_seconds: 3600 };
/** Templates that bring headers or cells into a normal form of Unicode. */
const NORMALISING = {
  normal: template([], { input: { header_match: 'normal', columns: [{ name: 'A' }, { name: 'b', required: false }] } }),
  loose: template([], { input: { header_match: 'loose', columns: [{ name: 'Á' }, { name: 'b', required: false }] } }),
  nfc: template([step('text', { columns: '*', steps: ['nfc'] })]),
  nfkc: template([step('text', { columns: '*', steps: ['nfkc'] })]),
  accents: template([step('text', { columns: '*', steps: ['strip_accents', 'lower'] })]),
  matched: template([step('dedupe', { by: '*', match: 'normal' })]),
  headers: template([step('drop_repeated_headers')]),
};
const service = await startService(t, {
  plans: {
    small: plan({ upload_bytes_max: BYTES_MAX, rows_max: 20 }),
    seldom: plan({ rate_limits: { create_run: ONE_PER_HOUR } }),
    single: plan({ runs_in_flight_max: 1, runs_per_period: 1 }),
  },
  accounts: {
    acme: {
      templates: {
        pick: PICK,
        all: template([]),
        ...NORMALISING,
        lacking: template([step('drop', { columns: ['x', 'amount', 'y'] })]),
      },
    },
    small: { plan: 'small', templates: { pick: PICK, all: template([]) } },
    seldom: { plan: 'seldom', keys: { full: { scopes: ALL_SCOPES }, read: { scopes: ['runs:read'] } } },
    single: { plan: 'single' },
  },
});
const acme = service.client();
const small = service.client('small');

async function expectPicked(t: Test, answer: Answer, expected: string): Promise<void> {
  expectRun(t, answer, 201, 'succeeded');
  t.equal((await acme.get(`/api/v1/runs/${answer.run.id}/output`)).text, expected);
}

const MALFORMED: Record<string, string | Buffer> = {
  'only blank lines': '\n\n\r\n\n',
  'an unterminated quote': 'id,amount\n1,2\n3,"Canary\n4,5\n',
  'invalid UTF-8': Buffer.concat([Buffer.from('id,amount\n1,'), Buffer.from([0xc3, 0x28]), Buffer.from('\n')]),
  'UTF-8 that is cut off': Buffer.concat([Buffer.from('id,amount\n1,'), Buffer.from([0xe2, 0x82])]),
  'a NUL byte': 'id,amount\n1,\u0000\n',
  'gzip that is cut off': gzipSync(`id,amount\n${'1,2\n'.repeat(5000)}`).subarray(0, -12),
  'gzip with a wrong checksum': (() => {
    const bytes = gzipSync(CSV);
    bytes[bytes.length - 6]! ^= 0xff;
    return bytes;
  })(),
  'gzip of nothing': gzipSync(''),
  'a cell over 4 MiB': `id,amount\n1,${'x'.repeat(4 * 1024 * 1024 + 1)}\n`,
  'more than 16,384 columns': `${Array.from({ length: 16_385 }, (_, index) => `c${index}`).join(',')}\n`,
};
for (const [what, upload] of Object.entries(MALFORMED)) {
  t.test(`${what}: MALFORMED_FILE`, async (t) => {
    expectError(t, await acme.upload(what.startsWith('more') ? 'all' : 'pick', [file(upload)]), 400, 'MALFORMED_FILE');
  });
}

t.test('the message of a malformed file names the line', async (t) => {
  const answer = await acme.upload('pick', [file(`id,amount\n${'1,2\n'.repeat(10)}3,"open\n`)]);
  t.match(answer.json['message'], /\b12\b/);
});

t.test('a row over 16 MiB: MALFORMED_FILE; one below passes', { skip: skipUnlessLong }, async (t) => {
  const cell = 'x'.repeat(3_500_000);
  const row = (cells: number): string => `id,amount,a,b,c,d\n1,2${`,${cell}`.repeat(cells)}\n`;
  expectError(t, await acme.upload('pick', [file(row(4).replace(/\n$/, `,${cell}\n`))]), 400, 'MALFORMED_FILE');
  await expectPicked(t, await acme.upload('pick', [file(row(4))]), 'id,total\n1,2\n');
});

t.test('columns that the Template requires and the file lacks: 422 with all their names', async (t) => {
  const answer = await acme.upload('lacking', [file(CSV)]);
  expectError(t, answer, 422, 'TEMPLATE_COLUMNS_MISSING');
  t.strictSame([...(answer.json['columns'] as string[])].sort(), ['x', 'y']);
});

t.test('rows at the ceiling pass, one more is ROW_LIMIT_EXCEEDED; header and rows above do not count', async (t) => {
  const rows = (count: number): string => `id,amount\n${'1,2\n'.repeat(count)}`;
  expectRun(t, await small.upload('all', [file(rows(20))]), 201, 'succeeded');
  expectError(t, await small.upload('all', [file(rows(21))]), 413, 'ROW_LIMIT_EXCEEDED');
  const above = await small.upload('all', [field('header_row', '2'), file(`a,b\nc,d\n${rows(20)}`)]);
  t.equal(above.run.rows_written, 20);
});

const PDF = '%PDF-1.7\n1 0 obj\n<<>>\nendobj\n';
const TOO_LONG = { 'content-length': '900000000' };
const BAD_KEY = { 'idempotency-key': '\u00e9' };
const HUGE = 'x'.repeat(BYTES_MAX + 1);
const rowsOf = (count: number): string => `id,amount\n${'1,2\n'.repeat(count)}`;
const BAD_DELIMITER = field('delimiter', '::');

t.test('order: the path and the method before the key, the key before all else', async (t) => {
  const nobody = acme.as();
  expectError(t, await nobody.request('POST', '/api/v1/nothing'), 404, 'NOT_FOUND');
  expectError(t, await nobody.request('GET', '/api/v1/templates/unknown/runs'), 405, 'METHOD_NOT_ALLOWED');
  expectError(t, await nobody.upload('unknown', [file('')], { headers: BAD_KEY }), 401, 'API_KEY_MISSING');
});

t.test('order: 403 before 429, and what is refused with 401 or 403 uses no rate', async (t) => {
  const seldom = service.client('seldom');
  for (let count = 0; count < 3; count++) {
    expectError(t, await service.client('seldom', 'read').upload('pick', [file(CSV)]), 403, 'INSUFFICIENT_SCOPE');
  }
  expectRun(t, await seldom.upload('pick', [file(CSV)]), 201, 'succeeded');
  expectError(t, await seldom.upload('pick', [file(CSV)]), 429, 'RATE_LIMITED');
  expectError(t, await service.client('seldom', 'read').upload('pick', [file(CSV)]), 403, 'INSUFFICIENT_SCOPE');
});

t.test('order: 429 rate before 422 key, 422 key before 404, 404 before 415, 415 before 413 by length', async (t) => {
  const seldom = service.client('seldom');
  expectError(t, await seldom.upload('unknown', [file(CSV)], { headers: BAD_KEY }), 429, 'RATE_LIMITED');
  const wrongType = { body: Buffer.from(CSV), contentType: 'text/csv' };
  expectError(t, await small.upload('unknown', wrongType, { headers: BAD_KEY }), 422, 'INVALID_IDEMPOTENCY_KEY');
  expectError(t, await small.upload('unknown', wrongType), 404, 'TEMPLATE_NOT_FOUND');
  const held = small.hold('pick', wrongType, 5, { headers: TOO_LONG });
  expectError(t, await held.answer, 415, 'UNSUPPORTED_FILE_TYPE');
  held.vanish();
});

t.test('order: 413 by length before 409, 409 for another Template before 402', async (t) => {
  const single = service.client('single');
  expectRun(t, await single.upload('pick', [file(CSV)], { key: 'order' }), 201, 'succeeded');
  service.catalog.writeTemplate('single', 'second', PICK);
  service.signal('SIGHUP');
  await service.untilEverywhere(
    'single',
    (client) => client.upload('second', [file(CSV)]),
    ({ status }) => status !== 404,
  );
  const held = single.hold('second', [file(CSV)], 5, { key: 'order', headers: TOO_LONG });
  expectError(t, await held.answer, 413, 'FILE_TOO_LARGE');
  held.vanish();
  expectError(t, await single.upload('second', [file(CSV)], { key: 'order' }), 409, 'IDEMPOTENCY_KEY_REUSED');
  expectError(t, await single.upload('second', [file(CSV)], { key: 'else' }), 402, 'EXPORT_LIMIT_REACHED');
});

t.test('order: 402 before anything in the body', async (t) => {
  for (const parts of [[file('')], [file(PDF)], [BAD_DELIMITER, file(CSV)]]) {
    expectError(t, await service.client('single').upload('pick', parts), 402, 'EXPORT_LIMIT_REACHED');
  }
});

const HELD: Record<string, [Part[], number, string]> = {
  'bytes before a bad parameter': [[BAD_DELIMITER, file(HUGE)], 413, 'FILE_TOO_LARGE'],
  'bytes before the content': [[file(PDF + HUGE)], 413, 'FILE_TOO_LARGE'],
  'bytes before missing columns': [[file(`x,y\n${'1,2\n'.repeat(60_000)}`)], 413, 'FILE_TOO_LARGE'],
  'bytes before rows': [[file(rowsOf(60_000))], 413, 'FILE_TOO_LARGE'],
  'the form before a bad parameter': [[BAD_DELIMITER, file(CSV), file(CSV)], 400, 'MALFORMED_FILE'],
  'the form before the content': [[file(PDF), file(PDF)], 400, 'MALFORMED_FILE'],
  'the form before missing columns': [[file('x,y\n1,2\n'), file(CSV)], 400, 'MALFORMED_FILE'],
  'the form before rows': [[file(rowsOf(21)), file(CSV)], 400, 'MALFORMED_FILE'],
  'a parameter before the content': [[BAD_DELIMITER, file(PDF)], 422, 'INVALID_PARSE_PARAMS'],
  'a parameter after the file before the content': [[file(PDF), BAD_DELIMITER], 422, 'INVALID_PARSE_PARAMS'],
  'a parameter after the file before a malformed file': [[file('\n\n'), BAD_DELIMITER], 422, 'INVALID_PARSE_PARAMS'],
  'a parameter after the file before missing columns': [
    [file('x,y\n1,2\n'), BAD_DELIMITER],
    422,
    'INVALID_PARSE_PARAMS',
  ],
  'a parameter after the file before rows': [[file(rowsOf(21)), BAD_DELIMITER], 422, 'INVALID_PARSE_PARAMS'],
  'the content before missing columns': [[file(PDF)], 415, 'UNSUPPORTED_FILE_TYPE'],
  'missing columns before rows': [[file(rowsOf(21).replace('amount', 'x'))], 422, 'TEMPLATE_COLUMNS_MISSING'],
  'a header row after the end before missing columns': [
    [field('header_row', '9'), file('x,y\n1,2\n')],
    400,
    'MALFORMED_FILE',
  ],
};
for (const [what, [parts, status, code]] of Object.entries(HELD)) {
  t.test(`in the body: ${what}`, async (t) => {
    for (const chunked of [true, false]) expectError(t, await small.upload('pick', parts, { chunked }), status, code);
  });
}

t.test('in the body: a missing last boundary before what was held', async (t) => {
  for (const upload of [PDF, 'x,y\n1,2\n', rowsOf(21)]) {
    const broken = form([file(upload)], { closed: false });
    expectError(t, await small.upload('pick', broken), 400, 'MALFORMED_FILE');
  }
});

t.test('in the body: 409 before a bad parameter, the content, the file, the columns, the rows', async (t) => {
  expectRun(t, await small.upload('pick', [file(CSV)], { key: 'taken' }), 201, 'succeeded');
  for (const parts of [
    [BAD_DELIMITER, file(CSV)],
    [file(PDF)],
    [file('\n\n')],
    [file('x,y\n1,2\n')],
    [file(rowsOf(21))],
  ]) {
    expectError(t, await small.upload('pick', parts, { key: 'taken' }), 409, 'IDEMPOTENCY_KEY_REUSED');
  }
  const broken = form([file(PDF)], { closed: false });
  expectError(t, await small.upload('pick', broken, { key: 'taken' }), 400, 'MALFORMED_FILE');
});

t.test('what was found about the file is held until the end of the body', async (t) => {
  for (const [upload, status, code] of [
    [PDF, 415, 'UNSUPPORTED_FILE_TYPE'],
    ['x,y\n1,2\n', 422, 'TEMPLATE_COLUMNS_MISSING'],
    [rowsOf(25), 413, 'ROW_LIMIT_EXCEEDED'],
  ] as const) {
    const held = small.hold('pick', [file(upload), field('comment', 'x'.repeat(1000))], -900);
    await pause(250);
    t.notOk(held.answered(), 'says nothing while the body comes');
    expectError(t, await held.finish(), status, code);
  }
});

t.test('a parameter after the file discards what was held and begins again', async (t) => {
  const lacking = 'a;id,amount\n1;2,3\n4;5,6\n7;8,9\n';
  const answer = await acme.upload('all', [file(lacking), field('delimiter', ',')]);
  await expectPicked(t, answer, 'a;id,amount\n1;2,3\n4;5,6\n7;8,9\n');
  const titled = 'report of,the month\nid,amount\n001,1.50\n';
  const first = await acme.upload('pick', [field('header_row', '0'), file(titled)]);
  expectError(t, first, 422, 'TEMPLATE_COLUMNS_MISSING');
  await expectPicked(t, await acme.upload('pick', [file(titled), field('header_row', '1')]), 'id,total\n001,1.50\n');
  const tooMany = `${'a,b\n'.repeat(10)}${rowsOf(15)}`;
  const small15 = await small.upload('pick', [file(tooMany), field('header_row', '10')]);
  t.equal(small15.run.rows_written, 15, 'the row ceiling is measured anew');
});

t.test(
  'runs of 600,000 combining marks hold nobody up: each is answered with its Run, not after 30 s without',
  { skip: skipUnlessLong },
  async (t) => {
    const marks = '\u0301\u0316'.repeat(300_000);
    const inHeader = `a;x${marks}\n1;2\n`;
    const inCell = `a;b\nA;x${marks}\n1;y${marks}z\n`;
    for (const name of Object.keys(NORMALISING)) {
      // Two at once for each: one for each thread.
      const answers = await Promise.all(
        [inHeader, inHeader, inCell, inCell].map((content) => acme.upload(name, [file(content)])),
      );
      for (const answer of answers) expectRun(t, answer, 201, 'succeeded');
      t.strictSame(
        answers.map(({ run }) => run.rows_written),
        [1, 1, 2, 2],
        name,
      );
    }
  },
);

t.test('a header of several lines gives joined names, and the report says so', async (t) => {
  const csv = 'Sales of May\n\ntown,2025,,2026,\n,net,gross,net,gross\nRome,1,2,3,4\nBari,5,6,7,8\n';
  const answer = await acme.upload('all', [file(csv)]);
  const inputOf = ({ json }: Answer): object => (json['report'] as { input: object }).input;
  t.match(inputOf(answer), { header_row: 3, header_lines: 2 });
  await expectPicked(t, answer, 'town,2025 net,2025 gross,2026 net,2026 gross\nRome,1,2,3,4\nBari,5,6,7,8\n');
  const given = await acme.upload('all', [file(csv), field('header_row', '2')]);
  t.match(inputOf(given), { header_row: 2 });
  t.notOk('header_lines' in inputOf(given), 'one line that was given stands alone');
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
