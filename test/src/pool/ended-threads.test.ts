// A thread that ends when its pool closes is not replaced: starting another one takes as long as the rows of a small file.
import t from 'tap';
import { MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { ThreadPool } from '../../../src/pool/pool.ts';

const THREADS = 2;

t.test('a closed pool starts no further thread', async (t) => {
  let started = 0;
  const count = (): void => {
    started++;
  };
  process.on('worker', count);
  t.teardown(() => process.off('worker', count));
  const budget = new MemoryBudget(256 * 1024 * 1024, THREADS);
  const pool = new ThreadPool({ threads: THREADS, budget: budget.buffer, onThreadExit: () => undefined });
  while (pool.liveThreads < THREADS) await new Promise((resolve) => setTimeout(resolve, 5));
  await pool.close();
  // Piscina reacts to the exit of its thread in the same turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(started, THREADS);
});
