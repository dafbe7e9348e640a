// ZIP archives over HTTP: the only file in an archive is read according to its type; other archives are refused with the reason.
// With all tests only: files of all formats over HTTP.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { rowsOf, workbookOf } from '../workers/input/xlsx/workbook-writer.ts';
import { zipOf } from '../workers/input/xlsx/zip-writer.ts';
import { plan, template } from './catalog-folder.ts';
import type { Answer } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const templates = { plain: template([]) };
const service = await startService(t, {
  plans: { narrow: plan({ inflated_bytes_max: 1_000_000 }) },
  accounts: { acme: { templates }, narrow: { plan: 'narrow', templates } },
});
const acme = service.client();

async function upload(name: string, bytes: Buffer): Promise<Answer> {
  return await acme.upload(name, [file(bytes)]);
}

async function output(t: Test, answer: Answer): Promise<string> {
  expectRun(t, answer, 201, 'succeeded');
  return (await acme.get(`/api/v1/runs/${answer.run.id}/output`)).text;
}

t.test('one file in a ZIP archive, whatever is around it; gzip around a workbook', async (t) => {
  const noise = [
    { name: 'folder/', content: '' },
    { name: '__MACOSX/folder/._orders.csv', content: 'x' },
  ];
  const packed = (name: string, content: string | Buffer): Buffer => zipOf([...noise, { name, content }]);
  const sheet = workbookOf({
    rows: rowsOf([
      ['id', 'amount'],
      [1, 2],
    ]),
  });
  const csv = `id,amount\n${'1,2\n'.repeat(60_000)}`;
  t.equal(await output(t, await upload('plain', packed('folder/orders.csv', csv))), csv);
  t.equal(await output(t, await upload('plain', packed('book.xlsx', sheet))), 'id,amount\n1,2\n');
  t.equal(await output(t, await upload('plain', gzipSync(sheet))), 'id,amount\n1,2\n');
  t.equal(await output(t, await upload('plain', gzipSync(packed('a.csv', csv)))), csv);
  expectError(
    t,
    await service.client('narrow').upload('plain', [file(packed('a.csv', 'id\n'.repeat(400_000)))]),
    413,
    'FILE_TOO_LARGE',
  );
});

const CSV_ENTRY = { name: 'a.csv', content: 'a,b\n1,2\n' };
const REFUSED: Record<string, readonly [bytes: Buffer, says: RegExp]> = {
  'several files': [zipOf([CSV_ENTRY, { name: 'Canary.csv', content: 'x' }]), /several files/],
  'a ZIP in a ZIP': [zipOf([{ name: 'a.zip', content: zipOf([CSV_ENTRY]) }]), /ZIP archive in a ZIP archive/],
  'an encrypted entry': [zipOf([{ ...CSV_ENTRY, isEncrypted: true }]), /encrypted/],
  'an unknown method': [zipOf([{ ...CSV_ENTRY, method: 12 }]), /deflate/],
  'gzip in a ZIP': [zipOf([{ name: 'a.gz', content: gzipSync('a\n') }]), /compressed twice/],
  'a PDF in a ZIP': [zipOf([{ name: 'a.csv', content: '%PDF-1.7' }]), /PDF/],
  'an OpenDocument sheet': [
    zipOf([
      { name: 'content.xml', content: 'x' },
      { name: 'META-INF/manifest.xml', content: 'x' },
    ]),
    /\.ods.*save it as XLSX or CSV/,
  ],
  'a binary workbook': [
    zipOf([
      { name: '_rels/.rels', content: '<R><Relationship Type="u/officeDocument" Target="xl/workbook.bin"/></R>' },
      { name: 'xl/workbook.bin', content: 'x' },
    ]),
    /\.xlsb/,
  ],
  'another office document': [
    zipOf([
      { name: '_rels/.rels', content: '<R><Relationship Type="u/officeDocument" Target="word/document.xml"/></R>' },
      { name: 'word/document.xml', content: '<w:document xmlns:w="w"/>' },
    ]),
    /not a workbook/,
  ],
};
for (const [what, [bytes, says]] of Object.entries(REFUSED)) {
  t.test(`${what}: 415 that says so`, async (t) => {
    const answer = await upload('plain', bytes);
    expectError(t, answer, 415, 'UNSUPPORTED_FILE_TYPE');
    t.match(answer.json['message'], says);
  });
}

t.test('what is broken is 400', async (t) => {
  expectError(t, await upload('plain', zipOf([])), 400, 'MALFORMED_FILE');
  expectError(t, await upload('plain', zipOf([{ ...CSV_ENTRY, toldCrc32: 1 }])), 400, 'MALFORMED_FILE');
  expectError(t, await upload('plain', zipOf([{ name: 'a.csv', content: '' }])), 400, 'MALFORMED_FILE');
});

t.test('nothing of them is logged', (t) => checkLogs(t, service));
