// Watches whether the process can still open files. Where it cannot, the HTTP library asks for the next connection again and
// again, which takes a whole core: then listening ends until there are files again.
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** How long a core may be lost, at most. */
const LOOK_MILLISECONDS = 500;

/** So many files must be free before connections are taken again: those in between are for the Runs that are under way. */
const FREE_FILES_MIN = 16;

export interface FileShortage {
  /** Called once for each shortage. */
  began(): void;
  /** Called when there are files again. False: it is to be called again. */
  ended(): Promise<boolean>;
}

/** Looks until it is stopped by what it returns. */
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

/** Whether so many files more can be open at once. Only a shortage counts as one: anything else is thrown. */
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
