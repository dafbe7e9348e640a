// The request rate of an account and operation: the bucket of src/stores/memory/token-buckets.ts, kept by Redis.
import { defineScript } from './script.ts';

/**
 * take(operation, requests, cost, now): allowed (1 or 0), seconds until the next may pass, remaining, seconds until it is
 * full. The bucket is a debt of which `requests` drain in a millisecond, so that no sum is a fraction. Without a limit
 * `requests` is empty, and -1 remain.
 */
export const TAKE = `
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

/** KEYS: any of the account. ARGV: operation, requests, cost. */
export const RATE = defineScript('rate', 'refused', TAKE, 'return take(ARGV[1], ARGV[2], ARGV[3], milliseconds())');
