// When a thread's collector runs. The test does not wait: it records and fires the timers.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { type BudgetShare, unlimitedShare } from '../../../workers/memory/budget.ts';
import {
  type Collector,
  collectingShare,
  NO_COLLECTOR,
  SharedMemories,
  spareMemoryBytesMax,
  ThreadCollector,
} from '../../../workers/memory/collector.ts';

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

/** Drops objects in place of memories. Those in `held` stay referenced. */
class Dropper {
  readonly held = new Set<object>();
  readonly freed: number[] = [];
  readonly #collector: ThreadCollector;

  constructor(collector: ThreadCollector) {
    this.#collector = collector;
  }

  drop(mebibytes: number, isAwaited = false): void {
    const memory = {};
    this.held.add(memory);
    this.#collector.dropped(memory, { bytes: mebibytes * MEBIBYTE, isAwaited, freed: this.#note(mebibytes) });
  }

  #note(mebibytes: number): () => void {
    return () => void this.freed.push(mebibytes);
  }

  /** Ends with a new turn of the event loop: a reference that was looked at stays valid until then. */
  async release(): Promise<void> {
    this.held.clear();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

t.test('memory that stays referenced is collected less and less often, but at least every 10 seconds', async (t) => {
  const timers = recordTimers(t);
  const dropper = new Dropper(new ThreadCollector());
  const delaysOf = (rounds: number): number[] =>
    Array.from({ length: rounds }, () => {
      const { milliseconds, fire } = timers.pop()!;
      fire();
      return milliseconds;
    });
  dropper.drop(32);
  t.strictSame(delaysOf(10), [0, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]);

  dropper.drop(32);
  t.strictSame(delaysOf(1), [0], 'more dropped memory is collected at once, and replaces the later collection');
  t.strictSame(dropper.freed, []);

  await dropper.release();
  t.strictSame(delaysOf(1), [200]);
  t.strictSame(dropper.freed, [32, 32]);
  t.strictSame(timers, [], 'nothing is repeated once all memory is free');
});

t.test('memory that a Run may wait for is collected at once, and then at least every second', async (t) => {
  const timers = recordTimers(t);
  const dropper = new Dropper(new ThreadCollector());
  const delays = (): number[] => timers.map(({ milliseconds }) => milliseconds);
  dropper.drop(1);
  t.strictSame(delays(), [1000], 'nothing waits for a small memory');
  dropper.drop(1, true);
  for (const delay of [0, 200, 400, 800, 1000, 1000]) {
    t.strictSame(delays(), [delay]);
    timers.pop()!.fire();
  }
  await dropper.release();
  timers.pop()!.fire();
  t.strictSame(dropper.freed, [1, 1]);
  t.strictSame(timers, []);
});

t.test('a share collects dropped memory before it refuses', async (t) => {
  recordTimers(t);
  const collector = new ThreadCollector();
  const all = unlimitedShare();
  const limited: BudgetShare = { ...all, take: (bytes) => all.takenBytes + bytes <= MEBIBYTE && all.take(bytes) };
  const share = collectingShare(limited, collector);
  const drop = (): object => {
    const memory = {};
    collector.dropped(memory, { bytes: MEBIBYTE, isAwaited: false, freed: () => share.release(MEBIBYTE) });
    return memory;
  };
  t.ok(share.take(MEBIBYTE));
  t.notOk(share.take(1), 'nothing was dropped');
  drop();
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(collector.hasDropped);
  t.ok(share.take(MEBIBYTE), 'in a later turn');
  t.notOk(collector.hasDropped);

  const held = [drop()];
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(share.take(1), 'something refers to the memory');
  held.length = 0;
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(share.take(1), 'each memory causes at most one collection');
});

t.test('a small memory that stays referenced is collected later', async (t) => {
  const timers = recordTimers(t);
  const dropper = new Dropper(new ThreadCollector());
  dropper.drop(1);
  timers.pop()!.fire();
  t.equal(timers.length, 1);
  await dropper.release();
  timers.pop()!.fire();
  t.strictSame([dropper.freed, timers], [[1], []]);
});

t.test(
  'with a large budget, memory is collected when the thread drops no more of it, or when it is much',
  async (t) => {
    const timers = recordTimers(t);
    const dropper = new Dropper(new ThreadCollector(4096 * MEBIBYTE));
    const delays = (): number[] => timers.map(({ milliseconds }) => milliseconds);
    dropper.drop(64);
    const [first] = timers;
    dropper.drop(63);
    t.strictSame(delays(), [1000]);
    t.not(timers[0], first, 'the delay begins again');
    timers.pop()!.fire();
    t.strictSame(delays(), [200], 'memory that is still referenced is collected later');

    dropper.drop(1);
    t.strictSame(delays(), [0], 'a thirty-second part of the budget is collected at once');

    await dropper.release();
    timers.pop()!.fire();
    t.strictSame(dropper.freed, [64, 63, 1]);
    t.strictSame(timers, [], 'nothing is repeated once all memory is free');
  },
);

/**
 * Lets a registry become garbage while its callback is due. With Node.js 20 to 24, no registry of the thread works
 * afterwards.
 */
const STOP_REGISTRIES = `
  const { setFlagsFromString } = require('node:v8');
  setFlagsFromString('--expose-gc');
  const collect = require('node:vm').runInNewContext('gc');
  let registry = new FinalizationRegistry(() => {});
  (() => registry.register({}, 0))();
  setImmediate(() => {
    collect();
    registry = null;
    collect();
    setTimeout(after, 10);
  });
`;

t.test('a collection is noticed even if V8 calls no registry any more', async (t) => {
  // A thread of its own, because the state cannot be undone.
  const path = new URL('../../../workers/memory/collector.js', import.meta.url).href;
  const source = `${STOP_REGISTRIES}
    async function after() {
      const { ThreadCollector } = await import(${JSON.stringify(path)});
      const hold = setInterval(() => {}, 1000);
      const freed = () => { clearInterval(hold); require('node:worker_threads').parentPort.postMessage('freed'); };
      (() => new ThreadCollector().dropped({}, { bytes: ${32 * MEBIBYTE}, isAwaited: false, freed }))();
    }`;
  const [message] = await once(new Worker(source, { eval: true }), 'message');
  t.equal(message, 'freed');
});

t.test('memory that a later Run may use again is reported late, and larger memory at once', async (t) => {
  const timers = recordTimers(t);
  const reported: number[] = [];
  const collector: Collector = { ...NO_COLLECTOR, dropped: (_, { bytes }) => void reported.push(bytes) };
  t.strictSame(
    [256, 8192].map((mebibytes) => spareMemoryBytesMax(mebibytes * MEBIBYTE) / MEBIBYTE),
    [32, 512],
  );
  const memories = new SharedMemories(collector, spareMemoryBytesMax(256 * MEBIBYTE));
  const memoryOf = (mebibytes: number) =>
    new WebAssembly.Memory<SharedArrayBuffer>({ initial: mebibytes * 16, maximum: 65_536, shared: true });
  const kept = [memoryOf(1), memoryOf(32), memoryOf(33), memoryOf(3), memoryOf(34)] as const;
  memories.drop(kept[0]);
  memories.drop(kept[1]);
  t.strictSame([reported, timers.length], [[], 1]);
  timers.pop()!.fire();
  t.strictSame(reported, [MEBIBYTE, 32 * MEBIBYTE]);
  memories.drop(kept[2]);
  t.equal(reported.at(-1), 33 * MEBIBYTE);
  memories.drop(kept[3]);
  t.equal(reported.length, 3);
  memories.drop(kept[4], true);
  t.equal(reported.length, 3, 'the thread may come back to the Run');
  timers.pop()!.fire();
  t.strictSame(reported.slice(3), [3 * MEBIBYTE, 34 * MEBIBYTE], 'or may not');
});
