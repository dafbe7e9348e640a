// Processor time of a process: a time limit on work must not depend on how busy the machine is with other processes.
import { readFileSync } from 'node:fs';

/** The kernel reports times to programs in hundredths of a second, whatever its internal clock does. */
const TICK_MILLISECONDS = 10;

/** Fields of proc(5) after the name of the program: time in user mode and in kernel mode. */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;

/**
 * A clock in ms that advances while threads of the process run, once for each of them. If the system does not report processor
 * time, it is the wall clock.
 */
export function processorClock({ pid }: { readonly pid: number }): () => number {
  if (process.platform !== 'linux') return () => performance.now();
  return () => {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD])) * TICK_MILLISECONDS;
  };
}
