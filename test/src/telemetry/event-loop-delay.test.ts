// Several readers of the event loop's delay do not influence each other.
import t from 'tap';
import { EventLoopDelay } from '../../../src/telemetry/metrics.ts';

t.test('readers get the same value, and it is that of the last window', async (t) => {
  let nanoseconds = 40e6;
  let resets = 0;
  const histogram = {
    percentile: () => nanoseconds,
    reset: () => {
      resets += 1;
      nanoseconds = 1e6;
    },
  };
  const delay = new EventLoopDelay(histogram);
  for (let scrape = 0; scrape < 3; scrape += 1) t.equal(delay.p99Seconds, 0.04, 'since the start');
  t.equal(resets, 0, 'a reader begins nothing anew');
  delay.turn();
  for (let scrape = 0; scrape < 3; scrape += 1) t.equal(delay.p99Seconds, 0.04, 'of the window that has ended');
  delay.turn();
  t.equal(delay.p99Seconds, 0.001);
  t.equal(resets, 2);
});

t.test('before anything was measured it is 0, and of a real loop it is a time', async (t) => {
  t.equal(new EventLoopDelay({ percentile: () => Number.NaN, reset: () => {} }).p99Seconds, 0);
  const delay = new EventLoopDelay();
  while (!(delay.p99Seconds > 0)) await new Promise((resolve) => setTimeout(resolve, 5));
  t.ok(Number.isFinite(delay.p99Seconds), `the delay is a time in seconds: ${delay.p99Seconds}`);
});
