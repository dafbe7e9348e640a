// What each small Run enters and leaves must not keep ended Runs: they would survive the collections of the young
// generation, whose cost is the number of survivors, and stay until the old generation is collected.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { Lease } from '../../../src/admission/lease.ts';
import { ActiveRuns } from '../../../src/runs/active-runs.ts';
import { Drain } from '../../../src/runs/drain.ts';
import { SlowUploads } from '../../../src/runs/engine-run.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

const RUNS = 40_000;
const IN_PROGRESS = 16;
const RUNS_PER_COLLECTION = 200;

/** About 800 bytes in each Run. */
const NUMBERS = 100;

/** With Sets, several MB of ended Runs were left. */
const LEFT_BYTES_MAX = 1_000_000;

/** Adds something that refers to these numbers, and returns the function that removes it. */
type Enter = (numbers: readonly number[]) => () => void;

function activeRuns(): Enter {
  const runs = new ActiveRuns();
  return (numbers) => {
    const lease = new Lease();
    const upload = { sizeBytes: 1, numbers };
    runs.add(
      { account: { id: 'acme' }, template: { id: 'pick' }, upload, engine: { phase: 'running', rowsRead: 0 } },
      lease,
    );
    return () => void lease.release();
  };
}

function slowUploads(): Enter {
  const uploads = new SlowUploads();
  return (numbers) => {
    const entry = uploads.add({ check: () => void numbers });
    return () => entry.remove();
  };
}

function deadlines(): Enter {
  const drain = new Drain();
  return (numbers) => drain.onDeadline(() => void numbers);
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size;
}

for (const { name, enter } of [
  { name: 'the list of Runs in progress', enter: activeRuns() },
  { name: 'the watch of slow uploads', enter: slowUploads() },
  { name: 'the listeners of the drain', enter: deadlines() },
]) {
  t.test(`${name} keeps no ended Run`, async (t) => {
    const inProgress: (() => void)[] = [];
    const pass = (runs: number): void => {
      for (let run = 0; run < runs; run++) {
        inProgress.push(enter(new Array<number>(NUMBERS).fill(0.5)));
        if (inProgress.length > IN_PROGRESS) inProgress.shift()!();
        if (run % RUNS_PER_COLLECTION === 0) collect({ type: 'minor' });
      }
    };
    // Makes the structure itself old.
    pass(2_000);
    collect();
    const before = oldBytes();
    pass(RUNS);
    const left = oldBytes() - before;
    t.ok(left < LEFT_BYTES_MAX, `${left} bytes`);
    for (const remove of inProgress) remove();
  });
}
