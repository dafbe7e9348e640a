// The archive of a workbook: 64-bit sizes where they are needed, with a limit that the test lowers; and Python's reader, if
// Python is installed, accepts the archive.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { Deflater, ZipFile } from '../../../workers/output/sink/zip-file.ts';
import { newBench } from '../batch/build-batch.ts';
import { keepingSink } from './output-settings.ts';
import { partOf } from './read-workbook.ts';

const NO_PYTHON = spawnSync('python3', ['--version']).status === 0 ? false : 'there is no python3';
const LARGE = Buffer.from(Array.from({ length: 700_000 }, (_, at) => (at * at) % 251));

function archive(large?: number): Buffer {
  const { heap, kernel } = newBench();
  const sink = keepingSink();
  // Bytes before the archive in a file are not part of it.
  sink.write(Buffer.from('before'));
  const zip = new ZipFile(sink, new Deflater(heap, kernel), large);
  zip.add('small.xml', Buffer.from('<small/>'));
  zip.begin('rows.xml');
  for (let at = 0; at < LARGE.length; at += 99_991) zip.write(LARGE.subarray(at, at + 99_991));
  zip.end();
  zip.begin('none.xml');
  zip.end();
  zip.add('last.xml', Buffer.from('<last/>'));
  zip.finish();
  return sink.bytes().subarray('before'.length);
}

test('entries that are whole, that grow, and that hold nothing', async (t) => {
  const bytes = archive();
  t.equal(partOf(bytes, 'small.xml'), '<small/>');
  t.ok(Buffer.from(partOf(bytes, 'rows.xml')).equals(Buffer.from(LARGE.toString())));
  t.equal(partOf(bytes, 'none.xml'), '');
  t.equal(partOf(bytes, 'last.xml'), '<last/>');
  t.notOk(bytes.includes('PK\u0006\u0006'), 'no record of 64 bits');
  t.ok(archive().equals(bytes), 'the same bytes again');
  t.ok(archive(1_000).includes('PK\u0006\u0006'), 'a record of 64 bits');
});

for (const [name, large] of [
  ['sizes of 32 bits', undefined],
  ['sizes of 64 bits', 1_000],
] as const) {
  test(`Python reads ${name}`, { skip: NO_PYTHON }, async (t) => {
    const path = join(t.testdir(), 'archive.zip');
    writeFileSync(path, archive(large));
    const script = [
      'import sys, zipfile, hashlib',
      'archive = zipfile.ZipFile(sys.argv[1])',
      'assert archive.testzip() is None',
      'print([(i.filename, i.file_size, i.date_time) for i in archive.infolist()])',
    ].join('\n');
    const { stdout, stderr } = spawnSync('python3', ['-c', script, path], { encoding: 'utf8' });
    t.equal(stderr, '');
    const time = '(1980, 1, 1, 0, 0, 0)';
    const files = [
      ['small.xml', 8],
      ['rows.xml', LARGE.length],
      ['none.xml', 0],
      ['last.xml', 7],
    ];
    t.equal(stdout.trim(), `[${files.map(([file, size]) => `('${file}', ${size}, ${time})`).join(', ')}]`);
  });
}
