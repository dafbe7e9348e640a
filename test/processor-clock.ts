// Time as a process spends it on processors: what bounds work by time must not judge how busy the machine is with other things.
import { readFileSync } from 'node:fs';

/** The kernel tells times to programs in hundredths of a second, whatever its own clock does. */
const TICK_MILLISECONDS = 10;

/** Fields of proc(5) behind the name of the program: in the program, and in the kernel for it. */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;

/**
 * A clock in ms that runs while any thread of the process is at work, by as many as are. Where the system does not tell, it is
 * that of the wall.
 */
export function processorClock({ pid }: { readonly pid: number }): () => number {
  if (process.platform !== 'linux') return () => performance.now();
  return () => {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD])) * TICK_MILLISECONDS;
  };
}
