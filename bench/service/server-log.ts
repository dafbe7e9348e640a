// The standard output of a measured service: a file, which is the usual case, or a pipe whose reader is slow or stops.
// The reader belongs to this process, and costs nothing: at most one short read every 100 ms.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';

export type LogReader = 'file' | 'slow' | 'stopped';

export interface ServerLog {
  /** Standard output of the service. */
  readonly descriptor: number;
  /** Everything that was read, until the reader becomes slow or stops. */
  read(): string;
  /** Called when the service listens: a slow reader begins to be slow, a stopped one reads nothing more. */
  listening(): void;
  close(): void;
}

/** A slow reader accepts about 160 KB/s, 2 to 5 % of the log of a busy service. */
const SLOW_READ_BYTES = 16 * 1024;
const SLOW_READ_MILLISECONDS = 100;

/** @param folder of the service, for the file or the pipe */
export function openServerLog(reader: LogReader, folder: string): ServerLog {
  return reader === 'file' ? fileLog(join(folder, 'log')) : pipeLog(join(folder, 'log-pipe'), reader === 'slow');
}

function fileLog(path: string): ServerLog {
  const descriptor = openSync(path, 'w');
  return {
    descriptor,
    read: () => readFileSync(path, 'utf8'),
    listening: () => {},
    close: () => closeSync(descriptor),
  };
}

/** A named pipe, because a pipe that Node creates for a child process is a pair of sockets with a larger buffer. */
function pipeLog(path: string, isSlow: boolean): ServerLog {
  execFileSync('mkfifo', [path]);
  const source = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const descriptor = openSync(path, 'w');
  const block = Buffer.alloc(SLOW_READ_BYTES);
  let text = '';
  let timer: NodeJS.Timeout | null = null;
  return {
    descriptor,
    read() {
      text += block.toString('utf8', 0, readWaiting(source, block));
      return text;
    },
    listening() {
      if (isSlow) timer = setInterval(() => readWaiting(source, block), SLOW_READ_MILLISECONDS);
    },
    close() {
      if (timer !== null) clearInterval(timer);
      closeSync(descriptor);
      closeSync(source);
    },
  };
}

/** Returns the number of bytes read, 0 if none are waiting. */
function readWaiting(source: number, block: Buffer): number {
  try {
    return readSync(source, block);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw fault;
  }
}
