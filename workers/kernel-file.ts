// Where the kernels lie: from dist/workers, and from dist/bundled, where the build puts this module into a larger file.

export const KERNEL_FILE = new URL('../workers/kernel/kernel.wasm', import.meta.url);

/** The scan alone, over shared memory: see input/scout. */
export const SCOUT_KERNEL_FILE = new URL('../workers/kernel/scout.wasm', import.meta.url);

/** A scout's thread: scout-main.ts as one file. */
export const SCOUT_ENTRY = new URL('../workers/scout.cjs', import.meta.url);
