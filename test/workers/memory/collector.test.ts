// When a thread's collector runs. The test does not wait: it records and fires the timers.
import t, { type Test } from 'tap';
import { type Collector, NO_COLLECTOR, SharedMemories, ThreadCollector } from '../../../workers/memory/collector.ts';

const MEBIBYTE = 1024 * 1024;

interface Timer {
  readonly milliseconds: number;
  readonly fire: () => void;
}

/** Records timers instead of starting them. */
function recordTimers(test: Test): Timer[] {
  const timers: Timer[] = [];
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  test.teardown(() => Object.assign(globalThis, { setTimeout: start, clearTimeout: stop }));
  Object.assign(globalThis, {
    setTimeout: (callback: () => void, milliseconds: number) => {
      const timer = { milliseconds, fire: callback, unref: () => timer };
      timers.push(timer);
      return timer;
    },
    clearTimeout: (timer: Timer) => {
      const at = timers.indexOf(timer);
      if (at >= 0) timers.splice(at, 1);
    },
  });
  return timers;
}

t.test('collections of memory that stays referenced are repeated less and less often', async (t) => {
  const timers = recordTimers(t);
  const collector = new ThreadCollector();
  collector.dropped(32 * MEBIBYTE, false);
  const delays: number[] = [];
  for (let round = 0; round < 5; round++) {
    const { milliseconds, fire } = timers.pop()!;
    delays.push(milliseconds);
    fire();
  }
  t.strictSame(delays, [0, 200, 400, 800, 1600], 'each delay in milliseconds is twice the one before');

  collector.dropped(32 * MEBIBYTE, false);
  t.strictSame(
    timers.map(({ milliseconds }) => milliseconds),
    [0],
    'more dropped memory is collected at once, and replaces the later collection',
  );

  collector.collected(64 * MEBIBYTE, false);
  timers.pop()!.fire();
  t.strictSame(timers, [], 'nothing is repeated once all memory is free');
});

t.test('a small memory is collected at once only if a Run waits for it', async (t) => {
  const timers = recordTimers(t);
  const collector = new ThreadCollector();
  collector.dropped(MEBIBYTE, false);
  collector.dropped(MEBIBYTE, true);
  t.strictSame(
    timers.map(({ milliseconds }) => milliseconds),
    [1000, 0],
    'delays in milliseconds of the first and the second',
  );
});

t.test(
  'with a large budget, memory is collected when the thread drops no more of it, or when it is much',
  async (t) => {
    const timers = recordTimers(t);
    const collector = new ThreadCollector(4096 * MEBIBYTE);
    const delays = (): number[] => timers.map(({ milliseconds }) => milliseconds);
    collector.dropped(64 * MEBIBYTE, false);
    const [first] = timers;
    collector.dropped(63 * MEBIBYTE, false);
    t.strictSame(delays(), [1000]);
    t.not(timers[0], first, 'the delay begins again');
    timers.pop()!.fire();
    t.strictSame(delays(), [2000], 'memory that is still referenced is collected later');

    collector.dropped(MEBIBYTE, false);
    t.strictSame(delays(), [2000, 0], 'a thirty-second part of the budget is collected at once');

    collector.collected(128 * MEBIBYTE, false);
    for (const { fire } of timers.splice(0)) fire();
    t.strictSame(timers, [], 'nothing is repeated once all memory is free');
  },
);

t.test('memory that a later Run may use again is reported late, and larger memory at once', async (t) => {
  const timers = recordTimers(t);
  const reported: number[] = [];
  const collector: Collector = { ...NO_COLLECTOR, dropped: (bytes) => void reported.push(bytes) };
  const memories = new SharedMemories(collector);
  const memoryOf = (mebibytes: number) =>
    new WebAssembly.Memory<SharedArrayBuffer>({ initial: mebibytes * 16, maximum: 65_536, shared: true });
  const kept = [memoryOf(1), memoryOf(2), memoryOf(129), memoryOf(3)] as const;
  memories.drop(kept[0]);
  memories.drop(kept[1]);
  t.strictSame([reported, timers.length], [[], 1]);
  timers.pop()!.fire();
  t.strictSame(reported, [MEBIBYTE, 2 * MEBIBYTE]);
  memories.drop(kept[2]);
  t.equal(reported.at(-1), 129 * MEBIBYTE);
  memories.drop(kept[3]);
  t.equal(reported.length, 3);
});
