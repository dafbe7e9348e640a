// The sample of a studio as it is on the disk now: another program may write or remove it at any time.
import { existsSync, statSync } from 'node:fs';

export interface SampleState {
  readonly bytes: number;
  /** Another one when the file has changed; of a file that is gone, too. */
  readonly version: string;
}

/** What was in the table stays there. */
export class SampleGoneError extends Error {
  constructor() {
    super('The sample is not there any more. Put it back, or end the studio and begin with another one.');
    this.name = 'SampleGoneError';
  }
}

export class SampleFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  get state(): SampleState {
    const stats = statSync(this.path, { throwIfNoEntry: false });
    if (stats === undefined) return { bytes: 0, version: 'gone' };
    return { bytes: stats.size, version: `${stats.size}/${stats.mtimeMs}` };
  }

  get isGone(): boolean {
    return !existsSync(this.path);
  }
}
