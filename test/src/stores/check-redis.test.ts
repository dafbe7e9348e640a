// Messages of a starting node about an unsuitable Redis.
import { join } from 'node:path';
import t from 'tap';
import { openTestRedis } from '../../fixtures/redis-rig.ts';
import { RedisServer, skipWithoutRedis } from '../../fixtures/redis-server.ts';

for (const [what, settings, reason] of [
  ['a cluster', ['--cluster-enabled', 'yes'], /it is a cluster: write the address of a primary/],
  ['one that drops keys', ['--maxmemory-policy', 'allkeys-lru'], /maxmemory-policy is allkeys-lru.*noeviction/],
  ['a replica', ['--replicaof', '127.0.0.1', '1'], /READONLY|MASTERDOWN/],
] as const) {
  t.test(`${what} is refused`, { skip: skipWithoutRedis }, async (t) => {
    const server = await RedisServer.open(settings);
    t.teardown(() => server.remove());
    const opening = openTestRedis(join(t.testdir(), 'data'), server);
    await t.rejects(opening, { name: 'RedisOpenError', message: reason });
  });
}
