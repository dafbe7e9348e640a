// The map with expiry against a naive model, and with many records; and the rate limits that use it.

import t from 'tap';
import { ExpiringMap } from '../../../src/collections/expiring-map.ts';
import { TokenBuckets } from '../../../src/stores/rate-limiter.ts';
import { fc } from '../../random.ts';

const KEYS = 12;

t.test('does what a plain map with times does', async (_t) => {
  const step = fc.record({
    kind: fc.constantFrom('set', 'get', 'update', 'delete', 'sweep'),
    key: fc.nat(KEYS - 1).map((number) => `key ${number}`),
    time: fc.oneof(fc.nat(30), fc.constant(Infinity)),
    wait: fc.nat(3),
    bytes: fc.nat(9),
    max: fc.nat(4),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const model = new Map<string, { value: number; expiresAt: number }>();
      let charged = 0;
      const expired: string[] = [];
      const map = new ExpiringMap<number>({
        bytesOf: (_key, value) => value,
        charge: (bytes) => {
          charged += bytes;
        },
        expired: (key) => expired.push(key),
      });
      let now = 0;
      for (const { kind, key, time, wait, bytes, max } of steps) {
        now += wait;
        const entry = model.get(key);
        if (kind === 'set') {
          map.set(key, bytes, now + time);
          model.set(key, { value: bytes, expiresAt: now + time });
        } else if (kind === 'get') {
          const wanted = entry !== undefined && entry.expiresAt > now ? entry.value : undefined;
          if (map.get(key, now) !== wanted) return false;
        } else if (kind === 'update') {
          if (map.updateExpiry(key, now + time) !== (entry !== undefined)) return false;
          if (entry !== undefined) entry.expiresAt = now + time;
        } else if (kind === 'delete') {
          if (map.delete(key) !== model.delete(key)) return false;
        } else {
          const due = [...model].filter(([, each]) => each.expiresAt <= now).length;
          expired.length = 0;
          if (map.sweep(now, max) !== Math.min(due, max) || expired.length !== Math.min(due, max)) return false;
          const times = expired.map((each) => model.get(each)!.expiresAt);
          if (times.some((each, index) => index > 0 && each < times[index - 1]!)) return false;
          for (const each of expired) model.delete(each);
          if ([...model.values()].some((each) => times.some((ended) => each.expiresAt < ended))) return false;
        }
        const weight = [...model.values()].reduce((sum, each) => sum + each.value, 0);
        if (map.size !== model.size || map.bytes !== weight || charged !== weight) return false;
      }
      return true;
    }),
  );
});

t.test('two hundred thousand records come and go in small steps', async (t) => {
  const records = 200_000;
  const batch = 1000;
  const map = new ExpiringMap<number>();
  let longest = 0;
  const timed = (work: () => void): void => {
    const began = performance.now();
    work();
    longest = Math.max(longest, performance.now() - began);
  };
  for (let record = 0; record < records; record += batch) {
    timed(() => {
      for (let each = record; each < record + batch; each += 1) map.set(`run_${each}`, each, 1000 + (each % 77_777));
    });
  }
  t.equal(map.size, records);
  const filled = longest;
  longest = 0;
  for (let record = 0; record < records; record += batch) {
    timed(() => {
      for (let each = record; each < record + batch; each += 10) map.updateExpiry(`run_${each}`, 500_000 - each / 10);
    });
  }
  const updated = longest;
  longest = 0;
  let swept = 0;
  for (let more = batch; more === batch; swept += more) {
    timed(() => {
      more = map.sweep(600_000, batch);
    });
  }
  t.equal(swept, records);
  t.equal(map.size, 0);
  const round = (milliseconds: number): string => milliseconds.toFixed(1);
  t.comment(`longest of ${batch} in ms: set ${round(filled)}, update ${round(updated)}, sweep ${round(longest)}`);
});

t.test('the token bucket is a GCRA: burst, then one per interval, and never more', async (t) => {
  const limiter = new TokenBuckets();
  const limit = { requests: 7, windowSeconds: 10 };
  for (let request = 0; request < 7; request += 1) {
    const decision = await limiter.take('a', 'create_run', limit, 1000);
    t.ok(decision.allowed);
    t.equal(decision.remaining, 6 - request);
  }
  const refused = await limiter.take('a', 'create_run', limit, 1000);
  t.strictSame(refused, { allowed: false, retryAfterSeconds: 2, remaining: 0, resetSeconds: 10 });
  t.ok((await limiter.take('a', 'get_run', limit, 1000)).allowed, 'another operation');
  t.ok((await limiter.take('b', 'create_run', limit, 1000)).allowed, 'another account');
  t.notOk((await limiter.take('a', 'create_run', limit, 1000 + 1428)).allowed);
  t.ok((await limiter.take('a', 'create_run', limit, 1000 + 1429)).allowed, 'a seventh of ten seconds later');
  t.notOk((await limiter.take('a', 'create_run', limit, 900)).allowed, 'a clock that goes back wins nothing');
  t.notOk((await limiter.take('a', 'create_run', limit, 1000 + 1430)).allowed);
  t.ok((await limiter.take('a', 'create_run', { requests: 70, windowSeconds: 10 }, 2573)).allowed, 'a wider limit');
  t.equal((await limiter.take('a', 'create_run', null, 2430)).remaining, Infinity, 'no limit');
  const wide = { requests: 1e9, windowSeconds: 4000 };
  t.match(await limiter.take('w', 'get_run', wide, 2430.5), { allowed: true, remaining: 1e9 - 1, resetSeconds: 1 });
  t.match(await limiter.take('w', 'get_run', wide, 2430.7), { allowed: true, remaining: 1e9 - 2, resetSeconds: 1 });
  await limiter.take('z', 'get_run', limit, 1e6);
  await limiter.take('z', 'get_run', limit, 1e6);
  await limiter.take('z', 'get_run', limit, 1e6);
  t.equal(limiter.size, 1, 'full buckets are swept');
});

t.test('the bucket agrees with a model that counts in exact fractions', async (_t) => {
  const steps = fc.array(fc.nat(4000), { maxLength: 80 });
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 7 }),
      async (waits, requests, s) => {
        const limiter = new TokenBuckets();
        let now = 5_000;
        // Level in 1/requests of a millisecond, as BigInt.
        let level = 0n;
        for (const wait of waits) {
          now += wait;
          level -= BigInt(wait) * BigInt(requests);
          if (level < 0n) level = 0n;
          const fits = level + BigInt(s) * 1000n <= BigInt(s) * 1000n * BigInt(requests);
          if (fits) level += BigInt(s) * 1000n;
          const { allowed, retryAfterSeconds } = await limiter.take('a', 'o', { requests, windowSeconds: s }, now);
          if (allowed !== fits) return false;
          if (!allowed && retryAfterSeconds < 1) return false;
        }
        return true;
      },
    ),
  );
});
