// How a claim goes on and ends. What protects them is that the Run's id is in `flight` (admit.ts): whoever has lost it
// changes nothing. They may be asked again.
import { defineScript } from './script.ts';

/** KEYS: the account's flight. ARGV: Run id, Template, created at, fingerprint. */
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

/** KEYS: the account's flight. ARGV: Run id. 1: it may not vanish any more, or is over and kept; 0: it has vanished. */
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

/** Gives back what every end of a claim gives back. */
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
 * KEYS: the account's flight. ARGV: Run id, record, whether there is an output to keep here, output, expires at,
 * charged (1 or 0), fingerprint, error code ('' = none), first day of the oldest period whose counter is kept.
 */
export const FINISH = defineScript(
  'finish',
  'allowed',
  RELEASE,
  `
local run, record, has_output, output, expires_at = unpack(ARGV, 1, 5)
local is_charged, fingerprint, code, oldest_day = unpack(ARGV, 6, 9)
local text = redis.call('HGET', KEYS[1], run)
-- Asked again: it is done where what was recorded is this end, and not that of whoever gave the Run up.
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
 * KEYS: the account's flight. ARGV: Run id, whether also where it was promised (1 or 0), or `unseen`: only where nobody has been
 * shown it. No Run remains.
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
