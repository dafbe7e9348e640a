// Loads the compiled kernels: one module per process, and one instance with its own memory per active Run.
import { readFileSync } from 'node:fs';
import { KERNEL_FILE } from '../../built-files.ts';
import type { KernelExports } from './exports.ts';

export interface Kernel {
  readonly memory: WebAssembly.Memory;
  readonly exports: KernelExports;
}

/** Size of a page of WebAssembly memory, in bytes. */
export const PAGE_BYTES = 65_536;

/**
 * Maximum size of a Run's memory, in bytes. WebAssembly could address 4 GiB, but the results of kernels and
 * JavaScript's integer operators are signed 32-bit numbers, which would turn addresses from 2 GiB on into negative
 * numbers.
 */
export const MEMORY_BYTES_MAX = 2048 * 1024 * 1024;

/** Initial size of a Run's memory in pages of 64 KiB: 4 MiB, which is the reservation of a Run. */
const INITIAL_PAGES = 64;

/** Compiled once by each thread's entry point, or sent by the main thread (a WebAssembly.Module can be cloned). */
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
