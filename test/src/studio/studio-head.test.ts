// A change shows the head of the sample first and then all of it; a later change ends the reading of the rest.
// With all tests only: work and memory of large inputs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { OpenedFiles } from '../../../src/studio/opened-files.ts';
import { HEAD_ROWS_MAX, StudioSession } from '../../../src/studio/studio-session.ts';
import { TemplateStore } from '../../../src/studio/template-store.ts';
import { WatchThread } from '../../../src/studio/watch-thread.ts';

const TEMPLATE = `format: 1
operations:
  - {text: {columns: name, steps: [trim]}}
  - {dedupe: {by: [number]}}
`;

/** Far more than are read until the first word of how far a Run is; in all less than is read whole at each change. */
const ROWS = 1_000_000;

const STEP = 2;

function openSession(t: Test, rows: number, onProgress: (rowsRead: number) => void): StudioSession {
  const folder = t.testdir({ 'template.yaml': TEMPLATE });
  const [templatePath, samplePath] = [join(folder, 'template.yaml'), join(folder, 'sample.csv')];
  writeFileSync(samplePath, `number,name\n${Array.from({ length: rows }, (_, row) => `${row}, Ada \n`).join('')}`);
  const settings = { memoryBudgetBytes: 256 * 1024 * 1024, secretsDirectory: null };
  const thread = new WatchThread({ ...settings, onProgress });
  t.teardown(() => thread.close());
  return new StudioSession({
    templatePath,
    format: 'yaml',
    samplePath,
    files: new OpenedFiles({}),
    store: new TemplateStore(templatePath, ''),
    thread,
    openThread: () => new WatchThread({ ...settings, onProgress: () => {} }),
    onFault: (fault) => t.fail(String(fault)),
    runTest: () => Promise.reject(new Error('no test is made here')),
    draft: () => Promise.reject(new Error('no draft is made here')),
    newDraft: () => Promise.resolve(''),
    draftPercent: () => 0,
    runWhole: () => Promise.reject(new Error('no output is made here')),
  });
}

test('the head comes first and says that it is one, then the whole', async (t) => {
  const rows = HEAD_ROWS_MAX * 3;
  const session = openSession(t, rows, () => {});
  const request = { source: TEMPLATE, step: STEP, asked: null, whole: false, hasRows: true };
  t.match(await session.evaluate({ ...request, head: true }), {
    isHead: true,
    isStale: false,
    watched: {
      isPartial: true,
      rowsRead: HEAD_ROWS_MAX,
      steps: [{}, { isExact: true, rows: HEAD_ROWS_MAX }, { isExact: false, rows: HEAD_ROWS_MAX }],
      profiles: [{ rows: HEAD_ROWS_MAX }, {}],
    },
  });
  const shown = await session.rows({ step: STEP, filter: 'all', from: HEAD_ROWS_MAX - 1, count: 10 });
  t.match(shown, { count: HEAD_ROWS_MAX, rows: [{ cells: [String(HEAD_ROWS_MAX - 1), 'Ada'] }] });
  t.match(await session.evaluate({ ...request, head: false }), {
    isHead: false,
    watched: { isPartial: false, rowsRead: rows, rowsWritten: rows, steps: [{}, {}, { rows }], profiles: [{ rows }] },
  });
});

test('a request that arrives after a later one of its page does not replace it', async (t) => {
  const session = openSession(t, ROWS, () => {});
  const request = { source: TEMPLATE, whole: false, hasRows: true, head: true };
  const later = session.evaluate({ ...request, asked: { page: 'a', number: 2 }, step: STEP });
  const earlier = session.evaluate({ ...request, asked: { page: 'a', number: 1 }, step: 0 });
  t.match(await earlier, { isStale: true, watched: null });
  t.match(await later, { isStale: false, watched: { profiledStep: STEP } });
  // Another page counts its requests separately.
  t.match(await session.evaluate({ ...request, asked: { page: 'b', number: 1 }, step: STEP }), { isStale: false });
});

test('a sample that is no longer than a head is whole at once', async (t) => {
  const session = openSession(t, HEAD_ROWS_MAX - 1, () => {});
  t.match(
    await session.evaluate({ source: TEMPLATE, step: STEP, asked: null, whole: false, hasRows: true, head: true }),
    {
      isHead: false,
      watched: { isPartial: false, rowsRead: HEAD_ROWS_MAX - 1 },
    },
  );
});

test('rows that end a Run do not hide that only a head was read', async (t) => {
  const session = openSession(t, HEAD_ROWS_MAX * 2, () => {});
  const source = `${TEMPLATE}  - {parse_number: {columns: name, decimal: "."}}\n`;
  t.match(await session.evaluate({ source, step: STEP, asked: null, whole: false, hasRows: true, head: true }), {
    isHead: true,
    failure: { code: 'TEMPLATE_ROW_ERROR' },
    watched: { isPartial: true, rowsRead: HEAD_ROWS_MAX },
  });
});

test('a change while the rest is read ends that, and shows its own head', async (t) => {
  let edited: Promise<unknown> | null = null;
  let isHeadShown = false;
  let readMost = 0;
  const change = { source: `${TEMPLATE}# changed\n`, step: STEP, asked: null, whole: false, hasRows: true, head: true };
  const session = openSession(t, ROWS, (rowsRead) => {
    // On a busy machine, even the head takes long enough for a report of its progress.
    if (!isHeadShown) return;
    readMost = Math.max(readMost, rowsRead);
    edited ??= session.evaluate(change);
  });
  const request = { source: TEMPLATE, step: STEP, asked: null, whole: false, hasRows: true };
  t.match(await session.evaluate({ ...request, head: true }), { isHead: true });
  isHeadShown = true;
  t.match(await session.evaluate({ ...request, head: false }), { isStale: true, watched: null });
  t.ok(readMost < ROWS, `${readMost} rows were read`);
  t.match(await edited, { isHead: true, isStale: false, watched: { rowsRead: HEAD_ROWS_MAX } });
});
