// Writes a catalog folder from a description and makes the API keys that open it. Knows only the layout of the folder.
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noise } from '../random.ts';

export type KeyScope = 'templates:read' | 'runs:write' | 'runs:read';
export const ALL_SCOPES: readonly KeyScope[] = ['templates:read', 'runs:write', 'runs:read'];

export interface KeyDescription {
  readonly scopes: readonly KeyScope[];
  readonly expires_at?: string;
  readonly revoked_at?: string;
}

export interface AccountDescription {
  /** Name of the plan; null: no subscription. Default "wide". */
  readonly plan?: string | null;
  readonly startedAt?: string;
  readonly active?: boolean;
  /** Default: one key "full" with every scope. */
  readonly keys?: Readonly<Record<string, KeyDescription>>;
  /** Templates by id; a text is written as YAML. */
  readonly templates?: Readonly<Record<string, object | string>>;
}

export interface CatalogDescription {
  /** Plans in addition to "wide", whose limits no test reaches. */
  readonly plans?: Readonly<Record<string, object>>;
  readonly accounts: Readonly<Record<string, AccountDescription>>;
  /** Other files by their path: tables, secrets. */
  readonly others?: Readonly<Record<string, string>>;
}

const RATE_WIDE = { requests: 1_000_000, window_seconds: 1 };

/** A plan without limits in the way, but for those given. */
export function plan(limits: Readonly<Record<string, unknown>> = {}): object {
  const { rate_limits: rates, ...rest } = limits;
  return {
    upload_bytes_max: 64 * 1024 * 1024,
    rows_max: 1_000_000,
    output_rows_max: null,
    runs_in_flight_max: null,
    runs_per_period: null,
    period: 'month',
    ...rest,
    rate_limits: {
      list_templates: RATE_WIDE,
      create_run: RATE_WIDE,
      get_run: RATE_WIDE,
      get_run_output: RATE_WIDE,
      get_run_rejects: RATE_WIDE,
      get_usage: RATE_WIDE,
      ...(rates as object | undefined),
    },
  };
}

/** One operation of a Template, in the form in which the file contains it. */
export function step(name: string, parameters: object = {}): object {
  return { op: name, ...parameters };
}

export function template(operations: readonly object[], rest: object = {}): object {
  return { format: 1, name: 'Black box', operations, output: { format: 'csv' }, ...rest };
}

/** The Template that most cases use: needs `id` and `amount`, writes `id,total`. */
export const PICK = template([
  step('select', { columns: ['id', 'amount'] }),
  step('rename', { columns: { amount: 'total' } }),
]);

export class CatalogFolder {
  readonly folder: string;
  readonly #keys = new Map<string, string>();

  constructor(folder: string, description: CatalogDescription) {
    this.folder = folder;
    this.write('plans.json', { wide: plan(), ...description.plans });
    for (const [path, content] of Object.entries(description.others ?? {})) this.write(path, content);
    for (const [id, account] of Object.entries(description.accounts)) {
      this.writeAccount(id, account);
      for (const [name, content] of Object.entries(account.templates ?? { pick: PICK })) {
        this.writeTemplate(id, name, content);
      }
    }
  }

  /** The key's text; the catalog holds its digest. */
  key(account: string, name = 'full'): string {
    const id = `${account}/${name}`;
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    const made = `trs_${account}.${this.#keys.size + 1}_${base62(32)}`;
    this.#keys.set(id, made);
    return made;
  }

  writeAccount(id: string, account: AccountDescription): void {
    const keys = Object.entries(account.keys ?? { full: { scopes: ALL_SCOPES } });
    const startedAt = account.startedAt ?? '2026-01-31T00:00:00Z';
    this.write(join('accounts', `${id}.json`), {
      name: `Account ${id}`,
      active: account.active ?? true,
      subscription:
        account.plan === null ? null : { plan: account.plan ?? 'wide', status: 'active', started_at: startedAt },
      keys: keys.map(([name, key]) => ({
        id: name,
        sha256: createHash('sha256').update(this.key(id, name)).digest('hex'),
        scopes: key.scopes,
        created_at: '2026-01-01T00:00:00Z',
        expires_at: key.expires_at ?? null,
        revoked_at: key.revoked_at ?? null,
      })),
    });
  }

  writeTemplate(account: string, id: string, content: object | string): void {
    const ending = typeof content === 'string' ? 'yaml' : 'json';
    this.write(join('templates', account, `${id}.${ending}`), content);
  }

  removeTemplate(account: string, id: string): void {
    this.remove(join('templates', account, `${id}.json`));
  }

  remove(path: string): void {
    rmSync(join(this.folder, path));
  }

  /** Whatever text, sound or not, in one move. */
  write(path: string, content: object | string): void {
    const target = join(this.folder, path);
    mkdirSync(join(target, '..'), { recursive: true });
    const beside = `${this.folder}.next`;
    writeFileSync(beside, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    renameSync(beside, target);
  }
}

const nextDigit = noise(1);

function base62(length: number): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  return Array.from({ length }, () => digits[nextDigit(digits.length)]).join('');
}
