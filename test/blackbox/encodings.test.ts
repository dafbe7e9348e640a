// Encodings over HTTP: declared, in a list, found; small uploads, and larger ones whose first wrong byte comes late.
// With all tests only: files of all formats over HTTP.
import t, { type Test } from 'tap';
import { template } from './catalog-folder.ts';
import type { Answer } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const reading = (encoding: unknown): object => template([], { input: { csv: { encoding } } });
const service = await startService(t, {
  accounts: {
    acme: {
      templates: {
        silent: template([]),
        western: reading('windows-1252'),
        list: reading(['utf-8', 'windows-1252']),
        asian: reading(['utf-8', 'shift_jis', 'gb18030']),
        auto: reading('auto'),
      },
    },
  },
});
const acme = service.client();
const LATE_ROWS = 200_000;
const lines = 'x,y\n'.repeat(LATE_ROWS);

async function expectOutput(t: Test, answer: Answer, encoding: string, output: string): Promise<void> {
  expectRun(t, answer, 201, 'succeeded');
  const report = answer.json['report'] as { readonly input: { readonly encoding: string }; readonly rows_read: number };
  t.equal(report.input.encoding, encoding);
  const { text } = await acme.get(`/api/v1/runs/${answer.run.id}/output`);
  t.ok(text === output, `${text.length} characters of ${output.length}`);
  t.equal(report.rows_read, output.split('\n').length - 2, 'rows of one try alone are counted');
}

for (const rows of ['', lines]) {
  const size = rows === '' ? 'small' : 'large';
  const western = Buffer.from(`a,b\n${rows}M\xfcller,Stra\xdfe\n`, 'latin1');
  const expected = `a,b\n${rows}Müller,Straße\n`;
  for (const id of ['western', 'list', 'auto']) {
    t.test(`windows-1252 by ${id}, ${size}`, async (t) => {
      await expectOutput(t, await acme.upload(id, [file(western)]), 'windows-1252', expected);
    });
  }
  t.test(`UTF-8 by list and auto, ${size}`, async (t) => {
    for (const id of ['list', 'auto', 'silent'])
      await expectOutput(t, await acme.upload(id, [file(expected)]), 'utf-8', expected);
  });
  t.test(`the 400 names the encoding to write, and nothing of the file, ${size}`, async (t) => {
    const answer = await acme.upload('silent', [file(western)]);
    expectError(t, answer, 400, 'MALFORMED_FILE');
    const line = rows === '' ? 2 : LATE_ROWS + 2;
    t.equal(
      answer.json['message'],
      `Line ${line} is not valid UTF-8. Most likely it is windows-1252: write input.csv.encoding: windows-1252 into the Template.`,
    );
  });
  t.test(`each of a list in turn, ${size}`, async (t) => {
    // Valid in neither UTF-8 nor Shift_JIS: 中 as GB 18030, after what Shift_JIS could be.
    const chinese = Buffer.concat([Buffer.from(`a,b\n${rows}`), Buffer.from([0xd6, 0xd0, 0x2c, 0xfe, 0x50, 10])]);
    const text = `a,b\n${rows}中,${new TextDecoder('gb18030').decode(Uint8Array.of(0xfe, 0x50))}\n`;
    await expectOutput(t, await acme.upload('asian', [file(chinese)]), 'gb18030', text);
  });
}

t.test('a list of which none is right', async (t) => {
  expectError(t, await acme.upload('asian', [file(Buffer.from('a\n\xff\xff\n', 'latin1'))]), 400, 'MALFORMED_FILE');
});

t.test('while the body still comes: the next try waits for its end', async (t) => {
  const western = Buffer.from(`a,b\nM\xfcller,x\n${lines}Stra\xdfe,y\n`, 'latin1');
  const held = acme.hold('list', [file(western)], -300_000);
  t.notOk(held.answered());
  await expectOutput(t, await held.finish(), 'windows-1252', `a,b\nMüller,x\n${lines}Straße,y\n`);
});

t.test('a guess is stated in the report, a certain encoding is not', async (t) => {
  const guess = async (id: string, body: Buffer) => {
    const { json } = await acme.upload(id, [file(body)]);
    return (json['report'] as { readonly input: Record<string, unknown> }).input['encoding_guess'];
  };
  t.equal(await guess('auto', Buffer.from('a,b\nM\xfcller,1\n', 'latin1')), 'letters of German');
  t.equal(await guess('auto', Buffer.from('a,b\n1\xa0234,1\n', 'latin1')), 'signs alone');
  t.equal(await guess('auto', Buffer.from('a,b\nMüller,1\n')), undefined);
  t.equal(await guess('western', Buffer.from('a,b\nM\xfcller,1\n', 'latin1')), undefined);
});

t.test('a mixture of UTF-8 and another encoding is refused, and its lines are named', async (t) => {
  const mixed = Buffer.concat([
    Buffer.from('id,name\n1,Müller\n2,Jürgen\n'),
    Buffer.from('3,G\xf6\xdfler\n', 'latin1'),
  ]);
  for (const id of ['silent', 'auto', 'list']) {
    const answer = await acme.upload(id, [file(mixed)]);
    expectError(t, answer, 400, 'MALFORMED_FILE');
    t.equal(
      answer.json['message'],
      'The file mixes UTF-8 with another encoding: lines 2 and 3 are UTF-8, line 4 is not. Save the whole file in one ' +
        'encoding, or declare the encoding in which all lines are to be read: input.csv.encoding.',
    );
  }
});

t.test('a mixture is found where its second encoding begins late', async (t) => {
  const lines = (count: number, name: string) => Array.from({ length: count }, (_, row) => `${row},${name}\n`).join('');
  const mixed = Buffer.concat([
    Buffer.from(`id,name\n${lines(9_000, 'Müller')}`),
    Buffer.from(lines(300, 'G\xf6\xdfler'), 'latin1'),
  ]);
  for (const id of ['silent', 'auto', 'list']) {
    const answer = await acme.upload(id, [file(mixed)]);
    expectError(t, answer, 400, 'MALFORMED_FILE');
    t.match(answer.json['message'], /lines 2, 3, 4 and others are UTF-8, lines 9002, 9003, 9004 and others are not\./);
  }
});

t.test('UTF-16 without a byte order mark is named, and an odd number of its bytes', async (t) => {
  const little = Buffer.from('a\tb\nцена\t2\n', 'utf16le');
  for (const [bytes, name] of [
    [little, 'utf-16le'],
    [Buffer.from(little).swap16(), 'utf-16be'],
  ] as const) {
    const answer = await acme.upload('silent', [file(bytes)]);
    expectError(t, answer, 400, 'MALFORMED_FILE');
    t.equal(
      answer.json['message'],
      `The file is UTF-16 without a byte order mark. Most likely it is ${name}: write input.csv.encoding: ${name} into the Template.`,
    );
    await expectOutput(t, await acme.upload('auto', [file(bytes)]), name, 'a,b\nцена,2\n');
    const odd = await acme.upload('auto', [file(bytes.subarray(0, -1))]);
    expectError(t, odd, 400, 'MALFORMED_FILE');
    t.match(odd.json['message'], /odd number of bytes/);
  }
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
