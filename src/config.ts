// The settings of `serve`: flags, their environment variables and defaults, checked before anything starts.
import { availableParallelism } from 'node:os';
import { MEMORY_BUDGET_BYTES_MAX, MEMORY_BUDGET_BYTES_MIN } from './admission/memory-budget.ts';
import { defaultMemoryBudgetBytes } from './admission/process-memory.ts';
import { UsageError } from './commands/command.ts';
import { type Flag, flagsHelp, parseFlags } from './commands/flags.ts';
import { FLEET_SETTINGS, type FleetConfig, readFleetConfig } from './fleet-config.ts';
import { SettingReader } from './setting-reader.ts';

export interface ServeConfig {
  readonly catalogDirectory: string;
  readonly dataDirectory: string;
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Origin of the API as clients see it; null = http://host:port as it listens. */
  readonly baseUrl: string | null;
  readonly workers: number;
  readonly memoryBudgetBytes: number;
  readonly diskFloorBytes: number;
  readonly uploadTimeoutMilliseconds: number;
  readonly waitMilliseconds: number;
  readonly runTimeoutMilliseconds: number;
  readonly retentionMilliseconds: number;
  readonly drainMilliseconds: number;
  readonly logLevel: LogLevel;
  /** null = health is on the API port. */
  readonly opsPort: number | null;
  /** Whether Templates whose tests fail are refused. */
  readonly catalogTests: boolean;
  readonly metricsOnApiPort: boolean;
  /** Which pages for people are on the API port. */
  readonly pages: { readonly docs: boolean; readonly console: boolean };
  /** null = the default; what the system allows may lower either. */
  readonly connectionsMax: number | null;
  /** null = none. */
  readonly connectionsPerAddressMax: number | null;
  /** How long a node that is to stop takes requests while /readyz already says no. */
  readonly drainDelayMilliseconds: number;
  /** null = a node on its own. */
  readonly fleet: FleetConfig | null;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const DAY_MILLISECONDS = 24 * 3600 * 1000;

/** Threads beyond this are a mistake: each has its own heap and WebAssembly memory. */
const WORKERS_MAX = 256;

/** More files than that Linux does not open in one process, whatever its settings. */
const CONNECTIONS_MAX = 1_048_576;

const MEMORY_BUDGET_MEBIBYTES_MIN = Math.ceil(MEMORY_BUDGET_BYTES_MIN / 1024 ** 2);

/**
 * Flag, its placeholder, what it is for, and what counts without it. The help and the page of flags are made of them; what is
 * typed or read as it stands is in backticks, which the help leaves out.
 */
export const SETTINGS = [
  ['catalog', 'DIR', 'the catalog: plans, accounts, Templates and tables', 'required'],
  ['data', 'DIR', 'uploads, outputs, spilled state and the ledger of charges; one process owns it', 'required'],
  ['host', 'ADDRESS', 'where to listen', '127.0.0.1'],
  ['port', 'NUMBER', 'API port; 0 takes any free one', '8080'],
  ['base-url', 'URL', 'origin in `download_url`', 'http://HOST:PORT; required with 0.0.0.0 and ::'],
  ['workers', 'NUMBER', 'worker threads', 'number of cores'],
  [
    'memory-budget',
    'SIZE',
    `memory for Runs; at least ${MEMORY_BUDGET_MEBIBYTES_MIN} MiB`,
    '60 % of what the process may use',
  ],
  [
    'disk-floor',
    'SIZE',
    'with less free space below `--data` no Run is taken; 0 for none: a disk that is full is noticed all the same',
    '1GiB',
  ],
  ['upload-timeout-ms', 'NUMBER', 'longest upload', '3600000'],
  ['wait-ms', 'NUMBER', 'longest wait of a POST for its Run, then 202', '30000'],
  ['run-timeout-ms', 'NUMBER', 'longest Run, then RUN_TIMEOUT', '600000'],
  ['retention-ms', 'NUMBER', 'how long a finished Run and its output are kept', '1800000'],
  ['drain-ms', 'NUMBER', 'how long SIGTERM waits for what is under way', '30000'],
  ['drain-delay-ms', 'NUMBER', 'how long SIGTERM first changes nothing but `/readyz`', '0; 5000 with --redis'],
  ['log-level', 'LEVEL', LOG_LEVELS.map((level) => `\`${level}\``).join(', '), 'info'],
  ['ops-port', 'NUMBER', 'port of health and metrics', 'health on the API port, no metrics'],
  ['catalog-tests', 'yes|no', "run Templates' tests when the catalog is read, and refuse what fails", 'yes'],
  ['metrics-on-api-port', 'yes|no', 'metrics on the API port too, for anyone who reaches it', 'no'],
  ['docs', 'yes|no', 'the reference of the API as a page at `/docs`', 'yes'],
  ['console', 'yes|no', 'a page at `/console` that sends files with a key', 'no'],
  ['connections-max', 'NUMBER', 'connections to the API port', '8192, at most half of the open files'],
  ['connections-per-address-max', 'NUMBER', 'the same of one address; not behind a balancer', 'none'],
  ...FLEET_SETTINGS,
] as const;

type SettingName = (typeof SETTINGS)[number][0];

/** The flags' part of `serve --help`. */
export function serveFlagsHelp(): string {
  const flags = SETTINGS.map(([name, placeholder, purpose, fallback]): [string, Flag] => [
    name,
    { kind: 'value', placeholder, purpose: `${purpose.replaceAll('`', '')} (${fallback})` },
  ]);
  return flagsHelp(Object.fromEntries(flags));
}

/** A flag wins over its variable. Throws one UsageError with everything that is wrong. */
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
    fleet,
  };
  if (fleet !== null && config.baseUrl === null) {
    problems.push('With --redis write --base-url too: the origin of the balancer, such as https://runs.example.com.');
  }
  if (config.baseUrl === null && (host === '0.0.0.0' || host === '::')) {
    problems.push(`With --host ${host} write --base-url too, such as --base-url https://runs.example.com.`);
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n  '));
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
