// The end of a Run's addresses: state that grows stops before it, what a Run needs in any case goes on.

import t from 'tap';
import { unlimitedShare } from '../../workers/budget.ts';
import { Heap, STATE_ADDRESS_MAX } from '../../workers/heap.ts';

t.test('state is refused where the addresses for it end, whatever the budget, so that it spills', async (t) => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65_536 });
  const heap = new Heap(memory, 0, unlimitedShare(), 0);
  t.equal(heap.tryAllocate(STATE_ADDRESS_MAX), 0);
  t.equal(memory.buffer.byteLength, 65_536, 'nothing grew for it');
  t.not(heap.tryAllocate(STATE_ADDRESS_MAX, true), 0, 'a region that is needed in any case');
  t.equal(heap.tryAllocate(1), 0, 'no state behind it');
  t.not(heap.allocate(16 * 1024 * 1024), 0, 'a large row still finds its place');
});
