// A read-ahead thread for tests, which also reads ahead in small files.
import { ReadAheadThread } from '../../../../workers/input/read-ahead/read-ahead-thread.ts';
import { CoreShare, newCoreCounts } from '../../../../workers/scheduling/core-share.ts';

/** Reads ahead in small files too, and counts the chunks that arrive. */
export class BusyReadAhead extends ReadAheadThread {
  chunks = 0;

  constructor(cores: CoreShare, jobBytesMax = Number.POSITIVE_INFINITY, entry?: URL) {
    super(cores, { startBytesMin: 0, jobBytesMin: 1, jobBytesMax, idleMilliseconds: 10_000 }, entry);
  }

  override taken(): void {
    this.chunks++;
    super.taken();
  }
}

export function freeCores(cores = 2): CoreShare {
  return new CoreShare(newCoreCounts(cores, 1), 0);
}

export async function ready(readAhead: ReadAheadThread): Promise<void> {
  while (!readAhead.isIdle) {
    readAhead.prepare({ path: '', from: 0, to: 1, ends: true });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
