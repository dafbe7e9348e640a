// Storage of an output's bytes: in memory, in a file, or nowhere when the output is too large or the disk is full.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { FileSink } from '../../../workers/output/sink/file-sink.ts';
import { failureOf } from './output-settings.ts';

t.test('an output stays in memory and continues in a file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'output-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'out');
  const options = { path, memoryBytesMax: 1000, bytesMax: null, digest: true };
  const pieces = [1, 999, 5, 300_000, 10, 262_144, 262_143, 70_000, 1].map((size, index) => Buffer.alloc(size, index));
  const whole = Buffer.concat(pieces);
  const small = new FileSink(options);
  for (const piece of pieces.slice(0, 2)) small.write(piece);
  const kept = small.finish();
  t.same(Buffer.from(kept.bytes!), whole.subarray(0, 1000));
  t.equal(kept.sha256, createHash('sha256').update(whole.subarray(0, 1000)).digest('hex'));
  t.notOk(existsSync(path));

  const large = new FileSink(options);
  for (const piece of pieces) large.write(piece);
  t.equal(large.sizeBytes, whole.length);
  const stored = large.finish();
  large.abandon();
  t.same({ bytes: stored.bytes, sizeBytes: stored.sizeBytes }, { bytes: null, sizeBytes: whole.length });
  t.equal(stored.sha256, createHash('sha256').update(whole).digest('hex'));
  t.ok(readFileSync(path).equals(whole));
  t.equal(statSync(path).mode & 0o777, 0o600);

  t.throws(() => new FileSink({ ...options, memoryBytesMax: 0 }).write(pieces[0]!), { code: 'EEXIST' }, 'our fault');
  t.ok(readFileSync(path).equals(whole), 'another output is never overwritten or removed');
  rmSync(path);

  for (const memoryBytesMax of [0, 10_000]) {
    const capped = new FileSink({ ...options, memoryBytesMax, bytesMax: 1000 });
    capped.write(Buffer.alloc(1000));
    t.match(
      failureOf(() => capped.write(Buffer.alloc(1))),
      { code: 'RUN_RESOURCE_LIMIT', message: /ceiling/ },
    );
    t.notOk(existsSync(path));
  }
  const abandoned = new FileSink({ ...options, memoryBytesMax: 0 });
  abandoned.write(Buffer.alloc(1000));
  t.ok(existsSync(path));
  abandoned.abandon();
  t.notOk(existsSync(path));
});

t.test('a disk that takes no more ends the Run, not the thread, and leaves no file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'output-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const sink = new URL('../../../workers/output/sink/file-sink.js', import.meta.url).href;
  const script = `
    const { FileSink } = await import(${JSON.stringify(sink)});
    const sink = new FileSink({ path: process.argv[1], memoryBytesMax: 0, bytesMax: null, digest: false });
    try {
      for (let written = 0; written < 100; written++) sink.write(Buffer.alloc(100_000));
      sink.finish();
    } catch (error) {
      console.log(JSON.stringify(error.failure));
    }`;
  const path = join(folder, 'out');
  // A limit on file sizes works like a full disk and needs no privileges: writes fail with EFBIG if the signal is ignored.
  const shell = 'trap "" XFSZ; ulimit -f 600; exec "$0" --input-type=module -e "$1" "$2"';
  const child = spawnSync('bash', ['-c', shell, process.execPath, script, path], { encoding: 'utf8' });
  t.match(JSON.parse(child.stdout), { code: 'RUN_RESOURCE_LIMIT', message: /disk/ });
  t.notOk(existsSync(path));
});
