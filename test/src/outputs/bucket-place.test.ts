// Outputs in a bucket, against a store in this process: stored bytes are returned unchanged, and errors have codes.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { RangeReader } from '../../../src/http/send-bytes.ts';
import { BucketPlace } from '../../../src/outputs/s3/bucket-place.ts';
import { PART_BYTES, readS3Address } from '../../../src/outputs/s3/s3-requests.ts';
import { SharedStoreUnavailableError } from '../../../src/stores/stores.ts';
import { openLog } from '../../../src/telemetry/log.ts';
import { S3Server } from '../../fixtures/s3-server.ts';
import { skipUnlessLong } from '../../sweep.ts';

const MINUTE = 60_000;
const HOUR = '2026-11-23T17';
const NAME = `${HOUR}/run_1`;
const TEXT = Buffer.from('id,total\n001,1.50\n');
const log = openLog('silent');

async function open(t: Test, prefix = 'some/prefix/'): Promise<{ store: S3Server; place: BucketPlace }> {
  const store = await S3Server.open(t);
  const place = await BucketPlace.open(store.address(prefix), log);
  t.teardown(() => place.close());
  return { store, place };
}

async function all(reader: RangeReader | null, length: number, pieceBytes = 1000): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < length; at += pieces.at(-1)!.length) {
    const piece = await reader!.read(at, Math.min(pieceBytes, length - at));
    if (piece.length === 0) throw new Error('it ended before its length');
    pieces.push(piece);
  }
  reader!.close();
  return Buffer.concat(pieces);
}

/** With the reason that an operator reads. */
function unavailable(reason: RegExp): { name: string; message: RegExp } {
  return { name: 'SharedStoreUnavailableError', message: reason };
}

t.test('what is kept comes back, whole and in ranges, and is removed', async (t) => {
  for (const prefix of ['', 'some/prefix/']) {
    const { store, place } = await open(t, prefix);
    const digest = await place.put(NAME, TEXT, TEXT.length, MINUTE);
    t.equal(digest, createHash('sha256').update(TEXT).digest('hex'));
    t.ok(store.objects.has(`${prefix}${NAME}`));
    t.ok((await all(await place.open(NAME, 0, TEXT.length), TEXT.length, 4)).equals(TEXT));
    t.ok((await all(await place.open(NAME, 5, 9), 9)).equals(TEXT.subarray(5, 14)));
    t.equal((await (await place.open(NAME, 3, 0))?.read(0, 10))?.length, 0, 'nothing');
    await place.remove(NAME);
    await place.remove(NAME);
    t.equal(await place.open(NAME, 0, TEXT.length), null);
    t.strictSame([...place.errorCounts], [], 'none of these cases is an error');
  }
});

t.test(
  'a file, in one request and in parts: the same bytes, and a step that fails is taken again',
  { skip: skipUnlessLong },
  async (t) => {
    const { store, place } = await open(t);
    const file = join(t.testdir(), 'output');
    for (const size of [100_000, PART_BYTES + 1234]) {
      const bytes = Buffer.alloc(size);
      for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
      writeFileSync(file, bytes);
      store.refusal = { status: 503, code: 'SlowDown', count: 1 };
      const digest = await place.put(NAME, file, size, MINUTE);
      t.ok(store.objects.get(`some/prefix/${NAME}`)?.equals(bytes), `${size} bytes`);
      t.equal(digest, createHash('sha256').update(bytes).digest('hex'));
      const end = await all(await place.open(NAME, size - 5000, 5000), 5000, 700);
      t.ok(end.equals(bytes.subarray(size - 5000)));
    }
    t.strictSame([...place.errorCounts], [['SlowDown', 2]]);
    t.equal(store.uploadsOpen, 0);
  },
);

t.test('an upload in parts that is refused leaves nothing open', { skip: skipUnlessLong }, async (t) => {
  const { store, place } = await open(t);
  const file = join(t.testdir(), 'output');
  writeFileSync(file, Buffer.alloc(PART_BYTES + 1));
  const putting = place.put(NAME, file, PART_BYTES + 1, MINUTE);
  putting.catch(() => {});
  store.refusal = { status: 403, code: 'AccessDenied', count: 0 };
  // The first part is under way.
  while (store.uploadsOpen === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  store.refusal.count = 1;
  await t.rejects(putting, unavailable(/403 AccessDenied/));
  t.equal(store.uploadsOpen, 0);
  t.notOk(store.objects.has(`some/prefix/${NAME}`));
});

t.test('what expired is swept, in any number, and nothing else', { skip: skipUnlessLong }, async (t) => {
  const { store, place } = await open(t);
  for (let index = 0; index < 1010; index += 1) store.objects.set(`some/prefix/2026-11-23T15/run_${index}`, TEXT);
  for (const other of [`${HOUR}/run_1`, '2026-11-23T18/run_2', 'else', 'some/2026-01-01T00/run_3']) {
    store.objects.set(`some/prefix/${other}`, TEXT);
  }
  store.objects.set('other/2026-01-01T00/run_4', TEXT);
  await place.sweep(HOUR);
  const left = [...store.objects.keys()].sort();
  t.strictSame(left, [
    'other/2026-01-01T00/run_4',
    `some/prefix/${HOUR}/run_1`,
    'some/prefix/2026-11-23T18/run_2',
    'some/prefix/else',
    'some/prefix/some/2026-01-01T00/run_3',
    'some/prefix/started',
  ]);
});

t.test('a store that stalls: an opening is given up soon, a keeping at its deadline', async (t) => {
  const { store, place } = await open(t);
  await place.put(NAME, TEXT, TEXT.length, MINUTE);
  store.stall();
  await t.rejects(place.open(NAME, 0, TEXT.length), unavailable(/no data for|does not answer/));
  await t.rejects(place.put(`${HOUR}/run_2`, TEXT, TEXT.length, 200), unavailable(/no data for|does not answer/));
  store.goOn();
  t.ok((await all(await place.open(NAME, 0, TEXT.length), TEXT.length)).equals(TEXT), 'and goes on');
});

t.test('a connection that breaks, a wrong range, a refusal: each is told, none is taken for bytes', async (t) => {
  const { store, place } = await open(t);
  const bytes = Buffer.alloc(300_000, 'x');
  await place.put(NAME, bytes, bytes.length, MINUTE);
  store.cutAfterBytes = 100_000;
  await t.rejects(all(await place.open(NAME, 0, bytes.length), bytes.length), { name: 'SharedStoreUnavailableError' });
  store.cutAfterBytes = Number.POSITIVE_INFINITY;
  store.ignoresRange = true;
  await t.rejects(place.open(NAME, 10, 20), unavailable(/range/));
  store.ignoresRange = false;
  store.refusal = { status: 403, code: 'RequestTimeTooSkewed', count: 1 };
  await t.rejects(place.open(NAME, 0, 10), unavailable(/403 RequestTimeTooSkewed/));
  store.refusal = { status: 404, code: 'NoSuchBucket', count: 1 };
  await t.rejects(place.open(NAME, 0, 10), unavailable(/404 NoSuchBucket/), 'not taken for an output that has gone');
});

t.test('wrong keys, and a port where nobody listens, are told at the start', async (t) => {
  const store = await S3Server.open(t);
  const wrong = { ...store.address(''), secretAccessKey: 'wrong' };
  await t.rejects(BucketPlace.open(wrong, log), unavailable(/403 SignatureDoesNotMatch/));
  const nowhere = { ...store.address(''), url: 'http://127.0.0.1:9/bucket' };
  const error = await BucketPlace.open(nowhere, log).catch((fault: unknown) => fault);
  t.ok(error instanceof SharedStoreUnavailableError);
  t.match(error, { message: /ECONNREFUSED/ });
});

t.test('addresses', async (t) => {
  const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  const read = (text: string, more: Record<string, string> = {}, environment = keys): [string, string] | string[] => {
    const problems: string[] = [];
    const address = readS3Address(text, { ...environment, ...more }, problems);
    return problems.length > 0 ? problems : [address!.url, address!.prefix];
  };
  t.strictSame(read('s3://outputs'), ['https://outputs.s3.us-east-1.amazonaws.com', '']);
  t.strictSame(read('s3://outputs/a/b', { AWS_REGION: 'eu-central-1' }), [
    'https://outputs.s3.eu-central-1.amazonaws.com',
    'a/b/',
  ]);
  t.strictSame(read('s3://my.outputs/a/'), ['https://s3.us-east-1.amazonaws.com/my.outputs', 'a/']);
  t.strictSame(read('s3://outputs', { AWS_ENDPOINT_URL: 'https://minio.example.com:9000' }), [
    'https://minio.example.com:9000/outputs',
    '',
  ]);
  for (const text of [
    's3://',
    's3:outputs',
    's3://UPPER/x',
    's3://outputs/a b',
    's3://outputs/a/../b',
    's3://outputs/a//b',
  ]) {
    t.match(read(text)[0], /^--outputs must be a folder or s3:/, text);
  }
  t.match(read('s3://outputs', { AWS_SECRET_ACCESS_KEY: '' })[0], /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/);
  t.match(read('s3://outputs', { AWS_ENDPOINT_URL_S3: 'minio:9000' })[0], /AWS_ENDPOINT_URL_S3 must be/);
  t.match(read('s3://outputs', { AWS_REGION: 'a/b' })[0], /AWS_REGION must be/);
});
