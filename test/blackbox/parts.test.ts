// The form of create_run: parts, parameters, their encoding, and each error of the file by itself.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { PICK, plan, step, template } from './catalog-folder.ts';
import { type Answer, type Client, rawExchange, until } from './client.ts';
import { expectError, expectNew, expectRun } from './expect.ts';
import { field, file, form, type Part } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const BYTES_MAX = 200_000;
const service = await startService(t, {
  plans: { small: plan({ upload_bytes_max: BYTES_MAX, rows_max: 20, inflated_bytes_max: 400_000 }) },
  accounts: {
    acme: {
      templates: {
        pick: PICK,
        all: template([]),
        lacking: template([step('drop', { columns: ['x', 'amount', 'y'] })]),
      },
    },
    small: { plan: 'small', templates: { pick: PICK, all: template([]) } },
  },
});
const acme = service.client();
const small = service.client('small');

async function outputOf(client: Client, answer: Answer): Promise<string> {
  return (await client.get(`/api/v1/runs/${answer.run.id}/output`)).text;
}

async function expectPicked(t: Test, answer: Answer, expected = 'id,total\n001,1.50\n'): Promise<void> {
  expectRun(t, answer, 201, 'succeeded');
  t.equal(await outputOf(acme, answer), expected);
}

const SEMICOLONS = 'id,x;amount,y;c\n1;2;3\n';
t.test('delimiter overrides the detected one, before the file and after it', async (t) => {
  const upload = file('id,amount;x\n1,2;y\n3,4;z\n');
  for (const parts of [
    [field('delimiter', ','), upload],
    [upload, field('delimiter', ',')],
  ]) {
    await expectPicked(t, await acme.upload('all', parts), 'id,amount;x\n1,2;y\n3,4;z\n');
  }
  for (const parts of [
    [field('delimiter', ';'), upload],
    [upload, field('delimiter', ';')],
  ]) {
    await expectPicked(t, await acme.upload('all', parts), '"id,amount",x\n"1,2",y\n"3,4",z\n');
  }
});

t.test('a delimiter of several bytes, a space, a letter', async (t) => {
  for (const delimiter of ['\u00a6', '\u2603', '\u{1f600}', ' ', 'X', '|', '^', "'"]) {
    const upload = file(`id${delimiter}amount\n001${delimiter}1.50\n`);
    await expectPicked(t, await acme.upload('pick', [field('delimiter', delimiter), upload]));
  }
});

t.test('a delimiter that is not one printable character: INVALID_PARSE_PARAMS', async (t) => {
  const texts = [
    '',
    '\t',
    '\\t',
    ',,',
    ';;',
    '"',
    '\n',
    '\u0000',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\u200b',
    '\ufffd',
    'e\u0301',
    '\u{1f600}\u{1f600}',
    '\ue000',
  ];
  const values = [...texts, Buffer.from([0xff]), Buffer.from([0xc3])];
  for (const value of values) {
    const answer = await acme.upload('pick', [field('delimiter', value), file(CSV)]);
    expectError(t, answer, 422, 'INVALID_PARSE_PARAMS');
  }
});

t.test('header_row counts records from 0, blank ones included, and skips the rows above it', async (t) => {
  const upload = file('title,,\n\nid,amount,c\n001,1.50,x\n');
  for (const parts of [
    [field('header_row', '2'), upload],
    [upload, field('header_row', '2')],
  ]) {
    await expectPicked(t, await acme.upload('pick', parts));
  }
  await expectPicked(t, await acme.upload('pick', [field('header_row', '0'), file(CSV)]));
  await expectPicked(t, await acme.upload('pick', [field('header_row', '0000000000'), file(CSV)]));
});

t.test('a header_row that is no non-negative integer: INVALID_PARSE_PARAMS', async (t) => {
  for (const value of ['', '-1', '+1', '1.0', '1e0', ' 1', '1 ', 'x', '0x1', '00000000000', '\u0661', 'none']) {
    const answer = await acme.upload('pick', [file(CSV), field('header_row', value)]);
    expectError(t, answer, 422, 'INVALID_PARSE_PARAMS');
  }
});

t.test('header_row lies below the row ceiling: 422 at it and above, 400 after the end of the file', async (t) => {
  for (const value of ['20', '21', '9999999999']) {
    expectError(t, await small.upload('pick', [field('header_row', value), file(CSV)]), 422, 'INVALID_PARSE_PARAMS');
  }
  expectError(t, await small.upload('pick', [field('header_row', '19'), file(CSV)]), 400, 'MALFORMED_FILE');
});

t.test('a second delimiter or header_row: INVALID_PARSE_PARAMS, even the same', async (t) => {
  for (const [name, value] of [
    ['delimiter', ','],
    ['header_row', '0'],
  ] as const) {
    const answer = await acme.upload('pick', [field(name, value), file(CSV), field(name, value)]);
    expectError(t, answer, 422, 'INVALID_PARSE_PARAMS');
  }
});

t.test('a parameter of more than 64 bytes: INVALID_PARSE_PARAMS', async (t) => {
  const answer = await acme.upload('pick', [field('header_row', '0'.repeat(65)), file(CSV)]);
  expectError(t, answer, 422, 'INVALID_PARSE_PARAMS');
});

t.test('unknown parts are read and ignored, before the file and after it', async (t) => {
  const other = field('comment', 'Canary'.repeat(1000));
  const second: Part = { name: 'attachment', value: 'Canary', filename: 'Canary.bin' };
  await expectPicked(t, await acme.upload('pick', [other, second, file(CSV), second, other]));
});

t.test('unknown parts count towards the size ceiling', async (t) => {
  const answer = await small.upload('pick', [field('comment', 'x'.repeat(BYTES_MAX)), file(CSV)]);
  expectError(t, answer, 413, 'FILE_TOO_LARGE');
});

t.test('64 parts are read, 65 are not', async (t) => {
  const others = Array.from({ length: 64 }, (_, index) => field(`other${index}`, 'x'));
  expectRun(t, await acme.upload('pick', [...others.slice(1), file(CSV)]), 201, 'succeeded');
  t.equal((await acme.upload('pick', [...others, file(CSV)])).status, 400);
});

const NO_NAME: Part = { name: 'file', value: CSV };
for (const [what, parts] of Object.entries({
  'no part at all': form([]),
  'no file': form([field('delimiter', ',')]),
  'a second file': form([file(CSV), file(CSV)]),
  'an empty file': form([file('')]),
  'file as a plain field': form([NO_NAME]),
  'a missing last boundary': form([file(CSV)], { closed: false }),
  'a body that is no form': { body: Buffer.from(CSV), contentType: form([]).contentType },
  'another boundary than declared': {
    body: form([file(CSV)]).body,
    contentType: 'multipart/form-data; boundary=other',
  },
  'an empty body': { body: Buffer.alloc(0), contentType: form([]).contentType },
})) {
  t.test(`${what}: MALFORMED_FILE, sized and chunked`, async (t) => {
    for (const chunked of [false, true]) {
      expectError(t, await acme.upload('pick', parts, { chunked }), 400, 'MALFORMED_FILE');
    }
  });
}

t.test('not multipart/form-data, or without a boundary: UNSUPPORTED_FILE_TYPE', async (t) => {
  const { body, contentType } = form([file(CSV)]);
  for (const type of [
    'text/csv',
    'application/json',
    'multipart/form-data',
    'multipart/form-data; boundary=',
    contentType.replace('form-data', 'mixed'),
    '',
  ]) {
    expectError(t, await acme.upload('pick', { body, contentType: type }), 415, 'UNSUPPORTED_FILE_TYPE');
  }
  expectError(t, await acme.request('POST', '/api/v1/templates/pick/runs'), 415, 'UNSUPPORTED_FILE_TYPE');
});

t.test('boundaries and types as clients write them', async (t) => {
  for (const [boundary, written] of [
    ['x', 'x'],
    ['a b', '"a b"'],
    ["'()+_,-./:=?", `"'()+_,-./:=?"`],
    ['y'.repeat(70), 'y'.repeat(70)],
  ] as const) {
    const { body } = form([file(CSV)], { boundary });
    await expectPicked(t, await acme.upload('pick', { body, contentType: `Multipart/Form-Data; boundary=${written}` }));
    const between = `multipart/form-data; charset=utf-8; boundary=${written}`;
    await expectPicked(t, await acme.upload('pick', { body, contentType: between }));
  }
});

t.test('parts after the final boundary are ignored, and end no upload', async (t) => {
  const { body, contentType } = form([field('delimiter', ';'), file(CSV.replaceAll(',', ';'))], { boundary: 'b' });
  const other = '--b\r\nContent-Disposition: form-data; name="other"; filename="q"\r\n\r\nz\r\n';
  for (const epilogue of [other + other, `${other}--b--\r\n`, 'text']) {
    const whole = Buffer.concat([body, Buffer.from(epilogue)]);
    await expectPicked(t, await acme.upload('pick', { body: whole, contentType }));
  }
  const empty = { body: Buffer.concat([Buffer.from('--b--\r\n'), body]), contentType };
  expectError(t, await acme.upload('pick', empty), 400, 'MALFORMED_FILE');
});

t.test('the part of the file may have any type and name, or a path in it', async (t) => {
  for (const filename of ['Canary.xlsx', 'C:\\Canary\\a.csv', '../Canary.csv', 'Canary \u00fc.csv', 'Canary']) {
    await expectPicked(t, await acme.upload('pick', [file(CSV, { filename, type: 'application/vnd.ms-excel' })]));
  }
});

t.test('Content-Encoding: identity passes, any other is UNSUPPORTED_FILE_TYPE', async (t) => {
  const encoded = (value: string | string[]): Promise<Answer> =>
    acme.upload('pick', [file(CSV)], { headers: { 'content-encoding': value } });
  await expectPicked(t, await encoded('identity'));
  for (const value of ['gzip', 'br', 'x', ['identity', 'gzip']])
    expectError(t, await encoded(value), 415, 'UNSUPPORTED_FILE_TYPE');
});

t.test('a chunked upload, and one in pieces of a byte', async (t) => {
  await expectPicked(t, await acme.upload('pick', [file(CSV)], { chunked: true }));
  const held = acme.hold('pick', [file(CSV)], 0, {
    headers: { 'content-length': String(form([file(CSV)]).body.length) },
  });
  for (const byte of form([file(CSV)]).body.subarray(0, -1)) held.send(Buffer.from([byte]));
  held.send(form([file(CSV)]).body.subarray(-1));
  await expectPicked(t, await held.answer);
});

t.test('Expect: 100-continue is served', async (t) => {
  const { body, contentType } = form([file(CSV)]);
  const head = `POST /api/v1/templates/pick/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${acme.key}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`;
  const send = (socket: { write(data: Buffer | string): void }): void => {
    socket.write(head);
    setTimeout(() => socket.write(body), 300);
  };
  const { text } = await rawExchange(service.port, send, (text) => /"status": ?"/.test(text));
  t.match(text, /HTTP\/1.1 201/);
});

t.test('the size ceiling: a file of exactly the ceiling passes, one byte more is FILE_TOO_LARGE', async (t) => {
  const sized = (bytes: number): string => `id,amount\n1,${'x'.repeat(bytes - 13)}\n`;
  for (const chunked of [false, true]) {
    expectRun(t, await small.upload('all', [file(sized(BYTES_MAX))], { chunked }), 201, 'succeeded');
    expectError(t, await small.upload('all', [file(sized(BYTES_MAX + 1))], { chunked }), 413, 'FILE_TOO_LARGE');
  }
});

t.test('a Content-Length over the ceiling and 64 KiB is answered before the body comes', async (t) => {
  const length = String(BYTES_MAX + 65_537);
  const held = small.hold('pick', [file(CSV)], 10, { headers: { 'content-length': length } });
  expectError(t, await held.answer, 413, 'FILE_TOO_LARGE');
  held.vanish();
});

t.test('received bytes over the ceiling are answered while they still come', async (t) => {
  const held = small.hold('pick', form([file('x'.repeat(BYTES_MAX + 80_000))]), -10, { chunked: true });
  expectError(t, await held.answer, 413, 'FILE_TOO_LARGE');
  held.vanish();
});

t.test('what gzip inflates to is capped: FILE_TOO_LARGE', async (t) => {
  const bomb = gzipSync(`id,amount\n1,${'x'.repeat(400_001)}\n`);
  expectError(t, await small.upload('all', [file(bomb)]), 413, 'FILE_TOO_LARGE');
});

t.test('after all of these nothing is held: the next Run of the account succeeds', async (t) => {
  const answer = await until(
    () => small.upload('pick', [file(CSV)]),
    ({ status }) => status === 201,
  );
  expectNew(t, answer);
  expectRun(t, await acme.upload('all', [file(SEMICOLONS)]), 201, 'succeeded');
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
