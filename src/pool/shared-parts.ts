// What all threads of a pool are started with: memory that they share, and the compiled kernels.
import { availableParallelism } from 'node:os';
import { compileKernels } from '../../workers/kernel/bindings/kernel.ts';
import { TURNS_BYTES } from '../../workers/protocol/messages.ts';
import { newCoreCounts } from '../../workers/thread/core-share.ts';
import type { RosterSettings } from './pool-roster.ts';
import type { PoolSettings } from './pool-settings.ts';

export function sharedParts({ threads, budget, cores, progress }: PoolSettings): RosterSettings['shared'] {
  return {
    budget,
    cores: newCoreCounts(cores ?? availableParallelism() - 1, threads),
    largeRow: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
    turns: new SharedArrayBuffer(TURNS_BYTES),
    kernels: compileKernels(),
    progress: progress ?? null,
  };
}
