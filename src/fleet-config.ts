// The settings of a node that is one of several.
import { resolve, sep } from 'node:path';
import { readS3Address, type S3Address } from './outputs/s3/s3-requests.ts';
import type { SettingReader } from './setting-reader.ts';
import type { SentinelAddress } from './stores/redis/redis-link.ts';

export interface FleetConfig {
  readonly redisUrl: string;
  /** Sentinels that report the address of the primary. Empty if the URL contains it. */
  readonly sentinels: readonly SentinelAddress[];
  readonly passwordFile: string | null;
  readonly sentinelPasswordFile: string | null;
  readonly authorityFile: string | null;
  readonly timeoutMilliseconds: number;
  readonly outputBytesInRedisMax: number;
  readonly replicasWaitedFor: number;
  /** Path of a folder, or a bucket. */
  readonly outputs: string | S3Address;
}

/** In the same form as in config.ts. */
export const FLEET_SETTINGS = [
  ['redis', 'URL', 'Redis that the nodes of a fleet share, `redis:` or `rediss:`', 'none: a single node'],
  [
    'redis-sentinels',
    'LIST',
    '`HOST:PORT,...` of sentinels; the host of `--redis` is the name of their primary',
    'none',
  ],
  ['redis-password-file', 'FILE', 'password for Redis', 'the password in the URL'],
  ['redis-sentinel-password-file', 'FILE', 'password of the sentinels', 'none'],
  ['redis-ca', 'FILE', 'trusted certificates for `rediss:`', "the system's"],
  ['redis-timeout-ms', 'NUMBER', 'time limit of a call to Redis', '1000'],
  ['redis-wait-replicas', 'NUMBER', 'number of replicas that must have stored a Run before it is acknowledged', '0'],
  ['redis-output-bytes', 'SIZE', 'maximum size of outputs that are stored in Redis; at most 1 MiB', '16KiB'],
  [
    'outputs',
    'PLACE',
    'place for larger outputs: a folder that all nodes mount, or `s3://BUCKET/PREFIX`',
    'required with --redis',
  ],
] as const;

type FleetSettingName = (typeof FLEET_SETTINGS)[number][0];

const TIMEOUT_MILLISECONDS_MIN = 50;
const TIMEOUT_MILLISECONDS_MAX = 2_000;

/** Maximum number of replicas. No primary is known to have more. */
const REPLICAS_MAX = 16;

/** Default port of a sentinel. */
const SENTINEL_PORT = 26_379;

/** Redis handles no other command while it receives a value, so larger outputs must be files. */
const OUTPUT_BYTES_IN_REDIS_MAX = 1024 ** 2;

/** Returns null without --redis. */
export function readFleetConfig(
  setting: SettingReader<FleetSettingName | 'data' | 'catalog'>,
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
): FleetConfig | null {
  const redisUrl = setting.text('redis');
  if (redisUrl === null) {
    const others = FLEET_SETTINGS.map(([name]) => name).filter((name) => setting.text(name) !== null);
    if (others.length > 0) problems.push(`--${others.join(' and --')} need --redis: write it too.`);
    return null;
  }
  const scheme = URL.canParse(redisUrl) ? new URL(redisUrl).protocol : '';
  if (scheme !== 'redis:' && scheme !== 'rediss:') {
    problems.push('--redis must be a URL: write redis://HOST:6379, or rediss: for TLS.');
  }
  const authorityFile = setting.text('redis-ca');
  if (authorityFile !== null && scheme !== 'rediss:') problems.push('--redis-ca needs a URL that begins with rediss:.');
  const sentinels = readSentinels(setting, problems);
  if (sentinels.length > 0 && /:\d+$/.test(URL.canParse(redisUrl) ? new URL(redisUrl).host : '')) {
    problems.push('With --redis-sentinels the host of --redis is a name that they know: write it without a port.');
  }
  const sentinelPasswordFile = setting.text('redis-sentinel-password-file');
  if (sentinelPasswordFile !== null && sentinels.length === 0) {
    problems.push('--redis-sentinel-password-file needs --redis-sentinels: write it too.');
  }
  const outputBytesInRedisMax = setting.bytes('redis-output-bytes') ?? 16 * 1024;
  if (outputBytesInRedisMax > OUTPUT_BYTES_IN_REDIS_MAX) {
    problems.push('--redis-output-bytes is too large: write 1MiB or less.');
  }
  return {
    redisUrl,
    sentinels,
    passwordFile: setting.text('redis-password-file'),
    sentinelPasswordFile,
    authorityFile,
    timeoutMilliseconds:
      setting.integer('redis-timeout-ms', TIMEOUT_MILLISECONDS_MIN, TIMEOUT_MILLISECONDS_MAX) ?? 1_000,
    outputBytesInRedisMax,
    replicasWaitedFor: setting.integer('redis-wait-replicas', 0, REPLICAS_MAX) ?? 0,
    outputs: outputsPlace(setting, environment, problems),
  };
}

function readSentinels(setting: SettingReader<FleetSettingName>, problems: string[]): readonly SentinelAddress[] {
  const text = setting.text('redis-sentinels');
  if (text === null) return [];
  const addresses = text
    .split(',')
    .map((each) => /^(\[[\da-fA-F:]+\]|[^\s:,/@[\]]+)(?::(\d{1,5}))?$/.exec(each.trim()));
  const sentinels = addresses.flatMap((match) => {
    const port = Number(match?.[2] ?? SENTINEL_PORT);
    return match === null || port < 1 || port > 65_535 ? [] : [{ host: match[1]!.replace(/^\[|\]$/g, ''), port }];
  });
  if (sentinels.length === addresses.length) return sentinels;
  problems.push('--redis-sentinels must list sentinels: write HOST:PORT,HOST:PORT.');
  return [];
}

function outputsPlace(
  setting: SettingReader<FleetSettingName | 'data' | 'catalog'>,
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
): string | S3Address {
  const folder = setting.text('outputs');
  if (folder === null) {
    problems.push('With --redis write --outputs too: a folder that all nodes mount, or s3://BUCKET/PREFIX.');
    return '';
  }
  if (/^s3:/i.test(folder)) return readS3Address(folder, environment, problems) ?? '';
  if (/^[a-z][a-z0-9+.-]+:/i.test(folder)) {
    problems.push('--outputs must be a folder or s3://BUCKET/PREFIX: no other place is supported.');
  }
  for (const name of ['data', 'catalog'] as const) {
    const other = setting.text(name);
    if (other !== null && meet(resolve(folder), resolve(other))) {
      problems.push(`--outputs and --${name} are one inside the other: choose separate folders.`);
    }
  }
  return folder;
}

function meet(one: string, other: string): boolean {
  return one === other || `${one}${sep}`.startsWith(`${other}${sep}`) || `${other}${sep}`.startsWith(`${one}${sep}`);
}
