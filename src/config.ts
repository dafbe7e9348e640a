// The settings of `serve`: flags, their environment variables and defaults, checked before anything starts.
import { availableParallelism } from 'node:os';
import { suggestion } from '../workers/template/suggestion.ts';
import { MEMORY_BUDGET_BYTES_MAX, MEMORY_BUDGET_BYTES_MIN } from './admission/memory-budget.ts';
import { defaultMemoryBudgetBytes } from './admission/process-memory.ts';
import { UsageError } from './commands/command.ts';
import { type Flag, parseFlags } from './commands/flags.ts';

export interface ServeConfig {
  readonly catalogDirectory: string;
  readonly dataDirectory: string;
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Origin and path before /api/v1, without a slash at its end; null = http://host:port as it listens. */
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
  /** null = health and metrics are on the API port. */
  readonly opsPort: number | null;
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const DAY_MILLISECONDS = 24 * 3600 * 1000;

/** Threads beyond this are a mistake: each has its own heap and WebAssembly memory. */
const WORKERS_MAX = 256;

/** Flag, its placeholder, what it is for, and its default as the help shows it (null = required or derived). */
const SETTINGS = [
  ['catalog', 'DIR', 'plans, accounts, templates and tables', 'required'],
  ['data', 'DIR', 'spool, outputs and usage ledger; one process owns it', 'required'],
  ['host', 'ADDRESS', 'where to listen', '127.0.0.1'],
  ['port', 'NUMBER', 'API port, 0 = any free one', '8080'],
  ['base-url', 'URL', 'origin in download_url', 'http://HOST:PORT; required with 0.0.0.0 and ::'],
  ['workers', 'NUMBER', 'engine threads', 'number of cores'],
  ['memory-budget', 'SIZE', 'memory for Runs', '60 % of what the process may use'],
  ['disk-floor', 'SIZE', 'free space below which no Run is taken', '1GiB'],
  ['upload-timeout-ms', 'NUMBER', 'longest upload', '3600000'],
  ['wait-ms', 'NUMBER', 'longest wait of a POST for its Run', '30000'],
  ['run-timeout-ms', 'NUMBER', 'longest Run', '600000'],
  ['retention-ms', 'NUMBER', 'how long a finished Run is kept', '1800000'],
  ['drain-ms', 'NUMBER', 'how long SIGTERM waits for Runs', '30000'],
  ['log-level', 'LEVEL', LOG_LEVELS.join(', '), 'info'],
  ['ops-port', 'NUMBER', 'port of health and metrics', 'the API port'],
] as const;

type SettingName = (typeof SETTINGS)[number][0];

/** The flags' part of `serve --help`. */
export function serveFlagsHelp(): string {
  return SETTINGS.map(([name, placeholder, purpose, fallback]) => {
    return `  ${`--${name} ${placeholder}`.padEnd(27)} ${purpose} (${fallback})`;
  }).join('\n');
}

/** Environment variable of a flag: `--memory-budget` is TEMPLATE_RUN_MEMORY_BUDGET. */
export function environmentName(flag: string): string {
  return `TEMPLATE_RUN_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/** A flag wins over its variable. Throws one UsageError with everything that is wrong. */
export function readServeConfig(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ServeConfig {
  const flags = Object.fromEntries(SETTINGS.map(([name]): [string, Flag] => [name, { kind: 'value' }]));
  const { values, positionals } = parseFlags(args, flags);
  const problems: string[] = [];
  if (positionals.length > 0) problems.push('serve takes flags only: write --catalog DIR --data DIR.');
  const setting = new SettingReader(values, env, problems);
  const host = setting.text('host') ?? '127.0.0.1';
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
  };
  if (config.baseUrl === null && (host === '0.0.0.0' || host === '::')) {
    problems.push(`With --host ${host} write --base-url too, such as --base-url https://runs.example.com.`);
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n  '));
  return config;
}

function memoryBudget(setting: SettingReader, problems: string[]): number {
  const bytes = setting.bytes('memory-budget') ?? Math.max(MEMORY_BUDGET_BYTES_MIN, defaultMemoryBudgetBytes());
  if (bytes < MEMORY_BUDGET_BYTES_MIN) {
    const least = Math.ceil(MEMORY_BUDGET_BYTES_MIN / 1024 ** 2);
    problems.push(`--memory-budget is too small for one Run: write ${least}MiB or more.`);
  }
  if (bytes > MEMORY_BUDGET_BYTES_MAX) problems.push('--memory-budget is too large: write less than 2TiB.');
  return bytes;
}

const UNIT_BYTES: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
};

/** `1GiB`, `256MiB`, `1.5 GB`, `1048576`: bytes, or null when it is no size. */
export function parseBytes(text: string): number | null {
  const [, number, unit] = /^(\d{1,15}(?:\.\d{1,6})?) ?([kmgt]?i?b)?$/i.exec(text.trim()) ?? [];
  const unitBytes = UNIT_BYTES[(unit ?? '').toLowerCase()];
  if (number === undefined || unitBytes === undefined) return null;
  const bytes = Math.floor(Number(number) * unitBytes);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** Takes one setting at a time and notes what is wrong; a wrong one reads as absent, so that all problems show. */
class SettingReader {
  #values: ReadonlyMap<string, string>;
  #env: Readonly<Record<string, string | undefined>>;
  #problems: string[];

  constructor(
    values: ReadonlyMap<string, string>,
    env: Readonly<Record<string, string | undefined>>,
    problems: string[],
  ) {
    this.#values = values;
    this.#env = env;
    this.#problems = problems;
  }

  /** An empty variable is as good as none. */
  text(name: SettingName): string | null {
    return this.#values.get(name) ?? (this.#env[environmentName(name)] || null);
  }

  required(name: SettingName): string {
    const text = this.text(name);
    if (text === null || text === '') this.#problem(name, `is required: write --${name} DIR`);
    return text ?? '';
  }

  integer(name: SettingName, min: number, max: number): number | null {
    const text = this.text(name);
    if (text === null) return null;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    return this.#problem(name, `must be a whole number from ${min} to ${max}`);
  }

  bytes(name: SettingName): number | null {
    const text = this.text(name);
    if (text === null) return null;
    return parseBytes(text) ?? this.#problem(name, 'must be a size: write bytes, or such as 256MiB or 1GiB');
  }

  oneOf<Choice extends string>(name: SettingName, choices: readonly Choice[]): Choice | null {
    const text = this.text(name);
    if (text === null) return null;
    const choice = choices.find((each) => each === text);
    return choice ?? this.#problem(name, `must be one of ${choices.join(', ')}.${suggestion(text, choices)}`);
  }

  baseUrl(name: SettingName): string | null {
    const text = this.text(name);
    if (text === null) return null;
    const url = URL.canParse(text) ? new URL(text) : null;
    const plain = url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
    if (plain && (url.protocol === 'http:' || url.protocol === 'https:')) return url.href.replace(/\/+$/, '');
    return this.#problem(name, 'must be an http or https address without query: write https://runs.example.com');
  }

  #problem(name: SettingName, message: string): null {
    const source = this.#values.has(name) ? `--${name}` : `${environmentName(name)} (--${name})`;
    this.#problems.push(
      `${this.text(name) === null ? `--${name}` : source} ${message}${/[.?]$/.test(message) ? '' : '.'}`,
    );
    return null;
  }
}
