// Memory that the threads of a shared Run use for their keys: it is free when the Run is over.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { ThreadPool } from '../../../src/pool/pool.ts';
import type { PooledRun, TaskEnd } from '../../../src/pool/pool-thread.ts';
import { taskOf } from '../../fixtures/pool-rig.ts';

const MIB = 1024 * 1024;

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}

test('a cancelled Run leaves no memory of its keys in a thread that was lent', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'keys-memory-'));
  const pool = new ThreadPool({
    threads: 2,
    budget: new MemoryBudget(2048 * MIB, 2).buffer,
    onThreadExit: () => undefined,
  });
  t.teardown(async () => {
    await pool.close();
    rmSync(folder, { recursive: true });
  });
  while (pool.liveThreads < 2) await pause();
  const path = join(folder, 'rows.csv');
  const text = `id\n${Array.from({ length: 4_000_000 }, (_, row) => row).join('\n')}\n`;
  writeFileSync(path, text);
  const source = JSON.stringify({ format: 1, operations: [{ op: 'dedupe', by: ['id'] }] });
  const template = { source, format: 'json', sha256: 'dedupe' } as const;
  const task = { ...taskOf(pool.nextTask(), folder, { kind: 'file', path }), template };
  let run: PooledRun | undefined;
  const over = new Promise<TaskEnd>((resolve) => {
    run = pool.run(task, resolve, { sharing: { sizes: { fileBytesMin: 0, partBytes: 2 * MIB }, threadsMax: 2 } });
    run.grown(text.length, true);
  });
  while (run!.rowsRead() < 2_500_000) await pause();
  const before = process.memoryUsage.rss();
  run!.cancel();
  t.equal((await over).kind, 'cancelled');
  while (process.memoryUsage.rss() > before - 100 * MIB) await pause();
});
