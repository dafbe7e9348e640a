// The end of a Run's address space: growing state stops before it, and memory that a Run needs in any case is still allocated.
import t from 'tap';
import { MEMORY_BYTES_MAX, PAGE_BYTES } from '../../../workers/kernel/bindings/kernel.ts';
import { unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap, STATE_ADDRESS_MAX } from '../../../workers/memory/heap.ts';

t.test('state is refused where the addresses for it end, whatever the budget, so that it spills', async (t) => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: MEMORY_BYTES_MAX / PAGE_BYTES });
  const heap = new Heap(memory, 0, unlimitedShare(), 0);
  t.equal(heap.tryAllocate(STATE_ADDRESS_MAX), 0);
  t.equal(memory.buffer.byteLength, 65_536, 'nothing grew for it');
  t.not(heap.tryAllocate(STATE_ADDRESS_MAX, true), 0, 'a region that is needed in any case');
  t.equal(heap.tryAllocate(1), 0, 'no state after it');
  t.not(heap.allocate(16 * 1024 * 1024), 0, 'a large row still finds its place');
  const last = heap.allocate(MEMORY_BYTES_MAX - heap.usedBytes - PAGE_BYTES);
  t.equal(last | 0, last, 'every address is a signed number of 32 bits');
  t.throws(() => heap.allocate(2 * PAGE_BYTES), /more memory than one Run may address/);
  t.equal(heap.tryAllocate(2 * PAGE_BYTES, true), 0, 'and none is given after the end');
});

t.test('released regions are allocated again, in one piece if they were adjacent', async (t) => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: MEMORY_BYTES_MAX / PAGE_BYTES });
  const heap = new Heap(memory, 0, unlimitedShare(), 0);
  const [a, b, c] = [heap.allocate(1000), heap.allocate(100_000), heap.allocate(50_000)];
  const after = heap.allocate(10);
  const used = heap.usedBytes;
  heap.release(a, 1000);
  heap.release(c, 50_000);
  t.equal(heap.tryAllocate(49_000), c, 'the first that is large enough');
  t.equal(heap.tryAllocate(1001), a, 'up to the 64 bytes at which regions begin');
  heap.release(a, 1001);
  t.throws(() => heap.release(a, 10), /twice/);
  heap.release(b, 100_000);
  t.equal(heap.tryAllocate(101_000), a, 'two that lay side by side');
  t.equal(heap.usedBytes, used, 'the memory did not grow for them');
  t.equal(heap.allocate(100), c + 49_088, 'what was left of a region: 64 bytes are kept free after each');
  t.ok(heap.allocate(200_000) > after, 'what does not fit lies at the end');
  heap.reset();
  t.equal(heap.allocate(10), a, 'a reset takes all of it');
});
