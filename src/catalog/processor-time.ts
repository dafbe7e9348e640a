// How long a thread of this process has been on a processor: on a machine that is busy with other things that is far less
// than the time that went by.
import { readFileSync } from 'node:fs';

/** The kernel tells times to programs in hundredths of a second (USER_HZ), whatever its own clock does. */
const TICK_MILLISECONDS = 10;

/** Behind the name of the thread: the 14th and 15th field of proc(5), in the kernel and in the program. */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;

/** In ms; null where the system does not tell, or has no such thread any more. */
export function processorMilliseconds(kernelThread: string | null): number | null {
  if (kernelThread === null) return null;
  try {
    const text = readFileSync(`/proc/self/task/${kernelThread}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD])) * TICK_MILLISECONDS;
  } catch {
    return null;
  }
}
