// Changes accounts/<account>.json for the commands: every change is checked like the catalog itself before it is written.
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plan } from './catalog.ts';
import { SLUG, SLUG_RULE } from './field-reader.ts';
import { changeFile, removeFile } from './locked-file.ts';
import { ProblemList, problemText } from './problems.ts';
import { readAccount } from './read-account.ts';
import { readJson } from './read-json.ts';
import { readPlans } from './read-plans.ts';

/** A key as it stands in the file. */
export interface KeyText {
  id: string;
  sha256: string;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
}

/** An account as it stands in the file. */
export interface AccountText {
  name: string | null;
  active: boolean;
  subscription: { plan: string; status: string; started_at: string } | null;
  keys: KeyText[];
}

/** The account or the catalog is not as the change needs it; the message says what is wrong. */
export class AccountEditError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AccountEditError';
  }
}

/** Writes a new account's file. Throws AccountEditError when there is one. */
export async function addAccount(catalog: string, account: string, text: AccountText): Promise<void> {
  const plans = await plansOf(catalog);
  const path = accountPath(catalog, account);
  await mkdir(join(catalog, 'accounts'), { recursive: true, mode: 0o700 });
  await changeFile(path, (before) => {
    if (before !== null) throw new AccountEditError(`The account ${account} exists.`);
    return checkedText(account, text, plans);
  });
}

/** Changes an account in place; `change` may be called more than once. Throws AccountEditError when it comes out wrong. */
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

/** Folders of the catalog in which an account has one of its own. */
const ACCOUNT_FOLDERS = ['templates', 'tables', 'secrets'] as const;

/**
 * Removes an account, and with `withFiles` its Templates, tables and secrets, which a catalog may not hold without their
 * account: they go first, so that what is left if this is cut short is a sound catalog.
 */
export async function removeAccount(catalog: string, account: string, withFiles: boolean): Promise<void> {
  const path = accountPath(catalog, account);
  const folders = ACCOUNT_FOLDERS.map((name) => join(catalog, name, account));
  const removed = await removeFile(path, async () => {
    const kept = await Promise.all(folders.map(hasFiles));
    const left = folders.filter((_, index) => kept[index]);
    if (left.length > 0 && !withFiles) {
      throw new AccountEditError(`The account has files in ${left.join(', ')}: write --with-files to remove them too.`);
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

/** Throws AccountEditError when there is no such account or its file is wrong. */
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
    throw new AccountEditError(`${JSON.stringify(account)} is no account's id: write ${SLUG_RULE}.`);
  return join(catalog, 'accounts', `${account}.json`);
}

async function plansOf(catalog: string): Promise<ReadonlyMap<string, Plan>> {
  const bytes = await readFile(join(catalog, 'plans.json')).catch((fault: NodeJS.ErrnoException) => {
    throw new AccountEditError(`${catalog} is no catalog: plans.json cannot be read (${fault.code}).`);
  });
  const problems = new ProblemList();
  const plans = readPlans('plans.json', readJson('plans.json', bytes, problems), problems);
  refuse(problems);
  return plans;
}

/** Fields that are absent are filled in, so that a change finds them. */
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
