// A step that Redis takes as one: a script in Lua, which it knows by its hash. Scripts of two versions of the program stand
// beside each other, as each has a hash of its own.
// All keys of an account stand behind its prefix `tr1:{account}:`; a script is given one of them and makes the others, for
// which of them it needs is told by what it finds.
import { createHash } from 'node:crypto';
import { RETRIED_CODES } from '../../retried-codes.ts';

export interface Script {
  /** For metrics. */
  readonly name: string;
  readonly text: string;
  /** Of its text, as EVALSHA is given it. */
  readonly sha1: string;
}

/**
 * What every script begins with: times in milliseconds since 1970 by the clock of Redis, as texts without an exponent (Lua
 * writes 14 digits by itself), and the account's prefix.
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

/** What a script may do where Redis is out of memory. */
export type OutOfMemory = 'refused' | 'allowed';

export function defineScript(name: string, outOfMemory: OutOfMemory, ...parts: readonly string[]): Script {
  const head = outOfMemory === 'allowed' ? '#!lua flags=allow-oom' : '#!lua';
  const text = [head, PRELUDE, ...parts].join('\n');
  return { name, text, sha1: createHash('sha1').update(text).digest('hex') };
}
