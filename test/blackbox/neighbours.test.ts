// Small Runs of one account beside Runs of another that would hold the service's only thread for hours.
// With all tests only: attacks and faults of the machine.
import t from 'tap';
import { processorClock } from '../processor-clock.ts';
import { step, template } from './catalog-folder.ts';
import { Client } from './client.ts';
import { expectRun } from './expect.ts';
import { file, form } from './multipart.ts';
import { startService } from './service.ts';

const SMALL_RUNS = 40;

/** Maximum processor time of the large Runs while a small Run waits, on all cores. A Run that never paused would exceed it. */
const WORK_MILLISECONDS_MAX = 4_000;

const many = <T>(count: number, one: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => one(index));

const list = many(300, () => 'x').join(';');
const explosion = ['a', 'b', 'c'].map((column) => step('explode', { column, separator: ';' }));
const patterns = many(20, () => step('set', { columns: { a: 'replace_re(a, "x+(y?)z*", "$1x")' } }));

/** Larger than what an upload may hold in memory: the thread takes them beside each other. */
const NASTY = {
  rows: {
    template: template([...explosion, ...patterns]),
    text: `a,b,c,d\n${`${list},${list},${list},\n`.repeat(200)}`,
  },
  columns: {
    template: template(many(100, () => step('text', { columns: '*', steps: ['nfkc', 'upper'] }))),
    text: `${many(8000, (column) => `c${column}`).join(',')}\n${`${many(8000, () => 'é').join(',')}\n`.repeat(20)}`,
  },
};

t.test('small Runs beside large ones', { timeout: 1_200_000 }, async (t) => {
  const templates = Object.fromEntries(Object.entries(NASTY).map(([name, nasty]) => [name, nasty.template]));
  const service = await startService(t, {
    accounts: { acme: { templates }, other: { templates: { all: template([]) } } },
  });
  const large = new Client(service.port, service.catalog.key('acme'), 1_200_000);
  const held = Object.entries(NASTY).map(([name, { text }]) => {
    const upload = form([file(text)]);
    const sent = large.hold(name, upload, 0);
    sent.send(upload.body);
    // The service ends before they do.
    sent.answer.catch(() => undefined);
    return sent;
  });
  const small = service.client('other');
  const text = `id,text\n${'1,CanaryCell\n'.repeat(80)}`;
  const now = processorClock(service);
  const times: number[] = [];
  for (let run = 0; run < SMALL_RUNS; run++) {
    const begun = now();
    expectRun(t, await small.upload('all', [file(text)]), 201, 'succeeded');
    times.push(now() - begun);
  }
  t.ok(
    held.some((sent) => !sent.answered()),
    'the large ones are at work',
  );
  const slowest = Math.max(...times);
  t.comment(`the slowest took ${slowest} ms`);
  t.ok(slowest < WORK_MILLISECONDS_MAX, `answered within ${slowest} ms of their work`);
});
