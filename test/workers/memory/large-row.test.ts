// Memory for rows that exceed their window: a waiting Run receives it, and it is released without waiting for V8's next
// collection.
import { test } from 'tap';
import { compileKernels } from '../../../workers/kernel/bindings/kernel.ts';
import { type BudgetShare, LARGE_ROW_ARENA_BYTES } from '../../../workers/memory/budget.ts';
import { ThreadCollector } from '../../../workers/memory/collector.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { KernelPool } from '../../../workers/memory/kernel-pool.ts';
import { LargeRowGate } from '../../../workers/memory/large-row.ts';

const MIB = 1024 * 1024;
const REGION_BYTES = 16 * MIB;

/** A separate budget, without threads. */
function budgetOf(bytes: number): BudgetShare {
  let takenBytes = 0;
  return {
    take(asked) {
      const isFree = takenBytes + asked <= bytes;
      if (isFree) takenBytes += asked;
      return isFree;
    },
    force(asked) {
      takenBytes += asked;
    },
    release(given) {
      takenBytes -= given;
    },
    get takenBytes() {
      return takenBytes;
    },
  };
}

function emptyHeap(budget: BudgetShare): Heap {
  return new Heap(new WebAssembly.Memory({ initial: 1, maximum: 65_536 }), 1024, budget, 0);
}

function flagOfNode(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4));
}

const RUNNING = { cancelled: () => false, arrived: () => true };

test('free budget is reserved once, and covers the memory of the row', async (t) => {
  const budget = budgetOf(100 * MIB);
  const heap = emptyHeap(budget);
  const gate = new LargeRowGate(flagOfNode(), 1, budget, RUNNING);
  await gate.acquire(heap, 4 * MIB);
  t.equal(budget.takenBytes, 12 * MIB);
  await gate.acquire(heap, REGION_BYTES);
  t.equal(budget.takenBytes, 48 * MIB);
  t.not(heap.allocate(REGION_BYTES), 0);
  t.not(heap.allocate(REGION_BYTES), 0);
  t.equal(budget.takenBytes, 48 * MIB, 'the regions ask for nothing more');
  t.equal(heap.borrowedBytes, 48 * MIB);
});

test('without a free budget one Run has the arena and the next one waits until it is released', async (t) => {
  const flag = flagOfNode();
  const budget = budgetOf(0);
  const [first, second] = [emptyHeap(budget), emptyHeap(budget)];
  const gates = [1, 2].map((owner) => new LargeRowGate(flag, owner, budget, RUNNING));
  await gates[0]!.acquire(first, REGION_BYTES);
  t.equal(LARGE_ROW_ARENA_BYTES, 3 * REGION_BYTES);
  t.not(first.allocate(REGION_BYTES), 0);
  t.equal(budget.takenBytes, 0);
  let passed = false;
  const waiting = gates[1]!.acquire(second, REGION_BYTES).then(() => {
    passed = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.notOk(passed);
  gates[0]!.release();
  await waiting;
  t.not(second.allocate(REGION_BYTES), 0);
});

test('a waiting Run continues after a cancellation, or when the budget allows it', async (t) => {
  const flag = flagOfNode();
  flag[0] = 9;
  const budget = budgetOf(48 * MIB);
  t.ok(budget.take(MIB));
  let cancelled = false;
  const one = new LargeRowGate(flag, 1, budget, { ...RUNNING, cancelled: () => cancelled });
  const ended = one.acquire(emptyHeap(budget), REGION_BYTES);
  cancelled = true;
  await ended;
  t.equal(budget.takenBytes, MIB);
  const two = new LargeRowGate(flag, 2, budget, RUNNING).acquire(emptyHeap(budget), REGION_BYTES);
  budget.release(MIB);
  await two;
  t.equal(budget.takenBytes, 48 * MIB);
});

test('a large memory is collected soon: its bytes return and its reservation is released', async (t) => {
  const budget = budgetOf(100 * MIB);
  const pool = new KernelPool(compileKernels(), budget, new ThreadCollector());
  const released = new Promise<void>((resolve) => {
    growAndGiveBack(pool, budget, resolve);
  });
  t.ok(budget.takenBytes > 30 * MIB);
  const hold = setInterval(() => {}, 1000);
  await released;
  clearInterval(hold);
  t.equal(budget.takenBytes, 0);
});

/** A separate function, so that no reference remains on the stack. */
function growAndGiveBack(pool: KernelPool, budget: BudgetShare, release: () => void): void {
  const kernel = pool.borrow();
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), budget, 0);
  heap.allocate(32 * MIB);
  pool.release(kernel, heap.borrowedBytes, { release, hasLent: false });
}
