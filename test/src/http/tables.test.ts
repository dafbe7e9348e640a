// Functions that build texts and tables: the OpenAPI document, headers of downloads, deprecation, parameters, names, spool.
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { HTTP_ERROR_CODES, statusOf } from '../../../src/http/error-codes.ts';
import { markDeprecated } from '../../../src/http/exchange.ts';
import { ReadTurns, type TurnReader } from '../../../src/http/read-turns.ts';
import { OutputNames, outputName } from '../../../src/outputs/output-store.ts';
import { apiDocument } from '../../../src/routes/index.ts';
import { contentDisposition, entityTagMatches, requestedRange, wantsSha256 } from '../../../src/routes/outputs.ts';
import { RunIds } from '../../../src/runs/run.ts';
import { IdleFiles } from '../../../src/uploads/idle-files.ts';
import { checkParameters } from '../../../src/uploads/parameters.ts';
import { SpooledFile, WriteBlocks } from '../../../src/uploads/spooled-file.ts';
import { partly } from '../../partly.ts';

interface Document {
  readonly paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
}

t.test('every code is in the OpenAPI document under its status', async (t) => {
  const document = apiDocument() as Document;
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  for (const code of HTTP_ERROR_CODES) {
    // An unknown path belongs to no operation.
    if (code === 'NOT_FOUND') continue;
    const status = statusOf(code);
    const told = operations.some(({ responses }) => responses[status]?.description.includes(`\n- \`${code}\`: `));
    t.ok(told, `${status} ${code}`);
  }
});

t.test('ranges', async (t) => {
  t.strictSame(requestedRange('bytes=0-3', 10), { start: 0, end: 3 });
  t.strictSame(requestedRange('bytes=4-', 10), { start: 4, end: 9 });
  t.strictSame(requestedRange('bytes=-4', 10), { start: 6, end: 9 });
  t.strictSame(requestedRange('bytes=-40', 10), { start: 0, end: 9 });
  t.strictSame(requestedRange('bytes=9-400', 10), { start: 9, end: 9 });
  for (const none of ['bytes=', 'bytes=-', 'bytes=3-1', 'rows=1-2', 'bytes=0-1,3-4', 'bytes=a-b']) {
    t.equal(requestedRange(none, 10), null, none);
  }
  t.equal(requestedRange('bytes=-4', 0), null, 'of nothing the whole');
  for (const [beyond, size] of [
    ['bytes=10-', 10],
    ['bytes=-0', 10],
    ['bytes=0-0', 0],
  ] as const) {
    t.equal(requestedRange(beyond, size), 'unsatisfiable', beyond);
  }
});

t.test('entity tags, digests, file names', async (t) => {
  t.ok(entityTagMatches(['"a", W/"b"'], '"b"'));
  t.ok(entityTagMatches(['*'], '"b"'));
  t.ok(entityTagMatches(['"a"', '"b"'], '"b"'), 'several lines are one list');
  t.notOk(entityTagMatches(['"a", b'], '"b"'));
  t.notOk(entityTagMatches(['W/"b"'], '"b"', true), 'a weak tag is no strong one');
  t.ok(wantsSha256(['unixsum=1, sha-256=10']));
  t.notOk(wantsSha256(['sha-256=0', 'sha-512=3']));
  t.equal(contentDisposition('a"b ü.csv'), `attachment; filename="a_b _.csv"; filename*=UTF-8''a%22b%20%C3%BC.csv`);
});

t.test('what is retired says so, and not too soon', async (t) => {
  const headers: [string, string][] = [];
  const exchange = { addHeader: (name: string, value: string): void => void headers.push([name, value]) };
  const since = new Date('2026-01-31T00:00:00Z');
  const link = 'https://example.com/retired';
  markDeprecated(exchange, { since, sunset: new Date('2027-01-31T00:00:00Z'), link });
  t.strictSame(headers, [
    ['Deprecation', '@1769817600'],
    ['Sunset', 'Sun, 31 Jan 2027 00:00:00 GMT'],
    ['Link', '<https://example.com/retired>; rel="deprecation"; type="text/html"'],
  ]);
  t.throws(() => markDeprecated(exchange, { since, sunset: new Date('2027-01-30T00:00:00Z'), link }), /twelve months/);
});

t.test('parameters', async (t) => {
  const check = (delimiter: string | null | undefined, header_row?: string | null) =>
    checkParameters({ delimiter, header_row }, 100);
  for (const sound of [';', ' ', '¦', '😀', 'x']) t.match(check(sound), { delimiter: sound, problem: null });
  for (const wrong of ['', '"', '\t', '\n', '\u00A0', '\u200B', '\uFFFD', ';;', null])
    t.ok(check(wrong).problem, String(wrong));
  t.match(check(undefined, '0099'), { headerRow: 99, problem: null });
  for (const wrong of ['', '-1', '1.0', ' 1', '100', '99999999999', null])
    t.ok(check(undefined, wrong).problem, String(wrong));
  t.equal(check(';', '1').canonical, check(';', '01').canonical);
  t.not(check(undefined).canonical, check('').canonical);
});

t.test('names of outputs differ in the id alone', async (t) => {
  const names = new OutputNames();
  const ids = new RunIds();
  const template = (id: string, pattern: string, name: string | null) =>
    partly<Parameters<OutputNames['of']>[0]>({ id, name, checked: { output: { name: pattern }, reservationBytes: 0 } });
  const long = 'long '.repeat(30);
  const some = [
    template('plain', '{template}-{run}', null),
    template('twice', '{run} {run}', 'Zwei: mal'),
    template('none', 'orders', null),
    template('cut', `${long}{run}`, null),
    template('tricky', '{template} {run}', `run_${'0'.repeat(26)}`),
    template('title', '{template}-{run}', long),
  ];
  for (const one of some) {
    for (const ending of ['csv', 'csv', 'json', 'csv']) {
      const id = ids.next();
      t.equal(names.of(one, id, ending), outputName(one, id, ending), `${one.id} ${ending}`);
    }
  }
  t.equal(names.of(some[0]!, 'run_a', 'csv'), 'plain-run_a.csv');
});

t.test('ids have 130 bits', async (t) => {
  const source = new RunIds();
  const ids = Array.from({ length: 1000 }, () => source.next());
  t.equal(new Set(ids).size, 1000);
  t.equal(new Set(ids.flatMap((id) => [...id.slice(4)])).size, 32, 'every letter comes');
  for (const id of ids) t.match(id, /^run_[a-z2-7]{26}$/);
});

t.test('fast bodies take turns: little of each, round and round, and none while there is no memory', async (t) => {
  let hasMemory = true;
  const turns = new ReadTurns(() => hasMemory);
  const order: string[] = [];
  const reader = (name: string, lastReadWork: number): TurnReader => {
    const self = {
      lastReadWork,
      continueReading: () => {
        order.push(name);
        if (order.length < 12) turns.wait(self);
      },
    };
    return self;
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const gone = reader('gone', 1);
  for (const each of [reader('a', 10 * 1024 ** 2), gone, reader('b', 10 * 1024 ** 2)]) turns.wait(each);
  turns.leave(gone);
  t.strictSame(order, [], 'nothing before the turn of the loop is over');
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(order, ['a'], 'one that brings much has the turn for itself');
  for (const name of ['c', 'd', 'e']) turns.wait(reader(name, 1000));
  hasMemory = false;
  await turn();
  t.strictSame(order, ['a'], 'no memory');
  hasMemory = true;
  turns.memoryFreed();
  for (let count = 0; count < 20; count += 1) await turn();
  t.equal(order.slice(0, 9).join(''), 'abacdebac');
});

t.test('the spool keeps the order, whatever waits; a disk that refuses is reported; blocks come back', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-spool-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  // So small a budget that blocks are written in place while others wait for the background.
  const budget = new MemoryBudget(64 * 1024 ** 2, 1);
  const blocks = new WriteBlocks(budget);
  const files = new IdleFiles({ space: () => ({ freeBytes: 0 }) }, (fault) => t.fail(String(fault)));
  const content = Buffer.alloc(
    40 * 1024 ** 2,
    Array.from({ length: 251 }, (_, index) => String.fromCharCode(index)).join(''),
  );
  const path = join(folder, 'a');
  const grown: number[] = [];
  await new Promise<void>((resolve, reject) => {
    const listener = {
      grown: (bytes: number) => void grown.push(bytes),
      drained: () => {},
      complete: resolve,
      failed: reject,
    };
    const file = new SpooledFile(path, files, blocks, listener);
    for (let at = 0; at < content.length; at += 524_287) file.write(content.subarray(at, at + 524_287));
    file.end();
  });
  t.ok(readFileSync(path).equals(content));
  t.strictSame(
    grown,
    [...grown].sort((a, b) => a - b),
  );
  t.equal(budget.usedBytes('bodies'), 0);
  const taken = join(folder, 'taken');
  writeFileSync(taken, 'somebody else has it');
  const fault = await new Promise((resolve) => {
    const file = new SpooledFile(taken, files, blocks, {
      grown: () => {},
      drained: () => {},
      complete: () => {},
      failed: resolve,
    });
    file.write(content.subarray(0, 1_000_000));
    void file.discard();
  });
  t.match(fault, { code: 'EEXIST' });
  t.equal(budget.usedBytes('bodies'), 0);
});

const SHARED_MEMORY = '/dev/shm';
const TMPFS = 0x01021994;
const hasTmpfs = existsSync(SHARED_MEMORY) && statfsSync(SHARED_MEMORY).type === TMPFS;

t.test('a spool on tmpfs is written at once, without blocks', { skip: hasTmpfs ? false : 'no tmpfs' }, async (t) => {
  const folder = mkdtempSync(join(SHARED_MEMORY, 'template-run-spool-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const budget = new MemoryBudget(64 * 1024 ** 2, 1);
  const blocks = new WriteBlocks(budget);
  const files = new IdleFiles({ space: () => ({ freeBytes: 1e12 }) }, (fault) => t.fail(String(fault)));
  t.teardown(() => files.close());
  const spool = (name: string, content: Buffer): Promise<{ file: SpooledFile; grown: number[] }> =>
    new Promise((resolve, reject) => {
      const grown: number[] = [];
      const file: SpooledFile = new SpooledFile(join(folder, name), files, blocks, {
        grown: (bytes) => void grown.push(bytes),
        drained: () => t.fail('nothing has to wait'),
        complete: () => resolve({ file, grown }),
        failed: reject,
      });
      for (let at = 0; at < content.length; at += 100_000) {
        t.ok(file.write(content.subarray(at, at + 100_000)));
        t.equal(budget.usedBytes('bodies'), 0);
      }
      file.end();
    });
  const [long, short] = ['a', 'b'].map((letter, index) => Buffer.alloc(1_000_003 - index * 500_000, letter));
  const first = await spool('first', long!);
  t.ok(readFileSync(first.file.path).equals(long!));
  t.strictSame(first.grown, [300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000, 1_000_000, 1_000_003]);
  await first.file.discard();
  const second = await spool('second', short!);
  t.ok(readFileSync(second.file.path).subarray(0, short!.length).equals(short!), 'over the file of the first one');
  await second.file.discard();
  writeFileSync(join(folder, 'taken'), 'somebody else has it');
  await files.close();
  await t.rejects(spool('taken', long!), { code: 'EEXIST' });
});
