// The command ends after a signal, whatever it is doing.
// With all tests only: some seconds for each moment.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { pause } from '../../blackbox/client.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { startStudio } from './studio-process.ts';

const TEMPLATE = 'format: 1\noperations: []\n';
const COLUMNS = Array.from({ length: 40 }, (_, index) => `c${index}`);
const ROWS = Array.from({ length: 2_000 }, (_, row) => COLUMNS.map((_, column) => `${row},${column}`).join(';'));
const SAMPLE = `${COLUMNS.join(';')}\n${ROWS.join('\n')}\n`;

/** Moments after the request for suggestions, which take about a second: in their thread, between two of its Runs, after. */
const MOMENTS_MILLISECONDS = [0, 50, 100, 200, 300, 400, 600, 800, 1_200];

test('a studio ends while suggestions are made', { skip: skipUnlessLong }, async (t) => {
  for (const milliseconds of MOMENTS_MILLISECONDS) {
    const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
    const evaluation = await studio.ask('POST /api/evaluate', { source: TEMPLATE, step: 0, hasRows: false });
    t.equal(evaluation.status, 200);
    // The connection is closed when the studio ends.
    void studio.ask('POST /api/suggestions', { step: 0 }).catch(() => null);
    await pause(milliseconds);
    // A studio that does not end keeps this test from ending.
    await studio.end();
    t.pass(`after ${milliseconds} ms`);
  }
});

test('the copies of a killed studio are removed by the next one', async (t) => {
  const killed = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const headers = { 'X-File-Name': 'other.csv' };
  t.equal((await killed.ask('PUT /api/sample', { rows: 'a,b' }, headers)).status, 200);
  const folders = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.includes(`-${killed.id}-`));
  t.ok(folders().length > 0);
  // The folder of a process that runs, and a folder with a name of another kind.
  const host = hostname().replaceAll(/[^A-Za-z0-9]/g, '');
  const others = [`template-run-studio-${host}-${process.pid}-x`, `template-run-studio-${host}-x`];
  for (const name of others) mkdirSync(join(tmpdir(), name));
  t.teardown(() => {
    for (const name of others) rmSync(join(tmpdir(), name), { recursive: true });
  });
  await killed.crash();
  t.ok(folders().length > 0, 'they remain');
  const next = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  t.strictSame(folders(), []);
  const names = readdirSync(tmpdir());
  t.ok(others.every((name) => names.includes(name)));
  await next.end();
});
