// The settings of `serve`: flags, their environment variables and defaults, also those of a node that is one of several.
// Checked before anything starts.

import { availableParallelism } from 'node:os';
import { resolve, sep } from 'node:path';
import {
  defaultMemoryBudgetBytes,
  MEMORY_BUDGET_BYTES_MAX,
  MEMORY_BUDGET_BYTES_MIN,
} from './admission/memory-budget.ts';
import { type Flag, flagsHelp, parseFlags, UsageError } from './commands/command.ts';
import { HTTP_LIBRARIES, type HttpLibraryChoice } from './http/front-end.ts';
import { readS3Address, type S3Address } from './outputs/s3/s3-requests.ts';
import { SettingReader } from './setting-reader.ts';
import type { SentinelAddress } from './stores/redis/redis-link.ts';

// The settings of a node that is one of several.

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

/** A row has the same form as in SETTINGS. */
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

export interface ServeConfig {
  readonly catalogDirectory: string;
  readonly dataDirectory: string;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Origin of the API as clients see it, or null for http://host:port as listened on. */
  readonly baseUrl: string | null;
  readonly workers: number;
  /** Maximum number of worker threads that process one large upload together. */
  readonly runThreads: number;
  readonly memoryBudgetBytes: number;
  readonly diskFloorBytes: number;
  readonly uploadTimeoutMilliseconds: number;
  readonly waitMilliseconds: number;
  readonly runTimeoutMilliseconds: number;
  readonly retentionMilliseconds: number;
  readonly drainMilliseconds: number;
  readonly logLevel: LogLevel;
  /** null if health is on the API port. */
  readonly opsPort: number | null;
  /** True if Templates whose tests fail are refused. */
  readonly catalogTests: boolean;
  readonly metricsOnApiPort: boolean;
  /** The pages for people that are served on the API port. */
  readonly pages: { readonly docs: boolean; readonly console: boolean };
  /** null for the default. Limits of the system may reduce either. */
  readonly connectionsMax: number | null;
  /** null for no limit. */
  readonly connectionsPerAddressMax: number | null;
  /** Time for which a stopping node still accepts requests while /readyz already reports that it is not ready. */
  readonly drainDelayMilliseconds: number;
  /** `auto`: uWebSockets.js if it loads, otherwise Node's own server. */
  readonly httpLibrary: HttpLibraryChoice;
  /** null for a standalone node. */
  readonly fleet: FleetConfig | null;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const DAY_MILLISECONDS = 24 * 3600 * 1000;

/** Maximum number of threads. More is a mistake: each has a heap and WebAssembly memory. */
const WORKERS_MAX = 256;

/** Default for large machines: with more threads, waiting for the turn to write costs more than they bring. */
const RUN_THREADS_MAX = 8;

/** Linux opens no more files per process, whatever its settings. */
const CONNECTIONS_MAX = 1_048_576;

const MEMORY_BUDGET_MEBIBYTES_MIN = Math.ceil(MEMORY_BUDGET_BYTES_MIN / 1024 ** 2);

/**
 * For each setting: flag, placeholder, purpose, and default. The help and the page of flags are generated from them.
 * Literal text is in backticks, which the help leaves out.
 */
export const SETTINGS = [
  ['catalog', 'DIR', 'the catalog: plans, accounts, Templates and tables', 'required'],
  [
    'data',
    'DIR',
    'folder for uploads, outputs, spilled state and the ledger of charges; only one process can use it',
    'required',
  ],
  ['host', 'ADDRESS', 'address to listen on', '127.0.0.1'],
  ['port', 'NUMBER', 'API port; 0: any free port', '8080'],
  [
    'base-url',
    'URL',
    'origin of each `download_url`, as clients reach the service',
    'http://HOST:PORT; required with 0.0.0.0 and ::',
  ],
  ['workers', 'NUMBER', 'worker threads', 'number of cores'],
  [
    'run-threads',
    'NUMBER',
    'maximum number of worker threads that share one upload (CSV, NDJSON or Parquet of 32 MiB or more)',
    'number of cores, at most 8',
  ],
  [
    'memory-budget',
    'SIZE',
    `memory for Runs; at least ${MEMORY_BUDGET_MEBIBYTES_MIN} MiB`,
    '60 % of the memory that the process may use',
  ],
  [
    'disk-floor',
    'SIZE',
    'minimum free space below `--data`: with less, new Runs are refused; 0: no minimum, only a full disk is detected',
    '1GiB',
  ],
  ['upload-timeout-ms', 'NUMBER', 'maximum duration of an upload', '3600000'],
  ['wait-ms', 'NUMBER', 'maximum time for which a POST waits for its Run, before it returns 202', '30000'],
  ['run-timeout-ms', 'NUMBER', 'maximum duration of a Run, before it ends with RUN_TIMEOUT', '600000'],
  ['retention-ms', 'NUMBER', 'time for which a finished Run and its output are kept', '1800000'],
  ['drain-ms', 'NUMBER', 'time for which the service finishes uploads, Runs and downloads after SIGTERM', '30000'],
  ['drain-delay-ms', 'NUMBER', 'time after SIGTERM in which only `/readyz` changes', '0; 5000 with --redis'],
  ['log-level', 'LEVEL', LOG_LEVELS.map((level) => `\`${level}\``).join(', '), 'info'],
  ['ops-port', 'NUMBER', "port for health, metrics and the operator's page", 'health on the API port, no metrics'],
  [
    'catalog-tests',
    'yes|no',
    'run the tests of Templates when the catalog is read, and refuse a catalog with failed tests',
    'yes',
  ],
  ['metrics-on-api-port', 'yes|no', 'metrics on the API port too, for anyone who can reach it', 'no'],
  ['docs', 'yes|no', 'the reference of the API as a page at `/docs`', 'yes'],
  ['console', 'yes|no', 'a page at `/console` that sends files with a key', 'no'],
  [
    'connections-max',
    'NUMBER',
    'maximum number of connections to the API port',
    '8192; at most one for each 128 KiB of the memory budget, and half of the files that the process may open',
  ],
  [
    'connections-per-address-max',
    'NUMBER',
    'maximum number of connections from one address; do not use it behind a balancer',
    'none',
  ],
  [
    'http-library',
    'NAME',
    `HTTP server: ${HTTP_LIBRARIES.map((name) => `\`${name}\``).join(', ')}; auto: uWebSockets.js (uws) if it can be loaded, otherwise Node's`,
    'auto',
  ],
  ...FLEET_SETTINGS,
] as const;

type SettingName = (typeof SETTINGS)[number][0];

/** The flags in `serve --help`. */
export function serveFlagsHelp(): string {
  const flags = SETTINGS.map(([name, placeholder, purpose, fallback]): [string, Flag] => [
    name,
    { kind: 'value', placeholder, purpose: `${purpose.replaceAll('`', '')} (${fallback})` },
  ]);
  return flagsHelp(Object.fromEntries(flags));
}

/** A flag takes precedence over its environment variable. Throws a single UsageError with all problems. */
export function readServeConfig(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ServeConfig {
  const flags = Object.fromEntries(SETTINGS.map(([name]): [string, Pick<Flag, 'kind'>] => [name, { kind: 'value' }]));
  const { values, positionals } = parseFlags(args, flags);
  const problems: string[] = [];
  if (positionals.length > 0) problems.push('serve takes flags only: write --catalog DIR --data DIR.');
  const setting = new SettingReader(values, env, problems);
  const host = setting.text('host') ?? '127.0.0.1';
  const fleet = readFleetConfig(setting, env, problems);
  const config: ServeConfig = {
    catalogDirectory: setting.required('catalog'),
    dataDirectory: setting.required('data'),
    host,
    port: setting.integer('port', 0, 65_535) ?? 8080,
    baseUrl: setting.baseUrl('base-url'),
    workers: setting.integer('workers', 1, WORKERS_MAX) ?? availableParallelism(),
    runThreads: setting.integer('run-threads', 1, WORKERS_MAX) ?? Math.min(availableParallelism(), RUN_THREADS_MAX),
    memoryBudgetBytes: memoryBudget(setting, problems),
    diskFloorBytes: setting.bytes('disk-floor') ?? 1024 ** 3,
    uploadTimeoutMilliseconds: setting.integer('upload-timeout-ms', 1, DAY_MILLISECONDS) ?? 3_600_000,
    waitMilliseconds: setting.integer('wait-ms', 0, DAY_MILLISECONDS) ?? 30_000,
    runTimeoutMilliseconds: setting.integer('run-timeout-ms', 1, DAY_MILLISECONDS) ?? 600_000,
    retentionMilliseconds: setting.integer('retention-ms', 1, DAY_MILLISECONDS) ?? 1_800_000,
    drainMilliseconds: setting.integer('drain-ms', 0, DAY_MILLISECONDS) ?? 30_000,
    logLevel: setting.oneOf('log-level', LOG_LEVELS) ?? 'info',
    opsPort: setting.integer('ops-port', 0, 65_535),
    catalogTests: setting.oneOf('catalog-tests', ['yes', 'no']) !== 'no',
    metricsOnApiPort: setting.oneOf('metrics-on-api-port', ['yes', 'no']) === 'yes',
    pages: {
      docs: setting.oneOf('docs', ['yes', 'no']) !== 'no',
      console: setting.oneOf('console', ['yes', 'no']) === 'yes',
    },
    connectionsMax: setting.integer('connections-max', 1, CONNECTIONS_MAX),
    connectionsPerAddressMax: setting.integer('connections-per-address-max', 1, CONNECTIONS_MAX),
    drainDelayMilliseconds: setting.integer('drain-delay-ms', 0, DAY_MILLISECONDS) ?? (fleet === null ? 0 : 5_000),
    httpLibrary: setting.oneOf('http-library', HTTP_LIBRARIES) ?? 'auto',
    fleet,
  };
  if (fleet !== null && config.baseUrl === null) {
    problems.push('With --redis write --base-url too: the origin of the balancer, such as https://runs.example.com.');
  }
  if (config.baseUrl === null && (host === '0.0.0.0' || host === '::')) {
    problems.push(`With --host ${host} write --base-url too, such as --base-url https://runs.example.com.`);
  }
  if (problems.length > 0) throw new UsageError(problems.join(' '));
  return config;
}

function memoryBudget(setting: SettingReader<SettingName>, problems: string[]): number {
  const bytes = setting.bytes('memory-budget') ?? Math.max(MEMORY_BUDGET_BYTES_MIN, defaultMemoryBudgetBytes());
  if (bytes < MEMORY_BUDGET_BYTES_MIN) {
    problems.push(`--memory-budget is too small for one Run: write ${MEMORY_BUDGET_MEBIBYTES_MIN}MiB or more.`);
  }
  if (bytes > MEMORY_BUDGET_BYTES_MAX) problems.push('--memory-budget is too large: write less than 2TiB.');
  return bytes;
}
