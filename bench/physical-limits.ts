// Best performance of the machine, measured in the same run: copying memory, searching for a byte, writing a file to
// the medium of the outputs. No engine can exceed what these steps permit for a workload.
import { closeSync, openSync, readSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './median.ts';
import type { Workload } from './workloads/workload.ts';

/** In MB/s (10^6 bytes), on one thread. */
export interface PhysicalLimits {
  readonly memcpy: number;
  readonly scan: number;
  readonly read: number;
  readonly write: number;
}

export interface WorkloadLimit {
  /** MB/s of input that no program on one thread and this medium can exceed. */
  readonly rate: number;
  /** The steps with their rates. */
  readonly text: string;
}

/** More than fits into the caches. */
const BLOCK_BYTES = 128 * 1024 * 1024;

/** Same piece size as in the engine. */
const PIECE_BYTES = 512 * 1024;

const ROUNDS = 5;

/** File system types (statfs) in memory: tmpfs and ramfs. */
const MEMORY_FILE_SYSTEMS = [0x01021994, 0x858458f6];

export function measureLimits(folder: string): PhysicalLimits {
  const block = Buffer.alloc(BLOCK_BYTES, 'a');
  const copy = Buffer.alloc(BLOCK_BYTES);
  const path = join(folder, 'limit');
  const rate = (work: () => void): number => {
    const start = performance.now();
    work();
    return BLOCK_BYTES / 1e3 / (performance.now() - start);
  };
  const rounds = Array.from({ length: ROUNDS }, () => ({
    memcpy: rate(() => block.copy(copy)),
    scan: rate(() => {
      if (block.includes(0x62)) throw new Error('the byte is not there');
    }),
    write: rate(() => writePieces(path, block)),
    read: rate(() => readPieces(path, copy)),
  }));
  rmSync(path);
  const of = (step: keyof PhysicalLimits): number => median(rounds.map((round) => round[step]));
  return { memcpy: of('memcpy'), scan: of('scan'), read: of('read'), write: of('write') };
}

/** The steps of a workload in sequence: the file is read and scanned, then the further steps of the workload. */
export function limitOf(
  { limit }: Workload,
  { memcpy, scan, read, write }: PhysicalLimits,
  inputBytes: number,
  outputBytes: number,
): WorkloadLimit {
  const share = outputBytes / inputBytes;
  const steps = limit.flatMap((step): { text: string; cost: number }[] => {
    if (step === 'memcpy') return [{ text: `memcpy ${amount(memcpy)}`, cost: 1 / memcpy }];
    if (step === 'write')
      return [{ text: `write ${amount(write)}, ${share.toFixed(2)} bytes for each byte read`, cost: share / write }];
    return [
      { text: `read ${amount(read)}`, cost: 1 / read },
      { text: `scan ${amount(scan)}`, cost: 1 / scan },
    ];
  });
  const cost = steps.reduce((sum, step) => sum + step.cost, 0);
  return { rate: 1 / cost, text: steps.map(({ text }) => text).join(', ') };
}

/** Returns whether files in this folder are in memory. */
export function mediumOf(folder: string): 'tmpfs' | 'disk' {
  return MEMORY_FILE_SYSTEMS.includes(statfsSync(folder).type) ? 'tmpfs' : 'disk';
}

function writePieces(path: string, block: Buffer): void {
  const file = openSync(path, 'w');
  for (let at = 0; at < block.length; at += PIECE_BYTES) writeSync(file, block, at, PIECE_BYTES);
  closeSync(file);
}

function readPieces(path: string, into: Buffer): void {
  const file = openSync(path, 'r');
  for (let at = 0; at < into.length; at += PIECE_BYTES) readSync(file, into, 0, PIECE_BYTES, at);
  closeSync(file);
}

function amount(rate: number): string {
  return `${(rate / 1000).toFixed(1)} GB/s`;
}
