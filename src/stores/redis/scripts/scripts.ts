// Atomic steps in Redis, as Lua scripts: admission, claims, rates, usage, and membership of the fleet.
import { createHash } from 'node:crypto';
import { RETRIED_CODES } from '../../stores.ts';

// An atomic step in Redis: a Lua script, called by its hash. Scripts of two versions of the program can coexist,
// because their hashes differ.
//
// All keys of an account have the prefix `tr1:{account}:`. A script receives one of them and builds the others,
// because the keys it needs depend on the data it finds.

export interface Script {
  /** For metrics. */
  readonly name: string;
  readonly text: string;
  /** SHA-1 of the text, as EVALSHA expects it. */
  readonly sha1: string;
}

/**
 * Common beginning of every script: times in milliseconds since 1970 by the clock of Redis, as strings without an
 * exponent (by default Lua writes 14 digits only), and the account's prefix.
 */
const PRELUDE = `
local function milliseconds()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function whole(number) return string.format('%.0f', number) end
local prefix = string.match(KEYS[1], '^tr1:{[^}]*}:') or 'tr1:'
local RETRIED = { ${[...RETRIED_CODES].map((code) => `${code} = true`).join(', ')} }
`;

/** Behaviour of the script while Redis is out of memory: Redis refuses it or executes it. */
export type OutOfMemory = 'refused' | 'allowed';

function defineScript(name: string, outOfMemory: OutOfMemory, ...parts: readonly string[]): Script {
  const head = outOfMemory === 'allowed' ? '#!lua flags=allow-oom' : '#!lua';
  const text = [head, PRELUDE, ...parts].join('\n');
  return { name, text, sha1: createHash('sha1').update(text).digest('hex') };
}

// Rate limits per account and operation: the buckets of src/stores/rate-limiter.ts, stored in Redis.

/**
 * take(operation, requests, cost, now) returns: allowed (1 or 0), seconds until the next request is allowed,
 * remaining requests, seconds until the bucket is full. The bucket stores a debt that decreases by `requests` per
 * millisecond, so that no sum has a fraction. Without a limit, `requests` is empty and the remaining number is -1.
 */
const TAKE = `
local function take(operation, requests_text, cost_text, now)
  local requests = tonumber(requests_text)
  if requests == nil then return { 1, 0, -1, 0 } end
  local cost = tonumber(cost_text)
  local key = prefix .. 'rate:' .. operation
  local debt, at = 0, now
  local kept = redis.call('GET', key)
  if kept then
    local kept_debt, kept_at, kept_requests = string.match(kept, '^(%S+) (%S+) (%S+)$')
    kept_debt, kept_at, kept_requests = tonumber(kept_debt), tonumber(kept_at), tonumber(kept_requests)
    if kept_requests ~= requests then kept_debt = math.ceil(kept_debt / kept_requests * requests) end
    debt = math.max(0, kept_debt - math.max(0, now - kept_at) * requests)
    at = math.max(now, kept_at)
  end
  local capacity = cost * requests
  if debt + cost > capacity then
    local retry = math.max(1, math.ceil((debt + cost - capacity) / requests / 1000))
    return { 0, retry, math.max(0, math.floor((capacity - debt) / cost)), math.ceil(debt / requests / 1000) }
  end
  debt = debt + cost
  local text = string.format('%.17g %.0f %.17g', debt, at, requests)
  redis.call('SET', key, text, 'PX', whole(math.max(1, math.ceil(debt / requests))))
  return { 1, 0, math.max(0, math.floor((capacity - debt) / cost)), math.ceil(debt / requests / 1000) }
end
`;

/** KEYS: any key of the account. ARGV: operation, requests, cost. */
export const RATE = defineScript('rate', 'refused', TAKE, 'return take(ARGV[1], ARGV[2], ARGV[3], milliseconds())');

// READ counts a request and, if its rate allows it, reads the Run.

/**
 * KEYS: the account's flight. ARGV: operation, requests, cost, Run id. Returns the four numbers of the rate, then
 * `ended` and the record, `running` and the claim, or `none`.
 */
export const READ = defineScript(
  'read',
  'refused',
  TAKE,
  `
local rate = take(ARGV[1], ARGV[2], ARGV[3], milliseconds())
local function answer(kind, detail)
  return { rate[1], rate[2], rate[3], rate[4], kind, detail or '' }
end
if rate[1] == 0 then return answer('none') end
local record = redis.call('GET', prefix .. 'run:' .. ARGV[4])
if record then return answer('ended', record) end
local text = redis.call('HGET', KEYS[1], ARGV[4])
if text and cjson.decode(text).b then return answer('running', text) end
return answer('none')
`,
);

// USAGE reads the usage of an account without changing anything.

/** KEYS: the account's flight. ARGV: period. Returns charged and reserved Runs of the period, and Runs in flight. */
export const USAGE = defineScript(
  'usage',
  'allowed',
  `
local counts = redis.call('HMGET', prefix .. 'counters', 'c:' .. ARGV[1], 'r:' .. ARGV[1])
return { tonumber(counts[1] or 0) + tonumber(counts[2] or 0), redis.call('HLEN', KEYS[1]) }
`,
);

// ADMIT reserves everything that a Run needs, or nothing. The checks are made in the order of AdmissionOutcome.
//
// A claim is a field of the account's hash `flight`, by Run id: i incarnation of its node, p period, k digest of its
// key, t Template, a time of admission; once begun also b, c time of creation, f fingerprint; once promised also q.
// The length of the hash is the number of slots in flight.
// A key is JSON: s state, r Run id, n node, t Template, f fingerprint; for a finished Run also e error code, x expiry
// time; o the former Run.

/**
 * KEYS: the account's flight. ARGV: Run id, incarnation, node, requests and cost of the rate, key digest ('' if
 * none), Template, period, quota and slots ('' = unlimited), node capacity available (1 or 0), maximum duration of a
 * claim on a key (milliseconds).
 * Returns the four numbers of the rate, the kind of the result, and its detail.
 */
export const ADMIT = defineScript(
  'admit',
  'refused',
  TAKE,
  `
local run, incarnation, node, requests, cost, key, template = unpack(ARGV, 1, 7)
local period, quota_max, slots_max, has_capacity, claim_milliseconds = unpack(ARGV, 8, 12)
local flight, counters = prefix .. 'flight', prefix .. 'counters'
local function former_of(claimed)
  local text = claimed ~= '' and redis.call('GET', prefix .. 'key:' .. claimed)
  local former = text and cjson.decode(text).o
  return former and former.f or ''
end

-- Asked again: the answer to the first asking was lost.
local known = redis.call('HGET', flight, run)
if known then return { 1, 0, -1, 0, 'admitted', former_of(cjson.decode(known).k) } end

local now = milliseconds()
local rate = take('create_run', requests, cost, now)
local function answer(kind, detail)
  return { rate[1], rate[2], rate[3], rate[4], kind, detail or '' }
end
if rate[1] == 0 then return answer('limited') end

local former
if key ~= '' then
  local text = redis.call('GET', prefix .. 'key:' .. key)
  if text then
    local held = cjson.decode(text)
    if held.t ~= template then return answer('other_template') end
    if held.s ~= 'finished' or not RETRIED[held.e] then return answer('held', text) end
    former = { r = held.r, f = held.f, e = held.e, x = held.x }
  end
end
local charged = tonumber(redis.call('HGET', counters, 'c:' .. period) or 0)
local used = charged + tonumber(redis.call('HGET', counters, 'r:' .. period) or 0)
if quota_max ~= '' and used >= tonumber(quota_max) then return answer('quota', whole(used)) end
if slots_max ~= '' and redis.call('HLEN', flight) >= tonumber(slots_max) then return answer('slots') end
if has_capacity == '0' then return answer('no_capacity') end

redis.call('HINCRBY', counters, 'r:' .. period, 1)
redis.call('HSET', flight, run, cjson.encode({ i = incarnation, p = period, k = key, t = template, a = now }))
if key ~= '' then
  local claim = { s = 'uploading', r = run, n = node, t = template, o = former }
  redis.call('SET', prefix .. 'key:' .. key, cjson.encode(claim), 'PX', claim_milliseconds)
end
return answer('admitted', former and former.f or '')
`,
);

// Scripts that continue and end a claim. Each requires that the Run's id is still in `flight`, so a node that has lost
// the claim changes nothing. All may be repeated.

/** KEYS: the account's flight. ARGV: Run id, Template, time of creation, fingerprint. */
export const BEGIN = defineScript(
  'begin',
  'refused',
  `
local run, template, created_at, fingerprint = unpack(ARGV, 1, 4)
local text = redis.call('HGET', KEYS[1], run)
if not text then return 'lost' end
local claim = cjson.decode(text)
claim.b, claim.t, claim.c, claim.f = 1, template, tonumber(created_at), fingerprint
redis.call('HSET', KEYS[1], run, cjson.encode(claim))
local key = prefix .. 'key:' .. claim.k
local held_text = claim.k ~= '' and redis.call('GET', key)
local held = held_text and cjson.decode(held_text)
if held and held.r == run and held.s == 'uploading' then
  held.s, held.f = 'running', fingerprint
  redis.call('SET', key, cjson.encode(held), 'KEEPTTL')
end
return 'begun'
`,
);

/**
 * KEYS: the account's flight. ARGV: Run id. Returns 1 if the Run cannot vanish any more, or is over and kept; 0 if it
 * has vanished.
 */
export const PROMISE = defineScript(
  'promise',
  'allowed',
  `
local text = redis.call('HGET', KEYS[1], ARGV[1])
if not text then return redis.call('EXISTS', prefix .. 'run:' .. ARGV[1]) end
local claim = cjson.decode(text)
claim.q = 1
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(claim))
return 1
`,
);

/** Releases everything that a claim holds, whatever its end. */
const RELEASE = `
local counters = prefix .. 'counters'
local function release(run, claim)
  redis.call('HDEL', prefix .. 'flight', run)
  if redis.call('HINCRBY', counters, 'r:' .. claim.p, -1) <= 0 then redis.call('HDEL', counters, 'r:' .. claim.p) end
end
-- The key that the claim still has; nil: none, or somebody else's.
local function key_of(run, claim)
  if claim.k == '' then return nil end
  local key = prefix .. 'key:' .. claim.k
  local text = redis.call('GET', key)
  local held = text and cjson.decode(text)
  if held and held.r ~= run then return nil end
  return key, held
end
local function vanish(run, claim)
  release(run, claim)
  local key, held = key_of(run, claim)
  if not held then return end
  local former = held.o
  if former and former.x > milliseconds() then
    former.s, former.t = 'finished', held.t
    redis.call('SET', key, cjson.encode(former), 'PXAT', whole(former.x))
  else
    redis.call('DEL', key)
  end
end
`;

/**
 * KEYS: the account's flight. ARGV: Run id, record, whether an output is stored here (1 or 0), output, expiry time,
 * charged (1 or 0), fingerprint, error code ('' if none), first day of the oldest period whose counter is kept.
 */
export const FINISH = defineScript(
  'finish',
  'allowed',
  RELEASE,
  `
local run, record, has_output, output, expires_at = unpack(ARGV, 1, 5)
local is_charged, fingerprint, code, oldest_day = unpack(ARGV, 6, 9)
local text = redis.call('HGET', KEYS[1], run)
-- A repeated call: done if the stored record is that of this call, lost if another node gave the Run up.
if not text then return redis.call('GET', prefix .. 'run:' .. run) == record and 'done' or 'lost' end
local claim = cjson.decode(text)
release(run, claim)
if is_charged == '1' and redis.call('HINCRBY', counters, 'c:' .. claim.p, 1) == 1 then
  for _, field in ipairs(redis.call('HKEYS', counters)) do
    local day = string.match(field, '^c:.*(%d%d%d%d%-%d%d%-%d%d)$')
    if day and day < oldest_day then redis.call('HDEL', counters, field) end
  end
end
redis.call('SET', prefix .. 'run:' .. run, record, 'PXAT', expires_at)
if has_output == '1' then redis.call('SET', prefix .. 'out:' .. run, output, 'PXAT', expires_at) end
local key = key_of(run, claim)
if key then
  local ended = { s = 'finished', r = run, t = claim.t, f = fingerprint, x = tonumber(expires_at) }
  if code ~= '' then ended.e = code end
  redis.call('SET', key, cjson.encode(ended), 'PXAT', expires_at)
end
return is_charged == '1' and 'charged' or 'done'
`,
);

/**
 * Discards the Run. KEYS: the account's flight. ARGV: Run id, mode: 1 also discards a promised Run, 0 does not,
 * `unseen` discards only a Run that was never visible to others.
 */
export const VANISH = defineScript(
  'vanish',
  'allowed',
  RELEASE,
  `
local text = redis.call('HGET', KEYS[1], ARGV[1])
if not text then return redis.call('EXISTS', prefix .. 'run:' .. ARGV[1]) == 1 and 'done' or 'lost' end
local claim = cjson.decode(text)
if claim.b and ARGV[2] == 'unseen' then return 'seen' end
if claim.q and ARGV[2] ~= '1' then return 'promised' end
vanish(ARGV[1], claim)
return 'done'
`,
);

// Membership of the fleet: one incarnation for each start or rejoin of a node, timed by Redis's clock.
//
// `tr1:nodes`: incarnation → last heartbeat. `tr1:about`: incarnation → the information that it publishes.
// `tr1:lost`: incarnation → time when it was given up. `tr1:fleet`: format of the keys, and the epoch, which changes
// when Redis loses all data.

/**
 * KEYS: tr1:nodes. ARGV: incarnation, published information, format, a new epoch, milliseconds without a heartbeat
 * after which others are given up ('' = not now), milliseconds for which those are remembered, longest time since
 * this incarnation's previous heartbeat with which it may give others up, and Redis's time of that heartbeat as it
 * was returned ('' = unknown).
 * Returns `format` and the other format; or the time, `member` or `lost`, the epoch, the given-up incarnations, all
 * live incarnations with the information that they publish, and with the times of their last heartbeats. An
 * incarnation that is neither known nor given up was forgotten by Redis, and is added again.
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
local beats = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
return { whole(now), state, epoch, redis.call('ZRANGE', 'tr1:lost', 0, -1), redis.call('HGETALL', 'tr1:about'), beats }
`,
);

/**
 * KEYS: tr1:nodes. ARGV: incarnation, whether it has released all its claims (1 or 0), milliseconds for which it is
 * remembered as given up if not.
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
