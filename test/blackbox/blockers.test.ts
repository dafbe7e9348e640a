// Three Runs that are slow in one cell or one part of their file, beside small Runs of another account. A Run that held its
// thread for seconds would let the small ones wait for seconds of its work.
// With all tests only: attacks and faults of the machine.
import t from 'tap';
import { processorClock } from '../processor-clock.ts';
import { rowsOf, workbookOf } from '../workers/input/xlsx/workbook-writer.ts';
import { step, template } from './catalog-folder.ts';
import { Client, type HeldUpload, until } from './client.ts';
import { expectRun } from './expect.ts';
import { CANARY, file, form } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const BLOCKERS = 3;
const SMALL_RUNS = 8;

/**
 * Maximum processor time of the service while a small Run waits, on all cores. Runs that pause make it wait for 0.1 to 0.5 s of
 * their work. A Run that holds its thread to the end of its rows makes it wait for 5 s and more.
 */
const WORK_MILLISECONDS_MAX = 4_000;

/** A busy machine may take minutes for the blockers. */
const PATIENCE_MILLISECONDS = 300_000;

/** A cell may have 4 MiB. */
const CELL_BYTES = 4_190_000;
const LONG_CELLS = 4;

interface Blocker {
  readonly template: object;
  readonly content: () => string | Buffer;
}

/** Rows with a cell of 4 MiB each, made of one piece. */
function longCells(piece: string, ...operations: readonly object[]): Blocker {
  const cell = piece.repeat(Math.floor(CELL_BYTES / Buffer.byteLength(piece)));
  return { template: template(operations), content: () => `a,text\n${`"${cell}",1\n`.repeat(LONG_CELLS)}` };
}

const many = (count: number, one: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join('');

/** Not among them: what SECURITY.md names as work that cannot pause within one cell. */
const KINDS: Readonly<Record<string, Blocker>> = {
  'loose match': longCells('Zoë, the 1st; ', step('dedupe', { by: ['a'], match: 'loose' })),
  redact: longCells('+49 30 1 2 ', step('redact', { columns: ['a'], patterns: ['phone', 'card'] })),
  tags: longCells('<b>ß</b> < ', step('text', { columns: ['a'], steps: ['remove_tags', 'unescape_html'] })),
  'text steps': longCells('ÉCOLE ', step('text', { columns: ['a'], steps: ['title', 'strip_accents', 'nfkc'] })),
  replace: longCells('aab', step('set', { columns: { n: 'a.replace("a", "ä")' } })),
  'merged cells': {
    template: template([], { input: { merged: 'fill' } }),
    content: () =>
      workbookOf({
        rows: many(2_000, (row) => `<row r="${row + 1}"><c r="A${row + 1}" t="str"><v>x</v></c></row>`),
        after: `<mergeCells>${many(65_000, (index) => `<mergeCell ref="A${1 + (index % 3)}:XFD2000"/>`)}</mergeCells>`,
      }),
  },
  'many sheets': {
    template: template([], { input: { sheet: '*' } }),
    content: () =>
      workbookOf({
        rows: rowsOf([['a'], ['1']]),
        moreSheets: Array.from({ length: 9_990 }, (_, index) => ({ name: `s${index}`, rows: '' })),
      }),
  },
  'members of JSON': {
    template: template([]),
    content: () => `{${many(1_000_000, (index) => `"k${index}":1,`)}"rows":[{"a":1}]}`,
  },
};

const templates = Object.fromEntries(Object.values(KINDS).map(({ template }, index) => [`kind-${index}`, template]));
const service = await startService(
  t,
  { accounts: { acme: { templates }, other: { templates: { all: template([]) } } } },
  { workers: 2, 'memory-budget': '256MiB', 'wait-ms': PATIENCE_MILLISECONDS },
);

for (const [index, [name, { content }]] of Object.entries(KINDS).entries()) {
  t.test(name, { timeout: 2 * PATIENCE_MILLISECONDS }, async (t) => {
    const client = new Client(service.port, service.catalog.key('acme'), PATIENCE_MILLISECONDS);
    const small = new Client(service.port, service.catalog.key('other'), PATIENCE_MILLISECONDS);
    const upload = form([file(content())]);
    let isOver = false;
    let begun = 0;
    const atWork = new Set<HeldUpload>();
    /** Sends the same upload again as soon as its Run has ended, however it ended. */
    const block = async (): Promise<void> => {
      while (!isOver) {
        const blocker = client.hold(`kind-${index}`, upload, 0);
        atWork.add(blocker);
        begun++;
        await blocker.finish();
        atWork.delete(blocker);
      }
    };
    const blocking = Array.from({ length: BLOCKERS }, () =>
      block().catch((fault: unknown) => isOver || t.error(fault)),
    );
    await until(
      () => service.metric('template_run_runs_in_pool'),
      (runs) => runs > 0,
    );
    const now = processorClock(service);
    const times: number[] = [];
    for (let run = 0; run < SMALL_RUNS; run++) {
      const start = now();
      expectRun(t, await small.upload('all', [file(`id,text\n1,${CANARY}\n`)]), 201, 'succeeded');
      times.push(now() - start);
    }
    isOver = true;
    for (const blocker of atWork) blocker.vanish();
    await Promise.all(blocking);
    const slowest = Math.max(...times);
    t.ok(slowest < WORK_MILLISECONDS_MAX, `answered within ${slowest} ms of their work, ${begun} blockers`);
    t.comment(`${times.join(' ')} ms; ${begun} blockers`);
  });
}

t.test('nothing of it is in the logs', (t) => checkLogs(t, service));
