// The age of the oldest Run and the time that Runs waited for a thread.
import { test } from 'tap';
import { RunTimes } from '../../../src/pool/pool.ts';

test('the oldest Run is the one in progress that was submitted first', async (t) => {
  const times = new RunTimes();
  t.equal(times.oldestSeconds(5_000), 0, 'without Runs there is no age');
  const ends: string[] = [];
  const first = times.follow<string>(7, 1_000, (end) => ends.push(end));
  const second = times.follow<string>(3, 2_000, (end) => ends.push(end));
  t.equal(times.oldestSeconds(5_000), 4);
  first.ended('done');
  t.equal(times.oldestSeconds(5_000), 3);
  second.ended('cancelled');
  t.equal(times.oldestSeconds(5_000), 0);
  t.strictSame(ends, ['done', 'cancelled']);
});

test('waiting time counts when a thread begins the Run; a Run that never begins does not count', async (t) => {
  const times = new RunTimes();
  let begun = 0;
  const now = performance.now();
  const waited = times.follow(
    1,
    now - 2_000,
    () => undefined,
    () => (begun += 1),
  );
  times.follow(2, now - 9_000, () => undefined).ended(null);
  waited.begun();
  t.equal(begun, 1);
  t.equal(times.waited.runs, 1);
  t.ok(times.waited.seconds >= 2 && times.waited.seconds < 9, `${times.waited.seconds} s`);
});
