// READ counts a request and, where it may pass, reads the Run.
import { TAKE } from './rate.ts';
import { defineScript } from './script.ts';

/**
 * KEYS: the account's flight. ARGV: operation, requests, cost, Run id. Returns the four numbers of the rate; `ended` and the
 * record, `running` and the claim, or `none`.
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
