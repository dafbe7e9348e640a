// Ends the process at once, whatever its threads do. `process.exit` waits for each of them to end, and one in native code,
// such as the normalisation of a long text, ends when that returns. What nothing here ends is a call that the kernel holds, such
// as one of a folder in a network that hangs: the C library's exit joins its thread.
import { createRequire } from 'node:module';
import type { WASI } from 'node:wasi';

/** Shells say 128 and the number of SIGKILL; only where the way below is closed. */
const LAST_SIGNAL = 'SIGKILL';

/**
 * Node's own `proc_exit` of WASI is the exit of the C library, with nothing of Node before it. (SIGKILL would do too, but
 * its status tells of an accident, and the first process of a container is not ended by its own.) What has not been
 * written by then is lost. It is the last resort: a thread that uses Node meanwhile, to start or to read a file, finds parts of it
 * gone, and ends the process by a signal. One in a long call of V8 or of a kernel does not.
 */
export function endProcess(status: number): never {
  try {
    // Here and not above: Node warns on the next turn of the loop that its WASI is experimental.
    const { WASI: Wasi } = createRequire(import.meta.url)('node:wasi') as { WASI: typeof WASI };
    const wasi = new Wasi({ version: 'preview1', returnOnExit: false });
    const program = new WebAssembly.Module(exitProgram(status));
    wasi.start(new WebAssembly.Instance(program, { ...wasi.getImportObject() }));
  } finally {
    process.kill(process.pid, LAST_SIGNAL);
  }
  throw new Error('the process has outlived its end');
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
    // i32.const status (LEB128 of 7 bits, signed), call 0, end.
    ...section(10, 1, 6, 0, 0x41, status & 0x3f, 0x10, 0, 0x0b),
  ]);
}
