// The catalog as an immutable snapshot: accounts, their access, and their Templates and tables. Created by
// load-catalog.ts and replaced as a whole by CatalogStore. A Run keeps using the snapshot with which it began.

import { createHash } from 'node:crypto';
import type { RateLimit } from '../stores/rate-limiter.ts';

// Names that keys and plans may use: the scopes of a key, and the endpoints whose rate a plan can limit. The scope
// that an endpoint requires is in its record (src/routes).

export const ENDPOINT_NAMES = [
  'list_templates',
  'create_run',
  'get_run',
  'get_run_output',
  'get_run_rejects',
  'get_usage',
] as const;
export type EndpointName = (typeof ENDPOINT_NAMES)[number];

export const KEY_SCOPES = ['templates:read', 'runs:write', 'runs:read'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The limits of a plan; null: unlimited. */
export interface Plan {
  readonly id: string;
  readonly uploadBytesMax: number | null;
  /** Maximum size of an upload after decompression, in bytes. */
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
  /** Milliseconds since 1970; null: never. */
  readonly expiresAt: number | null;
  /** A revoked key is invalid regardless of its expiry time. */
  readonly revoked: boolean;
}

export interface Subscription {
  readonly plan: Plan;
  /** "active", or any other word, such as "cancelled", which states why the subscription is not active. */
  readonly status: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

export interface CatalogTable {
  readonly path: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Version as in CatalogFile. Equal versions other than null mean that the file has not changed. */
  readonly version: string | null;
}

/** Number of tests in a Template, and the files that they use. */
export interface TemplateTestSummary {
  readonly count: number;
  readonly files: readonly string[];
}

/** A Template of an account. `Checked` is the result of the Template checker. */
/** A column that a Template reads from the file. Contains words of the Template only. */
export interface TemplateColumn {
  /** Headers under which the column is found, the first one preferred; at least one. */
  readonly headers: readonly string[];
  readonly isRequired: boolean;
}

export interface CatalogTemplate<Checked> {
  readonly id: string;
  /** Path relative to the catalog, such as "templates/acme/orders.yaml". */
  readonly file: string;
  /** Like `version` of a table. */
  readonly version: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly outputFormat: string | null;
  /** The first columns; absent: unknown. */
  readonly columns?: readonly TemplateColumn[];
  readonly format: 'json' | 'yaml';
  readonly source: string;
  /** Digest of the source's bytes, lower-case hex. */
  readonly sha256: string;
  readonly checked: Checked;
  readonly tests?: TemplateTestSummary;
}

export interface Account<Checked = unknown> {
  readonly id: string;
  readonly name: string | null;
  readonly active: boolean;
  readonly subscription: Subscription | null;
  readonly keys: readonly ApiKey[];
  /** Sorted by id. */
  readonly templates: ReadonlyMap<string, CatalogTemplate<Checked>>;
  /** Tables by catalog name. */
  readonly tables: ReadonlyMap<string, CatalogTable>;
  /** Names of the account's secrets; the snapshot never contains their values. */
  readonly secrets: ReadonlySet<string>;
  /** Folder of the secrets; null: the account has no secrets. */
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

  /**
   * Returns the key with this digest (lower-case hex), even if it is expired or revoked. A digest is not secret, so the
   * lookup need not take constant time.
   */
  keyByDigest(sha256: string): { readonly account: Account<Checked>; readonly key: ApiKey } | undefined {
    return this.#keys.get(sha256);
  }
}

// Digest of a catalog's content, by which operators can compare whether several nodes have the same catalog.

/** Hex digits of the digest, enough to distinguish a handful of catalogs. */
const DIGEST_DIGITS = 16;

/** Computes the digest once per snapshot. */
export class CatalogDigests {
  readonly #known = new WeakMap<Catalog<unknown>, string>();

  of(catalog: Catalog<unknown>): string {
    const known = this.#known.get(catalog);
    if (known !== undefined) return known;
    const hash = createHash('sha256');
    for (const id of [...catalog.accounts.keys()].sort()) {
      hash.update(JSON.stringify(contentOf(catalog.accounts.get(id)!)));
    }
    const digest = hash.digest('hex').slice(0, DIGEST_DIGITS);
    this.#known.set(catalog, digest);
    return digest;
  }
}

/** Leaves out paths and versions of files, which differ from machine to machine. */
function contentOf({ id, name, active, subscription, keys, templates, tables, secrets }: Account): unknown {
  return [
    id,
    name,
    active,
    subscription,
    keys.map(({ scopes, ...key }) => ({ ...key, scopes: [...scopes].sort() })),
    [...templates].map(([template, { sha256 }]) => [template, sha256]),
    [...tables].map(([table, { sha256 }]) => [table, sha256]).sort(),
    [...secrets].sort(),
  ];
}
