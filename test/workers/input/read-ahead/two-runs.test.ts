// Two Runs of one thread, each with a large file, share one read-ahead thread: each receives the rows of the right file.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { openCsvReader } from '../../../../workers/input/csv/csv-reader.ts';
import { FileSource } from '../../../../workers/input/source/file-source.ts';
import { compileKernels, instantiateKernel } from '../../../../workers/kernel/bindings/kernel.ts';
import { runCoroutine } from '../../../../workers/scheduling/coroutine.ts';
import { readerParts } from '../read-rows.ts';
import { BusyReadAhead, freeCores, ready } from './busy-read-ahead.ts';

const ROWS = 30_000;
const BATCH_ROWS = 4096;
/** Many jobs, each of which ends before the Run takes its chunks. */
const JOB_BYTES = 128 * 1024;
const WINDOW_BYTES = 16 * 1024;

const module = compileKernels();

/** Number of received rows that belong to the file, in their order. */
async function ownRows(path: string, name: string, readAhead: BusyReadAhead): Promise<number> {
  const source = new FileSource(path);
  source.grown(statSync(path).size, true);
  const parts = readerParts(instantiateKernel(module), source, { windowBytes: WINDOW_BYTES, readAhead });
  const reader = await runCoroutine(openCsvReader(parts));
  let own = 0;
  for (;;) {
    parts.arena.clear();
    const batch = reader.next(BATCH_ROWS);
    if (batch === 'end') break;
    if (batch === 'wait') {
      await reader.wait();
      continue;
    }
    for (let column = 0; column < batch.columns.length; column++) batch.views(column);
    const columns = batch.columns.filter((column) => column.kind === 'views');
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const [id, whose] = columns.map((column) => batch.text(column, row));
      if (whose === name && Number(id) === own) own++;
    }
    // The time slice is over: the other Run continues.
    await new Promise((resolve) => setImmediate(resolve));
  }
  reader.close();
  return own;
}

test('two Runs that share a read-ahead thread get their own rows', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const cores = freeCores(7);
  const readAhead = new BusyReadAhead(cores, JOB_BYTES);
  await ready(readAhead);
  const found = await Promise.all(
    ['one', 'other'].map((name) => {
      const path = join(folder, `${name}.csv`);
      const rows = Array.from({ length: ROWS }, (_, row) => `${row},${name},some text ${row}\n`);
      writeFileSync(path, `id,whose,text\n${rows.join('')}`);
      return ownRows(path, name, readAhead);
    }),
  );
  t.strictSame(found, [ROWS, ROWS]);
  t.ok(readAhead.chunks > 0, 'it read for them');
  await readAhead.end();
});
