// Who is a node of the fleet: one incarnation for each life of a node, in Redis's time.
// `tr1:nodes`: incarnation → last heartbeat. `tr1:about`: incarnation → what it tells of itself. `tr1:lost`: incarnation →
// when it was given up. `tr1:fleet`: format of the keys, and the epoch, which ends when Redis loses everything.
import { defineScript } from './script.ts';

/**
 * KEYS: tr1:nodes. ARGV: incarnation, about, format, a new epoch, after how many milliseconds others are given up ('' = not
 * now), for how long those are remembered, the longest time since its last heartbeat with which it may, and that heartbeat's
 * time as it was answered ('' = not known).
 * Returns `format` and the other one; or the time, `member` or `lost`, the epoch, who was lost, what the nodes tell. Whoever
 * is not there and was not given up, Redis has forgotten: it is there again.
 */
export const HEARTBEAT = defineScript(
  'heartbeat',
  'allowed',
  `
local incarnation, about, format, new_epoch, lost_after, remembered, gap, seen = unpack(ARGV, 1, 8)
local now = milliseconds()
local known_format = redis.call('HGET', 'tr1:fleet', 'format')
if known_format and known_format ~= format then return { 'format', known_format } end
redis.call('HSETNX', 'tr1:fleet', 'format', format)
redis.call('HSETNX', 'tr1:fleet', 'epoch', new_epoch)
local state = 'lost'
local before = tonumber(redis.call('ZSCORE', KEYS[1], incarnation) or 0)
if not redis.call('ZSCORE', 'tr1:lost', incarnation) then
  state = 'member'
  redis.call('ZADD', KEYS[1], whole(now), incarnation)
  redis.call('HSET', 'tr1:about', incarnation, about)
end
-- Late, behind a stall, it must not judge by what it did not see; nor when a later one of its own has overtaken it.
if lost_after ~= '' and now - before <= tonumber(gap) and before == tonumber(seen) then
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', whole(now - tonumber(lost_after)))) do
    redis.call('ZREM', KEYS[1], other)
    redis.call('HDEL', 'tr1:about', other)
    redis.call('ZADD', 'tr1:lost', whole(now), other)
    redis.call('PEXPIRE', 'tr1:' .. other .. ':accounts', remembered)
  end
  redis.call('ZREMRANGEBYSCORE', 'tr1:lost', '-inf', whole(now - tonumber(remembered)))
end
local epoch = redis.call('HGET', 'tr1:fleet', 'epoch')
return { whole(now), state, epoch, redis.call('ZRANGE', 'tr1:lost', 0, -1), redis.call('HVALS', 'tr1:about') }
`,
);

/**
 * KEYS: tr1:nodes. ARGV: incarnation, whether it has given back all that it held (1 or 0), for how long it is remembered if
 * not: as one that was given up.
 */
export const LEAVE = defineScript(
  'leave',
  'allowed',
  `
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', 'tr1:about', ARGV[1])
local accounts = 'tr1:' .. ARGV[1] .. ':accounts'
if ARGV[2] == '1' then
  redis.call('DEL', accounts)
else
  redis.call('ZADD', 'tr1:lost', whole(milliseconds()), ARGV[1])
  redis.call('PEXPIRE', accounts, ARGV[3])
end
return 'ok'
`,
);
