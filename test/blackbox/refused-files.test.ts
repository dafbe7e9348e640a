// File types are detected by content, regardless of the name: refused types with a suggested alternative, compressed
// files, and files that decompress to more than allowed.
// With all tests only: files of all formats over HTTP.

import * as zlib from 'node:zlib';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { processorClock } from '../processor-clock.ts';
import { plan, template } from './catalog-folder.ts';
import { expectError, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const BOMB_MILLISECONDS = 2_000;
const GIB = 1024 * 1024 * 1024;
const service = await startService(t, {
  plans: { small: plan({ inflated_bytes_max: 100_000_000 }) },
  accounts: { acme: { templates: { all: template([]) } }, small: { plan: 'small', templates: { all: template([]) } } },
});
const acme = service.client();
const small = service.client('small');

const binary = (start: string | readonly number[], offset = 0): Buffer =>
  Buffer.concat([Buffer.alloc(offset), Buffer.from(start as string), Buffer.from([0, 1, 2, 3]), Buffer.alloc(600)]);
const ole2 = (part: string): Buffer =>
  Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(500), Buffer.from(part, 'utf16le')]);

const REFUSED: Readonly<Record<string, readonly [Buffer | string, RegExp]>> = {
  xls: [ole2('Workbook'), /old Excel workbook \(\.xls\); save it as \.xlsx or CSV/],
  'an encrypted workbook': [ole2('EncryptedPackage'), /encrypted workbook; save it without a password/],
  'another OLE2 file': [ole2('Other'), /OLE2/],
  PDF: ['%PDF-1.7\n1 0 obj', /a PDF; /],
  PNG: [binary([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), /PNG/],
  JPEG: [binary([0xff, 0xd8, 0xff, 0xe0]), /JPEG/],
  GIF: [binary('GIF89a'), /GIF/],
  TIFF: [binary([0x49, 0x49, 0x2a, 0x00]), /TIFF/],
  WebP: [binary('RIFF1234WEBP'), /WebP/],
  HTML: [
    '\n<!DOCTYPE html>\n<html><table><tr><td>1</td></tr></table></html>',
    /HTML page; open it in a spreadsheet program/,
  ],
  'an HTML table': ['<table border=1><tr><td>a</td></tr></table>', /HTML page/],
  RTF: ['{\\rtf1\\ansi a,b\n}', /RTF/],
  XML: ['<?xml version="1.0"?><rows/>', /is XML; /],
  SpreadsheetML: [
    '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook/>',
    /XML spreadsheet of 2003 \(SpreadsheetML\); save it as \.xlsx or CSV/,
  ],
  SQLite: [binary('SQLite format 3\0'), /SQLite/],
  '7z': [binary([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]), /7z archive; unpack it/],
  RAR: [binary([0x52, 0x61, 0x72, 0x21, 0x1a, 0x07, 0x01]), /RAR/],
  bzip2: [Buffer.from('425a6839314159265359', 'hex'), /bzip2/],
  xz: [Buffer.from('fd377a585a000004', 'hex'), /xz/],
  tar: [
    Buffer.concat([Buffer.from('a.csv'), Buffer.alloc(252), Buffer.from('ustar\0'), Buffer.alloc(300)]),
    /tar archive/,
  ],
  Avro: [binary('Obj\x01'), /Avro/],
  ORC: [binary('ORC'), /ORC/],
  Arrow: [binary('ARROW1\0\0'), /Arrow/],
  Feather: [binary('FEA1'), /Arrow file \(Feather\)/],
  'gzip in gzip': [gzipSync(gzipSync('a,b\n')), /compressed twice/],
};
for (const [what, [bytes, message]] of Object.entries(REFUSED)) {
  t.test(`${what}: 415, also compressed and whatever its name`, async (t) => {
    for (const upload of [bytes, gzipSync(bytes)]) {
      const answer = await acme.upload('all', [file(upload)]);
      expectError(t, answer, 415, 'UNSUPPORTED_FILE_TYPE');
      if (what !== 'gzip in gzip') t.match(answer.json['message'], message);
    }
    t.match((await acme.upload('all', [file(bytes)])).json['message'], message);
  });
}

t.test('texts that begin like another type are texts', async (t) => {
  for (const text of [
    'ORC,a\n1,2\n',
    'GIF89a,b\n1,2\n',
    'BZh9,b\n1,2\n',
    'FEA1;b\n1;2\n',
    'ARROW1,b\n1,2\n',
    'BMW,b\n1,2\n',
    'Obj,b\n1,2\n',
  ]) {
    expectRun(t, await acme.upload('all', [file(text)]), 201, 'succeeded');
  }
});

t.test('nothing to read: 400', async (t) => {
  for (const upload of ['\n \n\r\n', gzipSync(''), gzipSync('\n\n'), gzipSync('a,b\n1,2\n').subarray(0, -4)]) {
    expectError(t, await acme.upload('all', [file(upload)]), 400, 'MALFORMED_FILE');
  }
});

t.test('members of gzip are one file, and what is after them is refused', async (t) => {
  const both = Buffer.concat([gzipSync('a,b\n1,'), Buffer.alloc(1000), gzipSync('2\n')]);
  const answer = await acme.upload('all', [file(both)]);
  expectRun(t, answer, 201, 'succeeded');
  t.equal((await acme.get(`/api/v1/runs/${answer.run.id}/output`)).text, 'a,b\n1,2\n');
  expectError(t, await acme.upload('all', [file(Buffer.concat([both, Buffer.from('x,y\n')]))]), 400, 'MALFORMED_FILE');
});

const bombs: Readonly<Record<string, Buffer>> = {
  'gzip of zeros': gzipOf(Buffer.alloc(1_000_000)),
  'gzip of lines': gzipOf(Buffer.from('a,b\n'.repeat(250_000))),
  'gzip of one cell': gzipOf(Buffer.alloc(1_000_000, 'x')),
  ...zstdBomb(),
};
for (const [what, bomb] of Object.entries(bombs)) {
  t.test(`a bomb: ${what}`, async (t) => {
    const now = processorClock(service);
    const began = now();
    expectError(t, await small.upload('all', [file(bomb)]), 413, 'FILE_TOO_LARGE');
    const milliseconds = now() - began;
    t.ok(milliseconds < BOMB_MILLISECONDS, `${milliseconds} ms for ${bomb.length} bytes`);
  });
}

t.test('Zstandard', async (t) => {
  const compress = zstdCompress();
  const upload = compress?.('a,b\n1,2\n') ?? Buffer.from('28b52ffd2008410000612c620a312c320a', 'hex');
  const answer = await acme.upload('all', [file(upload)]);
  if (compress === null) {
    expectError(t, answer, 415, 'UNSUPPORTED_FILE_TYPE');
    t.match(answer.json['message'], /Node 22\.15 or later/);
  } else expectRun(t, answer, 201, 'succeeded');
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));

/** A GiB of a text, as members of gzip. */
function gzipOf(text: Buffer): Buffer {
  const member = gzipSync(text);
  return Buffer.concat(new Array<Buffer>(Math.ceil(GIB / text.length)).fill(member));
}

function zstdCompress(): ((bytes: Uint8Array | string) => Buffer) | null {
  const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Uint8Array | string) => Buffer };
  return zstdCompressSync ?? null;
}

function zstdBomb(): Readonly<Record<string, Buffer>> {
  const compress = zstdCompress();
  return compress === null ? {} : { 'Zstandard of zeros': compress(Buffer.alloc(GIB)) };
}
