// Locations of built files that are loaded by path, relative to dist/workers and equally to dist/bundled, where the
// build includes this module in a larger file. So this module must stay at the first level of the folder.

export const KERNEL_FILE = new URL('../workers/kernel/kernel.wasm', import.meta.url);

/** Kernels for reading ahead, which work on shared memory: see input/read-ahead. */
export const READ_AHEAD_KERNEL_FILE = new URL('../workers/kernel/read-ahead.wasm', import.meta.url);

// Entries of threads are CommonJS: see rolldown.config.mjs.

/** Entry of a worker thread in the pool: thread/main.ts as a single file. */
export const THREAD_ENTRY = new URL('../workers/thread.cjs', import.meta.url);

/** Entry of the thread in which a command watches Runs: watch/main.ts as a single file. */
export const WATCH_ENTRY = new URL('../workers/watch.cjs', import.meta.url);

/** Entry of a read-ahead thread: read-ahead-main.ts as a single file. */
export const READ_AHEAD_ENTRY = new URL('../workers/read-ahead.cjs', import.meta.url);
