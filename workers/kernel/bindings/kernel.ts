// Loads the compiled kernels: one module per process, one instance (with its own memory) per Run at work.
import { readFileSync } from 'node:fs';
import { KERNEL_FILE } from '../../built-files.ts';
import { MEMORY_BYTES_MAX, PAGE_BYTES } from '../../memory/heap.ts';
import type { KernelExports } from './exports.ts';

export interface Kernel {
  readonly memory: WebAssembly.Memory;
  readonly exports: KernelExports;
}

/** First size of a Run's memory in pages of 64 KiB: 4 MiB, the reservation of a Run. */
const INITIAL_PAGES = 64;

/** Compiled once by each thread's entry (or handed over by the main thread: a WebAssembly.Module can be cloned). */
export function compileKernels(): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(KERNEL_FILE));
}

export function instantiateKernel(module: WebAssembly.Module): Kernel {
  const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: MEMORY_BYTES_MAX / PAGE_BYTES });
  const abort = (): never => {
    throw new Error('kernel aborted');
  };
  const instance = new WebAssembly.Instance(module, { env: { memory, abort } });
  return { memory, exports: instance.exports as KernelExports };
}
