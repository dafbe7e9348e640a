// Runs that have ended against a plain list of them: nothing is lost or mixed up, and their memory is used again.

import t from 'tap';
import { MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { HashIndex, textHash } from '../../../src/collections/hash-index.ts';
import type { RunRecord } from '../../../src/runs/run.ts';
import { EndedRuns, RunRecords } from '../../../src/stores/memory/run-records.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

const BLOCK_BYTES = 1_048_576;

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const output = fc.option(
  fc.oneof(
    fc.record({ sizeBytes: fc.constantFrom(0, 1, 900, 60_000), path: fc.constant(null) }),
    fc.record({
      sizeBytes: fc.constantFrom(0, 60_000, 2 ** 33 + 1),
      path: text.map((name) => `/data/${name}\n1.out`),
    }),
  ),
);
const ended = fc.record({
  account: fc.constantFrom('acme', 'other-account'),
  errorCode: fc.constantFrom('RUN_TIMEOUT', 'TEMPLATE_ROW_ERROR'),
  output,
  rejects: output,
  jsonBytes: fc.constantFrom(2, 900, 900, 100_000, 300_000, BLOCK_BYTES, BLOCK_BYTES + 40_000),
  fill: fc.nat(255),
  words: fc.option(fc.array(fc.constantFrom('7', '12', 'ok', '":', '_', 'Größe', '{}', 'ID'), { maxLength: 30 })),
});

interface Ended {
  readonly account: string;
  readonly errorCode: string;
  readonly output: { readonly sizeBytes: number; readonly path: string | null } | null;
  readonly rejects?: Ended['output'];
  readonly jsonBytes: number;
  readonly fill: number;
  /** Words of its JSON, if it is one of many similar Runs. ID stands for the id of the Run. */
  readonly words?: readonly string[] | null;
}

/** With when its time comes, which the store keeps beside it. */
type Kept = RunRecord & { readonly expiresAt: number };

function record(number: number, expiresAt: number, run: Ended): Kept {
  const { account, errorCode, fill } = run;
  const stored = run.output === null ? null : { ...run.output, bytes: bytesOf(run.output, fill) };
  return {
    id: `run_${number}`,
    account,
    templateId: `template-${run.words ? number % 2 : number}`,
    createdAt: number + 0.5,
    status: stored === null ? 'failed' : 'succeeded',
    expiresAt,
    errorCode: stored === null ? (errorCode as 'RUN_TIMEOUT') : null,
    output: stored,
    json: jsonOf(run, `run_${number}`),
    ...(stored === null || run.rejects === undefined || run.rejects === null
      ? {}
      : { rejects: { ...run.rejects, bytes: bytesOf(run.rejects, fill + 1) } }),
  };
}

function jsonOf({ jsonBytes, fill, words }: Ended, id: string): Buffer {
  if (!words) return Buffer.alloc(jsonBytes, fill);
  const report = '{"rows":5,"errors":{}} '.repeat(30);
  return Buffer.from(`{"id":"${id}", ${words.map((word) => (word === 'ID' ? id : word)).join(' ')} ${report}}`);
}

function bytesOf({ sizeBytes, path }: { sizeBytes: number; path: string | null }, fill: number): Uint8Array | null {
  return path === null ? Buffer.alloc(sizeBytes, fill + 1) : null;
}

/** Same in all that is not bytes, and in these. */
function isSame(one: RunRecord | null, other: RunRecord): boolean {
  if (one === null) return false;
  const plain = (run: RunRecord) =>
    JSON.stringify({
      ...run,
      expiresAt: undefined,
      json: null,
      output: { ...run.output, bytes: null },
      rejects: { ...run.rejects, bytes: null },
    });
  const bytes = ({ json, output, rejects }: RunRecord) =>
    Buffer.concat([json!, ...[output, rejects].map((file) => file?.bytes ?? Buffer.alloc(0))]);
  return (
    plain(one) === plain(other) && bytes(one).equals(bytes(other)) && (one.output === null) === (other.output === null)
  );
}

t.test('what is kept stays as it was, whatever is added and forgotten beside it', async (_t) => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ add: ended, wait: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ sweep: fc.nat(4), wait: fc.nat(10) }) },
    { weight: 1, arbitrary: fc.record({ sweep: fc.constant(1000), wait: fc.constant(100) }) },
  );
  const RETENTION = 20;
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
      let charged = 0;
      const expired: unknown[] = [];
      const runs = new EndedRuns({
        expired: (place) => expired.push(place),
        charge: (bytes) => {
          charged += bytes;
        },
      });
      let kept: Kept[] = [];
      let now = 0;
      let number = 0;
      for (const one of steps) {
        now += one.wait;
        if ('add' in one) {
          number += 1;
          const run = record(number, now + RETENTION, one.add);
          kept.push(run);
          runs.add(run, run.expiresAt);
        } else {
          const due = kept.filter(({ expiresAt }) => expiresAt <= now).slice(0, one.sweep);
          kept = kept.slice(due.length);
          expired.length = 0;
          if (runs.sweep(now, one.sweep) !== due.length) return false;
          const places = due
            .flatMap(({ output, rejects }) => [output, rejects])
            .flatMap((place) => (place ? [{ sizeBytes: place.sizeBytes, path: place.path }] : []));
          if (JSON.stringify(expired) !== JSON.stringify(places)) return false;
          if (due.some(({ id }) => runs.get(id, 0) !== null)) return false;
        }
        if (runs.size !== kept.length || charged < kept.length * 100 || (charged === 0) !== (kept.length === 0))
          return false;
      }
      return kept.every(
        (run) => isSame(runs.get(run.id, run.expiresAt - 1), run) && runs.get(run.id, run.expiresAt) === null,
      );
    }),
    { numRuns: sweep({ short: 10, long: 100 }) },
  );
});

t.test('the JSON of Runs of one Template weighs what differs', async (t) => {
  let charged = 0;
  const runs = new EndedRuns({
    expired: () => {},
    charge: (bytes) => {
      charged += bytes;
    },
  });
  const kept = { account: 'acme', errorCode: '', output: { sizeBytes: 3, path: null }, jsonBytes: 0, fill: 7 };
  const COUNT = 5_000;
  for (let number = 0; number < COUNT; number++)
    runs.add({ ...record(number, 10, { ...kept, words: ['ok', 'ID', String(number)] }), templateId: 't' }, 10);
  t.ok(charged / COUNT < 250, `${charged / COUNT} bytes a Run, of which the JSON has 700`);
  const last = record(COUNT - 1, 10, { ...kept, words: ['ok', 'ID', String(COUNT - 1)] });
  t.strictSame(runs.get(last.id, 0)!.json!.toString(), last.json!.toString());
});

t.test('places are found by hashes that many share, as in a plain list', async (_t) => {
  const hash = fc.constantFrom(0, 1, 2, 15, 16, 0x0a000001, 0x0a000002, 0x0a00000f, 0xffffffff);
  const step = fc.record({ hash, remove: fc.option(fc.nat(), { freq: 2 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 400 }), (steps) => {
      const table = new HashIndex();
      const list: { hash: number; place: number }[] = [];
      for (const [place, { hash, remove }] of steps.entries()) {
        table.add(hash, place);
        list.push({ hash, place });
        if (remove === null) continue;
        const [gone] = list.splice(remove % list.length, 1);
        table.remove(gone!.hash, gone!.place);
        if (table.find(gone!.hash, (each) => each === gone!.place) !== null) return false;
      }
      const isThere = list.every(({ hash, place }) => table.find(hash, (each) => each === place) === place);
      for (const { hash, place } of list) table.remove(hash, place);
      return isThere && list.every(({ hash }) => table.find(hash, () => true) === null);
    }),
  );
});

t.test('two ids with one hash are two Runs', async (t) => {
  const runs = new EndedRuns({ expired: () => {}, charge: () => {} });
  const kept = { account: 'acme', errorCode: 'RUN_TIMEOUT', output: null, jsonBytes: 2, fill: 7 };
  const [one, other] = ['run_brosmiwc7fpxmpdsi47a3q7r47', 'run_jfwlxhctdm7lhzgptjrphof3to'];
  t.equal(textHash(one!), textHash(other!));
  runs.add({ ...record(1, 10, kept), id: one! }, 10);
  runs.add({ ...record(2, 20, kept), id: other! }, 20);
  t.equal(runs.get(one!, 0)!.templateId, 'template-1');
  t.equal(runs.get(other!, 0)!.templateId, 'template-2');
  t.equal(runs.sweep(10, 1), 1);
  t.equal(runs.get(one!, 0), null);
  t.equal(runs.get(other!, 0)!.templateId, 'template-2');
});

t.test('what was given out stays when its Run is forgotten and another one comes', async (t) => {
  const runs = new EndedRuns({ expired: () => {}, charge: () => {} });
  const kept = { account: 'acme', errorCode: '', output: { sizeBytes: 3, path: null }, jsonBytes: 2, fill: 7 };
  runs.add(record(1, 10, kept), 10);
  const given = runs.get('run_1', 0)!;
  t.equal(runs.sweep(10, 1), 1);
  runs.add(record(2, 20, { ...kept, fill: 9 }), 20);
  t.strictSame([...given.json!], [7, 7]);
  t.strictSame([...given.output!.bytes!], [8, 8, 8]);
  t.equal(runs.get('run_1', 0), null);
});

t.test('a Run that is over before those before it is forgotten after them', async (t) => {
  const runs = new EndedRuns({ expired: () => {}, charge: () => {} });
  const kept = { account: 'acme', errorCode: 'RUN_TIMEOUT', output: null, jsonBytes: 2, fill: 7 };
  runs.add(record(1, 100, kept), 100);
  runs.add(record(2, 50, kept), 50);
  t.equal(runs.get('run_2', 49)!.id, 'run_2');
  t.equal(runs.get('run_2', 50), null);
  t.equal(runs.sweep(99, 10), 0);
  t.equal(runs.sweep(100, 10), 2);
});

t.test('Runs that end after the clock was set back are forgotten at their time', async (t) => {
  const budget = new MemoryBudget(256 * 1024 * 1024, 1);
  const expired: unknown[] = [];
  const store = new RunRecords(budget, (place) => expired.push(place));
  const DAY = 86_400_000;
  const kept = { account: 'acme', errorCode: '', output: { sizeBytes: 3, path: null }, jsonBytes: 2, fill: 7 };
  for (const [number, expiresAt] of [DAY + 1, DAY + 2, 100, 90, 110].entries()) {
    const run = record(number, expiresAt, kept);
    store.begin(run);
    store.finish(run, expiresAt);
  }
  t.equal(store.size, 5);
  t.equal(store.get('acme', 'run_4', 109)!.id, 'run_4');
  t.equal(store.get('other-account', 'run_4', 0), null);
  t.equal(store.sweep(110, 2), 2);
  t.equal(store.sweep(110, 2), 1);
  t.equal(expired.length, 3);
  t.equal(store.get('acme', 'run_1', DAY + 1)!.id, 'run_1');
  const late = record(9, 200, kept);
  store.begin(late);
  store.finish(late, 200);
  t.equal(store.sweep(DAY + 2, 10), 3);
  t.equal(store.size, 0);
  t.equal(budget.usedBytes('records'), 0);
});

t.test('a steady coming and going takes no new memory', async (t) => {
  const runs = new EndedRuns({ expired: () => {}, charge: () => {} });
  const kept = { account: 'acme', errorCode: '', output: { sizeBytes: 900, path: null }, jsonBytes: 900, fill: 1 };
  const run = record(0, 0, kept);
  let now = 0;
  const rounds = (count: number): void => {
    for (let round = 0; round < count; round += 1) {
      now += 1;
      runs.add({ ...run, id: `run_${now}` }, now + 1_000);
      runs.sweep(now, 2);
    }
  };
  rounds(3_000);
  const before = process.memoryUsage().arrayBuffers;
  rounds(50_000);
  const grownBytes = process.memoryUsage().arrayBuffers - before;
  t.equal(runs.size, 1_000);
  t.ok(grownBytes <= 2 * BLOCK_BYTES, `100 MB have gone through, ${grownBytes} bytes are new`);
});
