// Bombs of text, JSON, gzip, Zstandard and Parquet over HTTP: the right 4xx in time, and the service stays small and
// continues.
// With all tests only: attacks and faults of the machine.
import { existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { repeatedFrame } from '../fuzz/zstd-writer.ts';
import { forgetPeak, mebibytes, processorMilliseconds, resident } from '../stress/probe.ts';
import { isLong, skipUnlessLong } from '../sweep.ts';
import { type Lies, lyingFile } from '../workers/input/parquet/lying-file.ts';
import { plan, template } from './catalog-folder.ts';
import { Client } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

/**
 * Maximum processor time for one file, including its second thread: a service that has the machine for itself responds after two
 * seconds. The same work takes longer while other tests of the suite run.
 */
const MILLISECONDS_MAX = isLong ? 4_000 : 8_000;
const PATIENCE_MILLISECONDS = 120_000;
const RESIDENT_BYTES_MAX = 256 * 1024 * 1024;

const MIB = 1024 * 1024;
const GIB_IN_MIB = 1024;
const MANY = 2 ** 31 - 1;

t.setTimeout(PATIENCE_MILLISECONDS * 2);

const service = await startService(
  t,
  {
    plans: {
      usual: plan({ inflated_bytes_max: 200 * MIB }),
      inflating: plan({ inflated_bytes_max: 8 * GIB_IN_MIB * MIB, rows_max: null }),
    },
    accounts: {
      acme: { plan: 'inflating', templates: { all: template([]) } },
      usual: { plan: 'usual', templates: { all: template([]) } },
    },
  },
  { 'memory-budget': '64MiB', workers: 1 },
);
const [acme, usual] = ['acme', 'usual'].map(
  (account) => new Client(service.port, service.catalog.key(account), PATIENCE_MILLISECONDS),
) as [Client, Client];
/** Linux reports the memory that a process has used. */
const canMeasure = existsSync('/proc/self/clear_refs');
if (canMeasure) forgetPeak(service);

/** Returns one gzip member for each MiB; each contains `text` repeatedly. */
function packed(before: string, text: string, mebibytes: number): Buffer {
  const member = gzipSync(text.repeat(Math.ceil(MIB / text.length)), { level: 9 });
  return Buffer.concat([gzipSync(before), ...Array.from({ length: mebibytes }, () => member)]);
}

function worked(): number {
  return canMeasure ? processorMilliseconds(service) : 0;
}

async function refuses(
  t: Test,
  bytes: Buffer | string,
  status: number,
  code: string,
  { client = acme, filename = 'x.csv' } = {},
): Promise<void> {
  const since = worked();
  const answer = await client.upload('all', [file(bytes, { filename })]);
  const milliseconds = worked() - since;
  expectError(t, answer, status, code);
  t.ok(milliseconds < MILLISECONDS_MAX, `${answer.json['message']}: ${milliseconds} ms, ${bytes.length} bytes`);
}

t.test('one cell of a gibibyte: 400', { skip: skipUnlessLong }, async (t) => {
  await refuses(t, packed('a,b\n1,', 'abcdefghij klmnopqrst uvwxyz 0123456789 ', GIB_IN_MIB), 400, 'MALFORMED_FILE');
  await refuses(t, packed('a,b\n1,"', 'abcdefghij\n', GIB_IN_MIB), 400, 'MALFORMED_FILE');
});

t.test('ten million columns: 400', async (t) => {
  await refuses(t, gzipSync(`${','.repeat(10_000_000)}\n`), 400, 'MALFORMED_FILE');
  await refuses(t, gzipSync(`a,b\n${','.repeat(10_000_000)}\n`), 400, 'MALFORMED_FILE');
  const names = Array.from({ length: 1_000_000 }, (_, column) => `c${column}`);
  await refuses(t, gzipSync(`${names.join(',')}\n${names.join(',')}\n`), 400, 'MALFORMED_FILE');
});

t.test('2^31 empty rows: no more of them is inflated than the plan allows', { skip: skipUnlessLong }, async (t) => {
  await refuses(t, packed('a,b\n', '\n', 2 * GIB_IN_MIB), 413, 'FILE_TOO_LARGE', { client: usual });
  await refuses(t, packed('a,b\n', ',\n', 4 * GIB_IN_MIB), 413, 'FILE_TOO_LARGE', { client: usual });
});

t.test('zeros of gzip and of Zstandard', { skip: skipUnlessLong }, async (t) => {
  await refuses(t, packed('', '\0', GIB_IN_MIB), 400, 'MALFORMED_FILE');
  await refuses(t, packed('a,b\n1,2\n', '\0', GIB_IN_MIB), 400, 'MALFORMED_FILE');
  const zeros = repeatedFrame(0, 8 * GIB_IN_MIB);
  const answer = await acme.upload('all', [file(zeros)]);
  // The status depends on whether this runtime reads Zstandard.
  if (answer.status === 400) expectError(t, answer, 400, 'MALFORMED_FILE');
  else expectError(t, answer, 415, 'UNSUPPORTED_FILE_TYPE');
});

t.test('JSON a million deep, and a million keys in an object: 400', async (t) => {
  const deep = 1_000_000;
  const json = { filename: 'x.json' };
  await refuses(t, '['.repeat(deep), 400, 'MALFORMED_FILE', json);
  await refuses(t, `[{"a":${'['.repeat(deep)}${']'.repeat(deep)}}]`, 400, 'MALFORMED_FILE', json);
  await refuses(t, `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`, 400, 'MALFORMED_FILE', json);
  await refuses(t, `{"a":1}\n{"b":${'{"a":'.repeat(deep)}`, 400, 'MALFORMED_FILE', json);
  const keys = Array.from({ length: 1_000_000 }, (_, key) => `"key ${key}":${key}`);
  await refuses(t, gzipSync(`{${keys.join(',')}}`), 400, 'MALFORMED_FILE', json);
  await refuses(t, gzipSync(`{"a":1}\n{${keys.join(',')}}\n`), 400, 'MALFORMED_FILE', json);
  await refuses(t, gzipSync(keys.map((member) => `{${member}}\n`).join('')), 400, 'MALFORMED_FILE', json);
  const same = '"a":1,'.repeat(1_000_000);
  await refuses(t, `[{${same}"a":1}]`, 400, 'MALFORMED_FILE', json);
});

t.test('JSON that inflates without end: 413', { skip: skipUnlessLong }, async (t) => {
  const usually = { filename: 'x.json', client: usual };
  await refuses(t, packed('[{"a":"', 'abcdefghij ', GIB_IN_MIB), 413, 'FILE_TOO_LARGE', usually);
  await refuses(t, packed('[{"a":1}', '          \n', GIB_IN_MIB), 413, 'FILE_TOO_LARGE', usually);
});

t.test('Parquet whose lengths lie, and pages that inflate without end', async (t) => {
  const truth: Lies = {
    ...{ values: 2, rows: 2, bytes: 8, storedBytes: 8, codec: 0, physical: 1, repetition: 0, encoding: 0 },
  };
  const two = Buffer.from([1, 0, 0, 0, 2, 0, 0, 0]);
  const parquet = { filename: 'x.parquet' };
  const refusesLie = (body: Uint8Array, lies: Partial<Lies>, status: number, code: string): Promise<void> =>
    refuses(t, lyingFile(body, { ...truth, ...lies }), status, code, parquet);
  await refusesLie(two, { bytes: MANY, storedBytes: MANY }, 400, 'MALFORMED_FILE');
  await refusesLie(two, { bytes: MANY, codec: 1 }, 413, 'FILE_TOO_LARGE');
  await refusesLie(two, { rows: MANY, values: MANY }, 400, 'MALFORMED_FILE');
  const zeros = gzipSync(Buffer.alloc(64 * MIB));
  await refusesLie(zeros, { codec: 2, storedBytes: zeros.length, bytes: MIB }, 400, 'MALFORMED_FILE');
  const zstd = repeatedFrame(0, 4 * GIB_IN_MIB);
  await refusesLie(zstd, { codec: 6, storedBytes: zstd.length, bytes: MIB }, 400, 'MALFORMED_FILE');
});

t.test('the service stays small and goes on, and nothing of them is logged', async (t) => {
  expectRun(t, await acme.upload('all', [file('a\n1\n')]), 201, 'succeeded');
  if (canMeasure) {
    const { peakBytes } = resident(service);
    t.ok(peakBytes < RESIDENT_BYTES_MAX, `resident memory: at most ${mebibytes(peakBytes)}`);
  }
  await checkLogs(t, service);
});
