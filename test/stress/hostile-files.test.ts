// Harmful files over HTTP: bombs, giants, noise, broken workbooks, mutations. Each is served or refused with a clean message and
// in time, no fault is logged, and the process stays alive.
// With all tests only: minutes of hostile files, clients and load.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { plan, step, template } from '../blackbox/catalog-folder.ts';
import { type Answer, Client, until } from '../blackbox/client.ts';
import { file } from '../blackbox/multipart.ts';
import { type Service, startService } from '../blackbox/service.ts';
import { processorClock } from '../processor-clock.ts';
import { type Noise, noise, noiseBytes, seed } from '../random.ts';
import { isLong, sweep } from '../sweep.ts';
import { BASE_BYTES, gauges, heldBytes, MIB, mebibytes, resident, strayFiles } from './probe.ts';

const CORPORA = '../shared/corpora';
const BUDGET_BYTES = 256 * MIB;
/** For one file, on a machine that may be busy with other work. */
const MILLISECONDS_MAX = isLong ? 2000 : 10_000;
const MUTATION_MILLISECONDS = sweep({ short: 180, long: 60_000 });
const MUTATIONS_MIN = 100;
const MINUTES_20 = 1_200_000;
t.setTimeout(MINUTES_20);

const TEMPLATES = {
  all: template([]),
  text: template([
    step('text', { columns: '*', steps: ['trim', 'collapse_spaces', 'upper', 'strip_accents'] }),
    step('dedupe', { by: '*' }),
  ]),
};

/** A clean answer: a Run, or a refusal of what the caller sent. */
function expectClean(t: Test, answer: Answer, name: string, also: readonly number[] = []): void {
  const { status } = answer;
  const clean = status === 201 || status === 202 || (status >= 400 && status < 500) || also.includes(status);
  if (!clean) t.fail(`${name}: ${status} ${answer.code}`);
  if (status === 201 && answer.run.status !== 'succeeded' && answer.run.error?.code === 'INTERNAL_ERROR') {
    t.fail(`${name}: ${answer.run.error.code}`);
  }
}

t.test('hostile files', { timeout: MINUTES_20, buffered: false }, async (t) => {
  const plans = { tight: plan({ upload_bytes_max: 64 * MIB, inflated_bytes_max: 100 * MIB }) };
  const accounts = { acme: { plan: 'tight', templates: TEMPLATES } };
  const service = await startService(
    t,
    { plans, accounts },
    { workers: 2, 'memory-budget': BUDGET_BYTES, 'disk-floor': 0 },
  );
  const client = new Client(service.port, service.catalog.key('acme'), 600_000);
  const send = (content: string | Buffer, name = 'x.csv', template = 'all'): Promise<Answer> =>
    client.upload(template, [file(content, { filename: name })]);

  t.test('bombs, giants and noise', { timeout: MINUTES_20 }, async (t) => {
    const row = Buffer.from('1,2\n');
    const cases: [string, number, string | undefined, Buffer | string][] = [
      ['gzip bomb of 1 GiB', 413, 'FILE_TOO_LARGE', bomb(row, 1024)],
      ['gzip in gzip', 415, undefined, gzipSync(gzipSync(Buffer.from('a,b\n1,2\n')))],
      ['gzip cut off', 400, 'MALFORMED_FILE', gzipSync(Buffer.alloc(100_000, row)).subarray(0, 60)],
      ['16,384 columns', 201, undefined, `${names(16_384)}\n`],
      ['16,385 columns', 400, 'MALFORMED_FILE', `${names(16_385)}\n`],
      ['a million columns', 400, 'MALFORMED_FILE', `${','.repeat(1_000_000)}\n`],
      ['a cell of 4 MiB', 201, undefined, `a,b\n1,${'x'.repeat(4 * MIB)}\n`],
      ['a cell over 4 MiB', 400, 'MALFORMED_FILE', `a,b\n1,${'x'.repeat(4 * MIB + 1)}\n`],
      ['a row over 16 MiB', 400, 'MALFORMED_FILE', `a,b\n${`${'x'.repeat(3 * MIB)},`.repeat(6)}\n`],
      ['a header of 5 MiB', 400, 'MALFORMED_FILE', `${'h'.repeat(5 * MIB)},b\n1,2\n`],
      ['an unended quote of 30 MiB', 400, 'MALFORMED_FILE', `a,b\n1,"${'x\n'.repeat(15 * MIB)}`],
      ['30 MiB of quotes', 400, 'MALFORMED_FILE', `a,b\n1,${'"'.repeat(30 * MIB)}\n`],
      ['30 MiB of line ends', 400, 'MALFORMED_FILE', '\n'.repeat(30 * MIB)],
      ['15 million rows of nothing', 413, 'ROW_LIMIT_EXCEEDED', `a,b\n${',\n'.repeat(15 * MIB)}`],
      ['NUL bytes', 400, 'MALFORMED_FILE', Buffer.alloc(1_000_000)],
      ['a NUL in the middle', 400, 'MALFORMED_FILE', `a,b\n${'1,2\n'.repeat(100_000)}1,\0\n`],
      ['noise', 400, 'MALFORMED_FILE', noiseBytes(5_000_000)],
    ];
    for (const [name, status, code, content] of cases) {
      const begun = performance.now();
      const answer = await send(content);
      const lasted = performance.now() - begun;
      t.equal(answer.status, status, `${name}: ${answer.code ?? ''} ${Math.round(lasted)} ms`);
      if (code !== undefined) t.equal(answer.code, code, name);
    }
  });

  t.test('rows of 16 MiB from 20 clients at once', { timeout: MINUTES_20 }, async (t) => {
    const cells = Array.from({ length: 5 }, (_, index) => String(index).repeat(3 * MIB)).join(',');
    const content = `a,b,c,d,e\n1,2,3,4,5\n${cells}\n6,7,8,9,0\n`;
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(content)));
    for (const answer of answers) expectClean(t, answer, 'large rows', [503]);
    const runs = answers.filter(({ status }) => status === 201);
    t.ok(runs.length > 0, `${runs.length} of 20 ran`);
    for (const { run } of runs) {
      const { body } = await client.get(`/api/v1/runs/${run.id}/output`);
      if (!body.equals(Buffer.from(content))) t.fail('not exact');
    }
    t.ok(resident(service).peakBytes < BUDGET_BYTES + BASE_BYTES, `peak ${mebibytes(resident(service).peakBytes)}`);
  });

  t.test(
    'files of others',
    { timeout: MINUTES_20, skip: existsSync(CORPORA) ? false : 'no corpora here' },
    async (t) => {
      const now = processorClock(service);
      let sent = 0;
      let slowest = 0;
      const statuses: Record<string, number> = {};
      for (const [path, content] of corpusFiles()) {
        const begun = now();
        const answer = await send(content, `x.${path.split('.').at(-1)}`, 'text');
        const lasted = now() - begun;
        slowest = Math.max(slowest, lasted);
        sent += 1;
        statuses[`${answer.status} ${answer.code ?? ''}`] =
          (statuses[`${answer.status} ${answer.code ?? ''}`] ?? 0) + 1;
        expectClean(t, answer, path);
        if (lasted > MILLISECONDS_MAX) t.fail(`${path} took ${lasted} ms of a processor`);
      }
      t.comment(`${sent} files, slowest ${Math.round(slowest)} ms`, statuses);
      t.ok(sent > 0);
    },
  );

  t.test('mutations', { timeout: MINUTES_20 }, async (t) => {
    const random = noise(1);
    const end = Date.now() + MUTATION_MILLISECONDS;
    let sent = 0;
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        while (Date.now() < end || sent <= MUTATIONS_MIN) {
          const content = mutated(random);
          const answer = await send(content, 'x.csv', random(2) === 0 ? 'all' : 'text');
          sent += 1;
          expectClean(t, answer, `seed ${seed}, ${content.subarray(0, 200).toString('base64')}`);
        }
      }),
    );
    t.ok(sent > MUTATIONS_MIN, `${sent} mutations, seed ${seed}`);
  });

  t.test('nothing was a fault, nothing is left', async (t) => {
    await expectUnharmed(t, service);
  });
});

async function expectUnharmed(t: Test, service: Service): Promise<void> {
  const faults = service.events.filter(
    ({ level, event }) => level === 'error' || /fault|lost|crash/.test(String(event)),
  );
  t.same(faults.slice(0, 5), [], 'no fault in the log');
  // A Run releases what it holds shortly after its response.
  const samples = await until(
    () => gauges(service),
    (now) => heldBytes(now, 'reservations') === 0 && heldBytes(now, 'bodies') === 0,
  );
  t.equal(samples.get('template_run_threads_lost_total'), 0, 'no thread was lost');
  t.equal(heldBytes(samples, 'reservations'), 0, 'no reservation is left');
  t.equal(heldBytes(samples, 'bodies'), 0, 'no block is left');
  const left = await until(
    async () => strayFiles(service).filter((path) => !path.startsWith('outputs')),
    (paths) => paths.length === 0,
  );
  t.same(left, [], 'no upload and no spill file is left');
}

function* corpusFiles(): Iterable<[string, Buffer]> {
  for (const name of ['duckdb', 'poi-hostile', 'csv-injection']) {
    for (const path of readdirSync(join(CORPORA, name), { recursive: true, encoding: 'utf8' })) {
      const full = join(CORPORA, name, path);
      if (statSync(full).isFile()) yield [path, readFileSync(full)];
    }
  }
}

function names(count: number): string {
  return Array.from({ length: count }, (_, index) => `c${index}`).join(',');
}

/** `mebibytes` of repeated rows, compressed. */
function bomb(row: Buffer, mebibytes: number): Buffer {
  const member = gzipSync(Buffer.alloc(MIB, row), { level: 9 });
  return Buffer.concat(Array.from({ length: mebibytes }, () => member));
}

const PIECES = [
  '"',
  '""',
  ',',
  ';',
  '\t',
  '\n',
  '\r\n',
  '\r',
  '\0',
  '\ufeff',
  '\u00e9',
  '\ud83d\ude00',
  '=',
  "'",
  '|',
  ' ',
];

/** A valid file in which some pieces are inserted, removed or repeated, and some bytes are changed. */
function mutated(random: Noise): Buffer {
  const rows = 1 + random(60);
  const line = (index: number): string =>
    `${index},"name ${index}",${random(2) === 0 ? '"a, ""b""\nc"' : 'plain'},${random(1000)}.50`;
  let bytes = Buffer.from(`id,name,note,amount\n${Array.from({ length: rows }, (_, index) => line(index)).join('\n')}`);
  for (let count = 1 + random(8); count > 0; count -= 1) {
    const at = random(bytes.length + 1);
    const to = Math.min(bytes.length, at + random(40));
    const kind = random(5);
    const piece = Buffer.from(PIECES[random(PIECES.length)]!);
    if (kind === 0) bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
    else if (kind === 3 && at < bytes.length) bytes[at] = random(256);
    else bytes = bytes.subarray(0, at);
  }
  return bytes;
}
