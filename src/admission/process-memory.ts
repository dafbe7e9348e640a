// How much memory this process may use: the cgroup's limit where there is one, else the machine's memory.
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** Share of the process's memory that the budget takes when nothing is configured. */
const BUDGET_SHARE = 0.6;

/** cgroup v1 writes "no limit" as a huge number: the largest multiple of a page in 63 bits. */
const NO_LIMIT_BYTES = 2 ** 60;

/** 60 % of what the process may use, in bytes. */
export function defaultMemoryBudgetBytes(root = '/'): number {
  return Math.floor(processMemoryBytes(root) * BUDGET_SHARE);
}

/**
 * Bytes that this process may use. Reads cgroup v2 and v1 files below `root`, the process's own group and those above
 * it (in a container its own group is the root of what it sees).
 */
export function processMemoryBytes(root = '/'): number {
  let bytes = totalmem();
  for (const path of limitFiles(root)) {
    const limit = readLimit(path);
    if (limit !== null && limit > 0 && limit < NO_LIMIT_BYTES) bytes = Math.min(bytes, limit);
  }
  return bytes;
}

function limitFiles(root: string): string[] {
  const files: string[] = [];
  for (const line of (readText(`${root}proc/self/cgroup`) ?? '0::/\n5:memory:/').split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    if (controllers === '') files.push(...climb(`${root}sys/fs/cgroup`, path, 'memory.max'));
    if (controllers.split(',').includes('memory')) {
      files.push(...climb(`${root}sys/fs/cgroup/memory`, path, 'memory.limit_in_bytes'));
    }
  }
  return files;
}

function climb(base: string, path: string, file: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '..');
  const files: string[] = [];
  for (let depth = parts.length; depth >= 0; depth -= 1) {
    files.push([base, ...parts.slice(0, depth), file].join('/'));
  }
  return files;
}

function readLimit(path: string): number | null {
  const text = readText(path)?.trim();
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Absent outside Linux and under the other cgroup version: no limit from this file.
    return undefined;
  }
}
