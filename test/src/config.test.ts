// Settings of a node that is one of several: every mistake is reported, with what to write instead.
import t from 'tap';
import { UsageError } from '../../src/commands/command.ts';
import { readServeConfig } from '../../src/config.ts';

const BASE = ['--catalog', 'c', '--data', 'd'];
const FLEET = [
  ...BASE,
  '--base-url',
  'https://runs.example.com',
  '--redis',
  'rediss://store.example',
  '--outputs',
  'o',
];

t.test('a complete fleet', async (t) => {
  const { fleet, drainDelayMilliseconds } = readServeConfig(
    [...FLEET, '--redis-sentinels', 'one, [::1]:26380 ,two:1', '--redis-ca', 'a.pem', '--redis-output-bytes', '1MiB'],
    { TEMPLATE_RUN_REDIS_SENTINEL_PASSWORD_FILE: 'p' },
  );
  t.equal(drainDelayMilliseconds, 5_000);
  t.match(fleet, {
    sentinels: [
      { host: 'one', port: 26_379 },
      { host: '::1', port: 26_380 },
      { host: 'two', port: 1 },
    ],
    authorityFile: 'a.pem',
    sentinelPasswordFile: 'p',
    outputBytesInRedisMax: 1024 ** 2,
    timeoutMilliseconds: 1_000,
    replicasWaitedFor: 0,
    outputs: 'o',
  });
});

const SENTINELS = '--redis-sentinels must list sentinels: write HOST:PORT,HOST:PORT.';

const MISTAKES: readonly (readonly [args: readonly string[], said: string])[] = [
  [[...BASE, '--redis-ca', 'a', '--outputs', 'o'], '--redis-ca and --outputs need --redis: write it too.'],
  [[...FLEET, '--redis', 'nowhere'], '--redis must be a URL: write redis://HOST:6379, or rediss: for TLS.'],
  [[...FLEET, '--redis', 'https://store.example'], '--redis must be a URL: write redis://HOST:6379'],
  [[...FLEET, '--redis', 'redis://s', '--redis-ca', 'a'], '--redis-ca needs a URL that begins with rediss:.'],
  [
    [...FLEET, '--redis', 'redis://primary:6379', '--redis-sentinels', 'one'],
    'With --redis-sentinels the host of --redis is a name that they know: write it without a port.',
  ],
  [
    [...FLEET, '--redis-sentinel-password-file', 'p'],
    '--redis-sentinel-password-file needs --redis-sentinels: write it too.',
  ],
  [[...FLEET, '--redis-output-bytes', '1025KiB'], '--redis-output-bytes is too large: write 1MiB or less.'],
  ...['one:0', 'one:65536', 'one,', 'user@one', 'one:26379/0'].map(
    (list) => [[...FLEET, '--redis-sentinels', list], SENTINELS] as const,
  ),
  [[...FLEET, '--redis-timeout-ms', '49'], '--redis-timeout-ms must be a whole number from 50 to 2000'],
  [
    [...BASE, '--base-url', 'https://x.example', '--redis', 'redis://s'],
    'With --redis write --outputs too: a folder that all nodes mount, or s3://BUCKET/PREFIX.',
  ],
  [[...FLEET, '--outputs', 'gs://bucket'], '--outputs must be a folder or s3://BUCKET/PREFIX'],
  [[...FLEET, '--outputs', 'd/inside'], '--outputs and --data are one inside the other: choose separate folders.'],
  [[...FLEET, '--outputs', 'c'], '--outputs and --catalog are one inside the other: choose separate folders.'],
  [
    [...BASE, '--redis', 'redis://s', '--outputs', 'o'],
    'With --redis write --base-url too: the origin of the balancer, such as https://runs.example.com.',
  ],
  [[...BASE, '--memory-budget', '2.5TiB'], '--memory-budget is too large: write less than 2TiB.'],
];

t.test('mistakes', async (t) => {
  for (const [args, said] of MISTAKES) {
    // The last value of a flag would win only if flags could be repeated: keep one of each.
    const flags = new Map<string, string>();
    for (let index = 0; index < args.length; index += 2) flags.set(args[index]!, args[index + 1]!);
    const refusal = t.throws(() => readServeConfig([...flags].flat(), {}), UsageError) as Error;
    t.ok(refusal.message.includes(said), `${said} in: ${refusal.message}`);
    t.equal(refusal.message.split('\n').length, 1, `nothing else: ${refusal.message}`);
  }
});
