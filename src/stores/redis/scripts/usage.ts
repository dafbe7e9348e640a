// USAGE tells what an account has of its plan, and changes nothing.
import { defineScript } from './script.ts';

/** KEYS: the account's flight. ARGV: period. Returns charged and reserved Runs of the period, and Runs in flight. */
export const USAGE = defineScript(
  'usage',
  'allowed',
  `
local counts = redis.call('HMGET', prefix .. 'counters', 'c:' .. ARGV[1], 'r:' .. ARGV[1])
return { tonumber(counts[1] or 0) + tonumber(counts[2] or 0), redis.call('HLEN', KEYS[1]) }
`,
);
