// Takes away from a catalog in force what newer files no longer grant: keys, scopes, accounts, subscriptions. It gives
// nothing: what is new waits until the catalog is sound as a whole.
import { type Account, type ApiKey, Catalog, type Subscription } from './catalog.ts';
import type { Access } from './read-access.ts';
import type { AccountRecord } from './read-account.ts';

/** The catalog with no more rights than `access` gives; the same object where it gives them all. */
export function withdrawAccess<Checked>(catalog: Catalog<Checked>, access: Access): Catalog<Checked> {
  let isNarrower = false;
  const accounts = new Map<string, Account<Checked>>();
  for (const [id, account] of catalog.accounts) {
    const narrowed = narrowedAccount(account, access);
    accounts.set(id, narrowed);
    if (narrowed !== account) isNarrower = true;
  }
  return isNarrower ? new Catalog(catalog.directory, catalog.plans, accounts) : catalog;
}

const NO_ACCOUNT: AccountRecord = { name: null, active: false, subscription: null, keys: [] };

function narrowedAccount<Checked>(account: Account<Checked>, { accounts, isWhole }: Access): Account<Checked> {
  const file = accounts.get(account.id);
  if (file === undefined && !isWhole) return account;
  // A file that is wrong somewhere may lack what its writer meant to leave.
  if (file !== undefined && (!file.isSound || file.record === null)) return account;
  const record = file?.record ?? NO_ACCOUNT;
  const active = account.active && record.active;
  const subscription = narrowedSubscription(account.subscription, record.subscription);
  const granted = new Map(record.keys.map((key) => [key.sha256, key]));
  const keys = account.keys.flatMap((key) => {
    const left = granted.get(key.sha256);
    return left === undefined ? [] : [narrowedKey(key, left)];
  });
  const isSame =
    active === account.active &&
    subscription === account.subscription &&
    keys.length === account.keys.length &&
    keys.every((key, index) => key === account.keys[index]);
  return isSame ? account : { ...account, active, subscription, keys };
}

/** Limits are no rights: those of another plan wait with the rest. */
function narrowedSubscription(held: Subscription | null, granted: Subscription | null): Subscription | null {
  if (held === null || granted === null) return null;
  const isEnded = granted.status !== 'active' && granted.status !== held.status;
  return isEnded ? { ...held, status: granted.status } : held;
}

function narrowedKey(held: ApiKey, granted: ApiKey): ApiKey {
  const revoked = held.revoked || granted.revoked;
  const expiresAt = Math.min(held.expiresAt ?? Infinity, granted.expiresAt ?? Infinity);
  const scopes = [...held.scopes].filter((scope) => granted.scopes.has(scope));
  const isSame =
    revoked === held.revoked && expiresAt === (held.expiresAt ?? Infinity) && scopes.length === held.scopes.size;
  if (isSame) return held;
  return { ...held, revoked, expiresAt: expiresAt === Infinity ? null : expiresAt, scopes: new Set(scopes) };
}
