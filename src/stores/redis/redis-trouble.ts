// What errors of Redis mean: it cannot do it now, or we are wrong. Everything that is no trouble is a fault of ours.

/** `timeout`, `lost` and `too_few_replicas` leave open whether what was asked for is done, and lasts. */
export const REDIS_TROUBLES = [
  'timeout',
  'lost',
  'closed',
  'out_of_memory',
  'read_only',
  'too_few_replicas',
  'loading',
  'not_permitted',
  'disk',
  'busy',
] as const;
export type RedisTrouble = (typeof REDIS_TROUBLES)[number];

/** First words of its answers. */
const BY_WORD: Readonly<Record<string, RedisTrouble>> = {
  OOM: 'out_of_memory',
  READONLY: 'read_only',
  NOREPLICAS: 'too_few_replicas',
  NOGOODSLAVE: 'too_few_replicas',
  LOADING: 'loading',
  MASTERDOWN: 'loading',
  NOAUTH: 'not_permitted',
  WRONGPASS: 'not_permitted',
  NOPERM: 'not_permitted',
  MISCONF: 'disk',
  BUSY: 'busy',
  TRYAGAIN: 'busy',
  CLUSTERDOWN: 'busy',
  // To a WAIT, where a primary becomes a replica meanwhile.
  UNBLOCKED: 'lost',
};

/** As the client library says them, which has no codes for them, and Redis where the first word tells nothing. */
const BY_MESSAGE: readonly (readonly [RegExp, RedisTrouble])[] = [
  [/^Command timed out/, 'timeout'],
  [/^Connection is closed|^Socket timeout|^Command aborted|^Reached the max retries/, 'lost'],
  [/^ERR WAIT cannot be used with replica/, 'lost'],
  [/isn't writeable and enableOfflineQueue/, 'closed'],
];

/** null: a fault of ours. */
export function troubleOf(error: unknown): RedisTrouble | null {
  if (!(error instanceof Error)) return null;
  const word = error.message.split(' ', 1)[0]!;
  if (Object.hasOwn(BY_WORD, word)) return BY_WORD[word]!;
  const [, trouble] = BY_MESSAGE.find(([pattern]) => pattern.test(error.message)) ?? [];
  // The system's: ECONNRESET, EPIPE, ECONNREFUSED and their like.
  return trouble ?? ('syscall' in error ? 'lost' : null);
}

/** The script is not there: Redis has been started anew, or its scripts were flushed. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
