// Where the kernels lie: from dist/workers, and from dist/bundled, where the build puts this module into a larger file.

export const KERNEL_FILE = new URL('../workers/kernel/kernel.wasm', import.meta.url);
