// The kernels' one entry: what is exported here is what workers/kernel/kernel.ts declares.

/** First address behind the kernels' own static data. */
export function heapStart(): usize {
  return __heap_base;
}
