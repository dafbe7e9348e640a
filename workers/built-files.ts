// Where built files lie that code loads by their path: from dist/workers, and from dist/bundled, where the build puts this
// module into a larger file. That is why this module stays on the first level.

export const KERNEL_FILE = new URL('../workers/kernel/kernel.wasm', import.meta.url);

/** The scan alone, over shared memory: see input/read-ahead. */
export const READ_AHEAD_KERNEL_FILE = new URL('../workers/kernel/read-ahead.wasm', import.meta.url);

/** A worker thread of the pool. */
export const THREAD_ENTRY = new URL('../workers/thread/main.js', import.meta.url);

/** The thread in which a command watches Runs. */
export const WATCH_ENTRY = new URL('../workers/watch/main.js', import.meta.url);

/** A thread that reads ahead: read-ahead-main.ts as one file. */
export const READ_AHEAD_ENTRY = new URL('../workers/read-ahead.cjs', import.meta.url);
