// ADMIT takes all that a Run needs, or nothing. What it finds is looked for in the order of the interface's checks.
// A claim is a field of the account's hash `flight`, by Run id: i incarnation of its node, p period, k digest of its key,
// t Template, a admitted at; once begun b, c created at, f fingerprint; once promised q. Slots in flight are its length.
// A key is JSON: s state, r Run id, n node, t Template; f fingerprint; finished: e error code, x expires at; o the former.
import { TAKE } from './rate.ts';
import { defineScript } from './script.ts';

/**
 * KEYS: the account's flight. ARGV: Run id, incarnation, node, requests and cost of the rate, key digest ('' = none),
 * Template, period, quota and slots ('' = no limit), room (1 or 0), how long a key may be claimed (milliseconds).
 * Returns the four numbers of the rate, what was decided, and what belongs to it.
 */
export const ADMIT = defineScript(
  'admit',
  'refused',
  TAKE,
  `
local run, incarnation, node, requests, cost, key, template = unpack(ARGV, 1, 7)
local period, quota_max, slots_max, room, claim_milliseconds = unpack(ARGV, 8, 12)
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
if room == '0' then return answer('no_room') end

redis.call('HINCRBY', counters, 'r:' .. period, 1)
redis.call('HSET', flight, run, cjson.encode({ i = incarnation, p = period, k = key, t = template, a = now }))
if key ~= '' then
  local claim = { s = 'uploading', r = run, n = node, t = template, o = former }
  redis.call('SET', prefix .. 'key:' .. key, cjson.encode(claim), 'PX', claim_milliseconds)
end
return answer('admitted', former and former.f or '')
`,
);
