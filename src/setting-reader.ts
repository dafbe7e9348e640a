// Reads the settings of a command one at a time: from the flag or the environment variable, with checks, and collects
// all problems.
import { suggestion } from '../workers/values/suggestion.ts';

/** Environment variable of a flag: `--memory-budget` is TEMPLATE_RUN_MEMORY_BUDGET. */
export function environmentName(flag: string): string {
  return `TEMPLATE_RUN_${flag.toUpperCase().replaceAll('-', '_')}`;
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

/** Returns the bytes of `1GiB`, `256MiB`, `1.5 GB`, `1048576`, or null for an invalid size. */
export function parseBytes(text: string): number | null {
  const [, number, unit] = /^(\d{1,15}(?:\.\d{1,6})?) ?([kmgt]?i?b)?$/i.exec(text.trim()) ?? [];
  const unitBytes = UNIT_BYTES[(unit ?? '').toLowerCase()];
  if (number === undefined || unitBytes === undefined) return null;
  const bytes = Math.floor(Number(number) * unitBytes);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/**
 * Reads one setting at a time and records problems. An invalid setting counts as absent, so that all problems are
 * found.
 */
export class SettingReader<SettingName extends string> {
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

  /** An empty environment variable counts as absent. */
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
    const isHttp = url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
    // Any other URL has a path, a query or a user name, but the API is at /api/v1 of an origin.
    if (isHttp && url.href === `${url.origin}/` && !/[?#]/.test(text)) return url.origin;
    return this.#problem(name, 'must be an http or https origin without a path: write https://runs.example.com');
  }

  #problem(name: SettingName, message: string): null {
    const source = this.#values.has(name) ? `--${name}` : `${environmentName(name)} (--${name})`;
    this.#problems.push(
      `${this.text(name) === null ? `--${name}` : source} ${message}${/[.?]$/.test(message) ? '' : '.'}`,
    );
    return null;
  }
}
