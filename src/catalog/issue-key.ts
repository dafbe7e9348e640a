// Makes API keys. The key itself is returned once and kept nowhere: the catalog gets its SHA-256.
import { createHash, randomInt } from 'node:crypto';
import { KEY_SCOPES, type KeyScope } from './access.ts';
import { type AccountText, changeAccount, type KeyText } from './account-editor.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 32 of 62 letters are 190.5 bits. */
const SECRET_LENGTH = 32;

export interface IssuedKey {
  /** `trs_<account>.<n>_<secret>`, to be shown once. */
  readonly key: string;
  /** n: the key's id in the account. */
  readonly id: string;
}

/** Adds a key to an account in the catalog. Throws AccountEditError. */
export async function issueKey(
  catalog: string,
  account: string,
  options: { readonly scopes?: readonly KeyScope[]; readonly expiresAt?: string | null } = {},
): Promise<IssuedKey> {
  const secret = Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('');
  let issued: IssuedKey = { key: '', id: '' };
  await changeAccount(catalog, account, (text) => {
    const id = String(nextNumber(text));
    const key = `trs_${account}.${id}_${secret}`;
    text.keys.push(keyText(key, id, options.scopes ?? KEY_SCOPES, options.expiresAt ?? null));
    issued = { key, id };
  });
  return issued;
}

function keyText(key: string, id: string, scopes: readonly KeyScope[], expiresAt: string | null): KeyText {
  const sha256 = createHash('sha256').update(key).digest('hex');
  const createdAt = new Date().toISOString();
  return { id, sha256, scopes: [...scopes], created_at: createdAt, expires_at: expiresAt, revoked_at: null };
}

/** Above every number in use: an id is never given twice, however many keys were revoked. */
function nextNumber(text: AccountText): number {
  const numbers = text.keys.map((key) => Number(/^\d{1,9}$/.test(key.id) ? key.id : 0));
  return Math.max(0, ...numbers) + 1;
}
