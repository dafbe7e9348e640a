// The catalog as an immutable snapshot: who may do what, with which Templates and tables. It is made by load-catalog.ts
// and replaced as a whole by CatalogStore; a Run keeps what it took from the snapshot it began with.
import type { RateLimit } from '../stores/rate-limiter.ts';
import type { EndpointName, KeyScope } from './access.ts';

/** A plan's limits. null = none. */
export interface Plan {
  readonly id: string;
  readonly uploadBytesMax: number | null;
  /** What an upload may inflate to, in bytes. */
  readonly inflatedBytesMax: number | null;
  readonly rowsMax: number | null;
  readonly outputRowsMax: number | null;
  readonly outputBytesMax: number | null;
  readonly runsInFlightMax: number | null;
  readonly runsPerPeriod: number | null;
  readonly period: 'day' | 'month';
  readonly rateLimits: Readonly<Record<EndpointName, RateLimit | null>>;
}

export interface ApiKey {
  readonly id: string;
  /** SHA-256 of the key, 64 lower-case hex digits. */
  readonly sha256: string;
  readonly scopes: ReadonlySet<KeyScope>;
  /** Milliseconds since 1970, null = never. */
  readonly expiresAt: number | null;
  /** A key that was revoked is dead, whatever the time. */
  readonly revoked: boolean;
}

export interface Subscription {
  readonly plan: Plan;
  /** Only "active" is active; any other word says why not. */
  readonly status: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

export interface CatalogTable {
  readonly path: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** As that of a CatalogFile: the same, and not null, when the file was not changed since. */
  readonly version: string | null;
}

/** How many tests stand in a Template, and the files that they name. */
export interface TestsNamed {
  readonly count: number;
  readonly files: readonly string[];
}

/** A Template of an account. `Checked` is what the Template checker made of it. */
export interface CatalogTemplate<Checked> {
  readonly id: string;
  /** Relative to the catalog, such as "templates/acme/orders.yaml". */
  readonly file: string;
  /** As that of a table. */
  readonly version: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly outputFormat: string | null;
  readonly format: 'json' | 'yaml';
  readonly source: string;
  /** Of the source's bytes, lower-case hex. */
  readonly sha256: string;
  readonly checked: Checked;
  readonly tests?: TestsNamed;
}

export interface Account<Checked = unknown> {
  readonly id: string;
  readonly name: string | null;
  readonly active: boolean;
  readonly subscription: Subscription | null;
  readonly keys: readonly ApiKey[];
  /** In the order of their ids. */
  readonly templates: ReadonlyMap<string, CatalogTemplate<Checked>>;
  /** By their catalog names. */
  readonly tables: ReadonlyMap<string, CatalogTable>;
  /** Names of the account's secrets; their contents are never in the snapshot. */
  readonly secrets: ReadonlySet<string>;
  /** Folder of the secrets, null when the account has none. */
  readonly secretsDirectory: string | null;
}

export class Catalog<Checked = unknown> {
  readonly directory: string;
  readonly plans: ReadonlyMap<string, Plan>;
  readonly accounts: ReadonlyMap<string, Account<Checked>>;
  #keys = new Map<string, { readonly account: Account<Checked>; readonly key: ApiKey }>();

  constructor(directory: string, plans: ReadonlyMap<string, Plan>, accounts: ReadonlyMap<string, Account<Checked>>) {
    this.directory = directory;
    this.plans = plans;
    this.accounts = accounts;
    for (const account of accounts.values()) {
      for (const key of account.keys) this.#keys.set(key.sha256, { account, key });
    }
  }

  account(id: string): Account<Checked> | undefined {
    return this.accounts.get(id);
  }

  template(account: string, id: string): CatalogTemplate<Checked> | undefined {
    return this.accounts.get(account)?.templates.get(id);
  }

  /** The key with this digest (lower-case hex), live or not. A digest is not secret: no constant time is needed. */
  keyByDigest(sha256: string): { readonly account: Account<Checked>; readonly key: ApiKey } | undefined {
    return this.#keys.get(sha256);
  }
}
