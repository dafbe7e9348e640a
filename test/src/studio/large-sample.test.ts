// For a sample that is too large to be read completely at each change, the studio also shows odd rows further down.
// With all tests only: work and memory of large inputs.
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { OpenedFiles } from '../../../src/studio/opened-files.ts';
import { SAMPLE_ROWS_MAX, StudioSession, WHOLE_SAMPLE_BYTES_MAX } from '../../../src/studio/studio-session.ts';
import { TemplateStore } from '../../../src/studio/template-store.ts';
import { WatchThread } from '../../../src/studio/watch-thread.ts';

const TEMPLATE = `format: 1
operations:
  - {text: {columns: name, steps: [trim]}}
  - {parse_number: {columns: amount, decimal: ",", on_error: reject}}
`;

const REQUEST = { source: TEMPLATE, step: 2, asked: null, whole: false, head: false, hasRows: true };

const LINE = `1,50;Ada${' '.repeat(90)}\n`;

const ROWS = Math.ceil(WHOLE_SAMPLE_BYTES_MAX / LINE.length) + 10;

/** A row whose number has another shape, and a row whose value has a common shape but is not a number. */
const [ODD_ROW, ROW_WITH_ERROR] = [ROWS - 10, ROWS - 5];

interface OpenedSession {
  readonly session: StudioSession;
  readonly samplePath: string;
}

function openSession(t: Test): OpenedSession {
  const folder = t.testdir({ 'template.yaml': TEMPLATE });
  const [templatePath, samplePath] = [join(folder, 'template.yaml'), join(folder, 'sample.csv')];
  const lines = Array.from({ length: ROWS }, () => LINE);
  lines[1] = '1.50;Bob\n';
  lines[ODD_ROW - 1] = 'EUR 7; Eve \n';
  lines[ROW_WITH_ERROR - 1] = '2.50;Ada\n';
  writeFileSync(samplePath, `amount;name\n${lines.join('')}`);
  const settings = { memoryBudgetBytes: 256 * 1024 * 1024, secretsDirectory: null, onProgress: () => {} };
  const thread = new WatchThread(settings);
  const session = new StudioSession({
    templatePath,
    format: 'yaml',
    samplePath,
    files: new OpenedFiles({}),
    store: new TemplateStore(templatePath, ''),
    thread,
    openThread: () => new WatchThread(settings),
    onFault: (fault) => t.fail(String(fault)),
    runTest: () => Promise.reject(new Error('no test is made here')),
    draft: () => Promise.reject(new Error('no draft is made here')),
    newDraft: () => Promise.resolve(''),
    draftPercent: () => 0,
    runWhole: () => Promise.reject(new Error('no output is made here')),
  });
  t.teardown(async () => {
    await session.close();
    await thread.close();
  });
  return { session, samplePath };
}

async function changed(session: StudioSession, version: string): Promise<void> {
  while (session.state().sampleVersion === version) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function sourceRows(session: StudioSession, from: number): Promise<readonly number[] | undefined> {
  const found = await session.rows({ step: 0, filter: 'all', from, count: 10 });
  return found?.rows.map(({ sourceRow }) => sourceRow);
}

test('odd rows are found in the background, and run with the first ones at each change', async (t) => {
  const { session } = openSession(t);
  const { sampleVersion } = session.state();
  t.match(await session.evaluate({ ...REQUEST, head: true }), {
    isHead: false,
    watched: { isPartial: true, rowsRead: SAMPLE_ROWS_MAX },
  });
  await changed(session, sampleVersion);
  t.match(await session.evaluate({ ...REQUEST, head: true }), { isHead: true, watched: { rowsRead: SAMPLE_ROWS_MAX } });
  const evaluation = await session.evaluate(REQUEST);
  t.match(evaluation, { isHead: false, watched: { isPartial: true, rowsRead: SAMPLE_ROWS_MAX + 1 } });
  t.strictSame(await sourceRows(session, SAMPLE_ROWS_MAX), [ODD_ROW]);
  t.match(await session.rows({ step: 2, filter: 'errors', from: 0, count: 10 }), {
    rows: [{ sourceRow: 2 }, { sourceRow: ODD_ROW, cells: ['EUR 7', 'Eve'], errors: [{ code: 'NOT_A_NUMBER' }] }],
  });
  const version = session.state().sampleVersion;
  await session.evaluate({ ...REQUEST, source: `${TEMPLATE}# the file is read as before\n` });
  t.equal(session.state().sampleVersion, version, 'the file is not scanned again');
});

test('rows with errors in the last whole Run are run with the first rows, until the file changes', async (t) => {
  const { session, samplePath } = openSession(t);
  const { watched } = await session.evaluate({ ...REQUEST, whole: true });
  t.match(watched, { isPartial: false, rowsRead: ROWS, rowsWithErrors: [2, ODD_ROW, ROW_WITH_ERROR] });
  t.match(await session.evaluate(REQUEST), { watched: { isPartial: true, rowsRead: SAMPLE_ROWS_MAX + 2 } });
  t.strictSame(await sourceRows(session, SAMPLE_ROWS_MAX), [ODD_ROW, ROW_WITH_ERROR]);
  const { sampleVersion } = session.state();
  appendFileSync(samplePath, LINE);
  t.not(session.state().sampleVersion, sampleVersion);
  t.match(await session.evaluate({ ...REQUEST, head: true }), {
    isHead: false,
    watched: { rowsRead: SAMPLE_ROWS_MAX },
  });
});

test('the way of a cell that was changed far down', async (t) => {
  const { session } = openSession(t);
  const { watched } = await session.evaluate({ ...REQUEST, whole: true });
  const columnId = watched!.steps[0]!.columns[1]!.id;
  t.match(await session.trace({ sourceRow: ODD_ROW, repeat: 0, columnId }), [
    { isThere: true, text: ' Eve ' },
    { isThere: true, text: 'Eve', isChanged: true },
    { isThere: false, errors: [{ code: 'NOT_A_NUMBER' }] },
  ]);
});
