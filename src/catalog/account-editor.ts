// Changes accounts/<account>.json for the commands: generates API keys, and replaces files atomically.

import { createHash, randomInt } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KEY_SCOPES, type KeyScope, type Plan } from './catalog.ts';
import { readJson, SLUG, SLUG_RULE } from './field-reader.ts';
import { ProblemList, problemText } from './problems.ts';
import { readAccount, readPlans } from './read-access.ts';

// Changes a small file of the catalog atomically: readers never see half a file, and concurrent writers do not lose
// changes. Uses a lock file, a temporary file, fsync and rename. Changes by an editor that ignores the lock are
// detected by the file's times.

const LOCK_WAIT_MILLISECONDS = 10_000;
const LOCK_RETRY_MILLISECONDS = 25;

/** Number of attempts to apply a change if the file is modified in the meantime. */
const ATTEMPTS_MAX = 5;

/** Only the owner can read accounts, because they contain digests of keys. */
const FILE_MODE = 0o600;

/** A living process does not release the lock, or another program keeps writing the file. */
export class FileBusyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FileBusyError';
  }
}

/**
 * Replaces a file's text with the result of `change` (null: the file does not exist). `change` may be called several
 * times. If it throws, the file stays unchanged. If it returns null, nothing is written.
 */
export async function changeFile(path: string, change: (text: string | null) => string | null): Promise<void> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const lock = join(dirname(path), `.${name}.lock`);
  await takeLock(lock);
  try {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const version = await versionOf(path);
      const text = version === null ? null : await readFile(path, 'utf8');
      const changed = change(text);
      if (changed === null) return;
      if (await replace(path, changed, version)) return;
    }
    throw new FileBusyError(
      `${path} was changed by another program during every attempt to write it: nothing was written. Try again`,
    );
  } finally {
    await rm(lock, { force: true });
  }
}

/**
 * Removes a file under its lock. Runs `before` first, under the same lock. Returns false if the file does not exist.
 */
async function removeFile(path: string, before: () => Promise<void>): Promise<boolean> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const lock = join(dirname(path), `.${name}.lock`);
  await takeLock(lock);
  try {
    if ((await versionOf(path)) === null) return false;
    await before();
    await rm(path);
    return true;
  } finally {
    await rm(lock, { force: true });
  }
}

/** False if the file has changed since `version`. */
async function replace(path: string, text: string, version: string | null): Promise<boolean> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const temporaryPath = join(dirname(path), `.${name}.${process.pid}.tmp`);
  try {
    const file = await open(temporaryPath, 'w', FILE_MODE);
    try {
      await file.chmod(FILE_MODE);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if ((await versionOf(path)) !== version) return false;
    if (version === null) {
      // Unlike rename, link never replaces a file created in the meantime.
      return await link(temporaryPath, path).then(() => true, existsInstead);
    }
    await rename(temporaryPath, path);
  } finally {
    await rm(temporaryPath, { force: true });
  }
  await syncDirectory(dirname(path));
  return true;
}

async function takeLock(lock: string): Promise<void> {
  const deadline = performance.now() + LOCK_WAIT_MILLISECONDS;
  for (;;) {
    try {
      const file = await open(lock, 'wx', FILE_MODE);
      await file.writeFile(String(process.pid)).finally(() => file.close());
      return;
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault;
    }
    if (await removeDeadLock(lock)) continue;
    if (performance.now() > deadline)
      throw new FileBusyError(
        `${lock} is locked by another command: wait for it, or remove this file if no other command is running`,
      );
    await sleep(LOCK_RETRY_MILLISECONDS);
  }
}

/**
 * Removes the lock of a process that was killed. If two processes find the lock, both try to rename it, and only one
 * succeeds.
 */
async function removeDeadLock(lock: string): Promise<boolean> {
  const text = await readFile(lock, 'utf8').catch(() => null);
  if (text === null) return true;
  if (!/^\d+$/.test(text) || isAlive(Number(text))) return false;
  const dead = `${lock}.${process.pid}`;
  if (
    !(await rename(lock, dead).then(
      () => true,
      () => false,
    ))
  )
    return true;
  const moved = await readFile(dead, 'utf8');
  // Another process had removed the dead lock and taken a new one in between, so its lock is restored.
  if (moved !== text) await link(dead, lock).catch(() => undefined);
  await rm(dead, { force: true });
  return true;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

async function versionOf(path: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fault;
  }
}

function existsInstead(fault: NodeJS.ErrnoException): boolean {
  if (fault.code === 'EEXIST') return false;
  throw fault;
}

/** A rename survives a power loss only after its folder has been synced. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}

// Changes accounts/<account>.json for the commands. Every change is checked with the rules of the catalog before it
// is written.

/** An API key as it is stored in the file of its account. */
interface KeyText {
  id: string;
  sha256: string;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
}

/** An account as it is stored in its file. */
export interface AccountText {
  name: string | null;
  active: boolean;
  subscription: { plan: string; status: string; started_at: string } | null;
  keys: KeyText[];
}

/** The change does not fit the account or the catalog; the message gives the reason. */
export class AccountEditError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AccountEditError';
  }
}

/** Writes a new account's file. Throws AccountEditError if it exists. */
export async function addAccount(catalog: string, account: string, text: AccountText): Promise<void> {
  const plans = await plansOf(catalog);
  const path = accountPath(catalog, account);
  await mkdir(join(catalog, 'accounts'), { recursive: true, mode: 0o700 });
  await changeFile(path, (before) => {
    if (before !== null) throw new AccountEditError(`The account ${account} already exists.`);
    return checkedText(account, text, plans);
  });
}

/**
 * Changes an account's file. `change` may be called several times. Throws AccountEditError if the result is invalid.
 */
export async function changeAccount(
  catalog: string,
  account: string,
  change: (text: AccountText) => void,
): Promise<void> {
  const plans = await plansOf(catalog);
  await changeFile(accountPath(catalog, account), (before) => {
    if (before === null) throw new AccountEditError(`There is no account ${account} in ${join(catalog, 'accounts')}.`);
    const text = parseAccount(account, Buffer.from(before), plans);
    change(text);
    return checkedText(account, text, plans);
  });
}

/** Folders of the catalog that have a subfolder for each account. */
const ACCOUNT_FOLDERS = ['templates', 'tables', 'secrets'] as const;

/**
 * Removes an account, and with `withFiles` also its Templates, tables and secrets. These files are invalid without
 * their account, so they are removed first: if the removal is interrupted, the remaining catalog is valid.
 */
export async function removeAccount(catalog: string, account: string, withFiles: boolean): Promise<void> {
  const path = accountPath(catalog, account);
  const folders = ACCOUNT_FOLDERS.map((name) => join(catalog, name, account));
  const removed = await removeFile(path, async () => {
    const kept = await Promise.all(folders.map(hasFiles));
    const left = folders.filter((_, index) => kept[index]);
    if (left.length > 0 && !withFiles) {
      throw new AccountEditError(`The account has files in ${left.join(', ')}: add --with-files to remove them too.`);
    }
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return false;
    throw fault;
  });
  if (!removed) throw new AccountEditError(`There is no account ${account} in ${join(catalog, 'accounts')}.`);
}

async function hasFiles(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return [];
    throw fault;
  });
  return names.length > 0;
}

/** Throws AccountEditError if the account does not exist or its file is invalid. */
export async function readAccountText(catalog: string, account: string): Promise<AccountText> {
  const plans = await plansOf(catalog);
  const bytes = await readFile(accountPath(catalog, account)).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT')
      throw new AccountEditError(`There is no account ${account} in ${join(catalog, 'accounts')}.`);
    throw fault;
  });
  return parseAccount(account, bytes, plans);
}

function accountPath(catalog: string, account: string): string {
  if (!SLUG.test(account))
    throw new AccountEditError(`${JSON.stringify(account)} is not a valid account id: write ${SLUG_RULE}.`);
  return join(catalog, 'accounts', `${account}.json`);
}

async function plansOf(catalog: string): Promise<ReadonlyMap<string, Plan>> {
  const bytes = await readFile(join(catalog, 'plans.json')).catch((fault: NodeJS.ErrnoException) => {
    const problem =
      fault.code === 'ENOENT' ? 'plans.json does not exist.' : `plans.json cannot be read (${fault.code}).`;
    throw new AccountEditError(`${catalog} is not a catalog: ${problem}`);
  });
  const problems = new ProblemList();
  const plans = readPlans('plans.json', readJson('plans.json', bytes, problems), problems);
  refuse(problems);
  return plans;
}

/** Adds default values for absent fields, so that a change can rely on every field. */
function parseAccount(account: string, bytes: Buffer, plans: ReadonlyMap<string, Plan>): AccountText {
  const problems = new ProblemList();
  const value = readJson(`accounts/${account}.json`, bytes, problems);
  if (value !== undefined) readAccount(`accounts/${account}.json`, value, plans, problems);
  refuse(problems);
  return { name: null, active: true, subscription: null, keys: [], ...(value as Partial<AccountText>) };
}

function checkedText(account: string, text: AccountText, plans: ReadonlyMap<string, Plan>): string {
  const problems = new ProblemList();
  readAccount(`accounts/${account}.json`, text, plans, problems);
  refuse(problems);
  return `${JSON.stringify(text, null, 2)}\n`;
}

function refuse(problems: ProblemList): void {
  if (!problems.empty) throw new AccountEditError(problems.problems.map(problemText).join('\n'));
}

// Generates API keys. The key is returned once and stored nowhere; the catalog only gets its SHA-256.

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 32 characters of a 62-character alphabet give 190.5 bits. */
const SECRET_LENGTH = 32;

export interface IssuedKey {
  /** `trs_<account>.<n>_<secret>`, to be shown once. */
  readonly key: string;
  /** The number n, which is the key's id within the account. */
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

/** Returns a number greater than every id in use. Revoked keys stay in the file, so an id is never issued twice. */
function nextNumber(text: AccountText): number {
  const numbers = text.keys.map((key) => Number(/^\d{1,9}$/.test(key.id) ? key.id : 0));
  return Math.max(0, ...numbers) + 1;
}
