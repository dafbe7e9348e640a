// Files of fixed columns over HTTP, from the command line and from standard input.
// With all tests only: files of all formats over HTTP.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { skipUnlessLong } from '../sweep.ts';
import { template } from './catalog-folder.ts';
import { expectError, expectRun } from './expect.ts';
import { field, file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const TEMPLATE = 'examples/catalog/templates/demo/payment-records.yaml';
const FILE = 'examples/files/payment-records.txt';
const EXPECTED = [
  'account,booked_on,party,amount',
  '0004711001,2026-10-01,Müller & Söhne GmbH,-1234.50',
  '0004711001,2026-10-02,Jürgen Groß,49.99',
  '0004711002,2026-10-02,Café François,10000.00',
  '0004711003,2026-10-05,Weiß Möbel,-189.00',
  '',
].join('\n');
const fixed = {
  columns: [
    { name: 'id', start: 1, length: 3 },
    { name: 'amount', start: 5, length: 4 },
  ],
};
const service = await startService(t, {
  accounts: {
    acme: {
      templates: {
        records: readFileSync(TEMPLATE, 'utf8'),
        plain: template([], { input: { fixed } }),
        strict: template([], { input: { fixed, csv: { ragged: 'fail' } } }),
      },
    },
  },
});
const acme = service.client();
const outputOf = async (id: string): Promise<string> => (await acme.get(`/api/v1/runs/${id}/output`)).text;

t.test('records of a bank in windows-1252, also compressed', async (t) => {
  for (const upload of [readFileSync(FILE), gzipSync(readFileSync(FILE))]) {
    const answer = await acme.upload('records', [file(upload)]);
    expectRun(t, answer, 201, 'succeeded');
    t.equal(await outputOf(answer.run.id), EXPECTED);
    const { input } = answer.json['report'] as { readonly input: Readonly<Record<string, unknown>> };
    t.match(input, { type: 'fixed', encoding: 'windows-1252', delimiter: null, header_row: null });
  }
});

t.test('header_row of the request; the delimiter has no effect', async (t) => {
  const upload = file('ID  AMOUNT\n001 1.50\n002 2.50\n');
  const answer = await acme.upload('plain', [field('header_row', '0'), field('delimiter', ';'), upload]);
  expectRun(t, answer, 201, 'succeeded');
  t.equal(await outputOf(answer.run.id), 'id,amount\n001,1.50\n002,2.50\n');
});

t.test('100,000 lines, and one that is too long', async (t) => {
  const lines = '001 1.50\n'.repeat(100_000);
  const answer = await acme.upload('strict', [file(lines)]);
  expectRun(t, answer, 201, 'succeeded');
  t.equal(answer.run.rows_written, 100_000);
  const longer = await acme.upload('strict', [file(`${lines}002 2.50CanaryCell\n`)]);
  expectError(t, longer, 400, 'MALFORMED_FILE');
  t.equal(longer.json['message'], 'Line 100001 has text after the last column of input.fixed.');
});

t.test('what is no text is refused', async (t) => {
  expectError(t, await acme.upload('plain', [file('%PDF-1.7\n')]), 415, 'UNSUPPORTED_FILE_TYPE');
  expectError(t, await acme.upload('plain', [file('\n\n')]), 400, 'MALFORMED_FILE');
});

t.test('the command line reads the file and standard input', { skip: skipUnlessLong }, async (t) => {
  const run = (args: readonly string[], input?: Buffer): string =>
    execFileSync(process.execPath, ['dist/src/cli.js', 'run', TEMPLATE, ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
      input,
    });
  t.equal(run([FILE]), EXPECTED);
  t.equal(run(['-'], readFileSync(FILE)), EXPECTED);
  t.equal(run(['-'], gzipSync(readFileSync(FILE))), EXPECTED);
  const inspected = execFileSync(process.execPath, ['dist/src/cli.js', 'inspect', '-'], {
    encoding: 'utf8',
    input: Buffer.from('Stra\xdfe;Ort\nM\xfchlweg 1;K\xf6ln\n', 'latin1'),
  });
  t.match(JSON.parse(inspected), { encoding: 'windows-1252', rows: 1, doubt: /input\.csv\.encoding: windows-1252/ });
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
