// Detects that the process cannot open any more files. In this state the HTTP library keeps trying to accept
// the next connection, which uses a whole core, so the node stops listening until files are available again.
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** Interval between checks, which is also the maximum time for which a core is wasted. */
const LOOK_MILLISECONDS = 500;

/**
 * Number of files that must be available before the node listens again. Runs in progress use the ones below this
 * number.
 */
const FREE_FILES_MIN = 16;

export interface FileShortage {
  /** Called once per shortage. */
  began(): void;
  /** Called when files are available again. Returns false if it must be called again. */
  ended(): Promise<boolean>;
}

/** Starts the checks. Call the returned function to stop them. */
export function watchFiles({ began, ended }: FileShortage): () => Promise<void> {
  let isShort = false;
  let ending: Promise<void> | null = null;
  const look = (): void => {
    if (ending !== null) return;
    if (!isShort && !canOpen(1)) {
      isShort = true;
      began();
    } else if (isShort && canOpen(FREE_FILES_MIN)) {
      ending = ended().then((over) => {
        isShort = !over;
        ending = null;
      });
    }
  };
  const timer = setInterval(look, LOOK_MILLISECONDS);
  return async () => {
    clearInterval(timer);
    await ending;
  };
}

/**
 * True if this many more files can be opened at once. Returns false only on a shortage of files; other errors are
 * thrown.
 */
function canOpen(count: number): boolean {
  const descriptors: number[] = [];
  try {
    while (descriptors.length < count) descriptors.push(openSync(devNull, 'r'));
    return true;
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code === 'EMFILE' || code === 'ENFILE') return false;
    throw fault;
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}
