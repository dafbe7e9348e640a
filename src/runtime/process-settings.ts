// Settings of the process: the growth of V8's heap, and how the process ends at once.

import { createRequire } from 'node:module';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { WASI } from 'node:wasi';

// Tunes V8's garbage collection: the growth of the heap that triggers a full collection, and single-threaded
// collection of the young generation. Does not collect anything itself.

/**
 * A full collection starts when the heap has grown by this percentage. By default V8 waits until it has grown up to
 * fourfold; with many stored Runs this left 150 MB of garbage that the memory budget does not count.
 */
const GROWTH_PERCENT = 30;

/**
 * A small heap may grow by at least this many bytes. Bodies, messages and blocks count as growth, so with 30 percent
 * a heap of 26 MB was collected after every thousand small Runs, which took a third of the process's time. With half
 * this value their p99 is 18 ms instead of 16 ms.
 */
const GROWTH_BYTES = 64 * 1024 * 1024;

/**
 * On a node with little memory, the minimum growth is its budget divided by this number. Each thread may have that
 * much garbage in addition to the memory that the budget counts; with an eighth of 128 MiB, three threads had 40 MiB
 * of garbage.
 */
const BUDGET_SHARE = 16;

/** Interval at which the percentage is adapted to the heap, which needs seconds to grow significantly. */
const FIT_MILLISECONDS = 1_000;

/** Configures the collections of this process and its threads from now on. */
export function paceCollections(memoryBudgetBytes: number): void {
  const growthBytes = Math.min(GROWTH_BYTES, memoryBudgetBytes / BUDGET_SHARE);
  const fit = (): void => {
    const percent = growthPercent(getHeapStatistics().used_heap_size, growthBytes);
    setFlagsFromString(`--heap-growing-percent=${percent}`);
  };
  // About 1 MB survives a collection of the young generation. Waking other threads for it, and waiting for them when
  // all cores are busy, takes longer than copying it. With this flag, small Runs take 4 % less processor time on two
  // busy cores. On idle cores, the only loss is the help of other threads with about a millisecond of work.
  setFlagsFromString('--no-parallel-scavenge');
  fit();
  setInterval(fit, FIT_MILLISECONDS).unref();
}

function growthPercent(heapBytes: number, growthBytes: number): number {
  return Math.max(GROWTH_PERCENT, Math.ceil((100 * growthBytes) / heapBytes));
}

// Ends the process at once, regardless of its threads. `process.exit` waits for each thread to end, and a thread in
// native code, such as the normalisation of a long text, ends only when that code returns. The one case not covered
// is a thread in a blocked system call, such as access to a network folder that hangs, because the C library's exit
// joins that thread.

/** Used only if the way below fails. Shells report 128 plus the number of SIGKILL. */
const LAST_SIGNAL = 'SIGKILL';

/**
 * Calls `proc_exit` of Node's WASI, which is the exit function of the C library and skips Node's own exit. SIGKILL
 * would also work, but its exit status looks like a crash, and the first process of a container cannot kill itself.
 * Output that has not been written by then is lost.
 * This is the last resort: a thread that uses Node at this moment, to start or to read a file, finds parts of Node
 * already gone and ends the process by a signal. A thread in a long call of V8 or of a kernel does not.
 */
export function endProcess(status: number): never {
  try {
    // Imported here and not at the top, because Node warns in the next turn of the event loop that WASI is
    // experimental.
    const { WASI: Wasi } = createRequire(import.meta.url)('node:wasi') as { WASI: typeof WASI };
    const wasi = new Wasi({ version: 'preview1', returnOnExit: false });
    const program = new WebAssembly.Module(exitProgram(status));
    wasi.start(new WebAssembly.Instance(program, { ...wasi.getImportObject() }));
  } finally {
    process.kill(process.pid, LAST_SIGNAL);
  }
  throw new Error('the process did not exit');
}

/** A WebAssembly module whose `_start` calls `proc_exit(status)`. */
function exitProgram(status: number): Uint8Array<ArrayBuffer> {
  const text = (value: string): number[] => [value.length, ...Buffer.from(value)];
  const section = (id: number, ...content: number[]): number[] => [id, content.length, ...content];
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    // Types: 0 takes an i32, 1 takes nothing.
    ...section(1, 2, 0x60, 1, 0x7f, 0, 0x60, 0, 0),
    ...section(2, 1, ...text('wasi_snapshot_preview1'), ...text('proc_exit'), 0x00, 0),
    ...section(3, 1, 1),
    ...section(5, 1, 0x00, 1),
    ...section(7, 2, ...text('memory'), 0x02, 0, ...text('_start'), 0x00, 1),
    // i32.const status (signed LEB128 with 7 bits), call 0, end.
    ...section(10, 1, 6, 0, 0x41, status & 0x3f, 0x10, 0, 0x0b),
  ]);
}
