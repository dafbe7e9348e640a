// Reads a catalog folder whole into a snapshot, or into the list of everything that is wrong with it. Between files it
// lets the event loop turn, so that a running node can do it beside its work.
import { suggestion } from '../../workers/template/suggestion.ts';
import { type Account, Catalog, type Plan } from './catalog.ts';
import { type CatalogFile, CatalogFolder } from './catalog-folder.ts';
import { ACCOUNT_FILE_BYTES_MAX, PLANS_FILE_BYTES_MAX } from './catalog-limits.ts';
import { SLUG, SLUG_RULE } from './field-reader.ts';
import { type CatalogProblem, ProblemList } from './problems.ts';
import { type AccountRecord, readAccount } from './read-account.ts';
import { readJson } from './read-json.ts';
import { readPlans } from './read-plans.ts';
import { readSecrets, readTables, readTemplates } from './read-templates.ts';
import type { CheckTemplate } from './template-checker.ts';

export type LoadedCatalog<Checked> =
  | { readonly ok: true; readonly catalog: Catalog<Checked> }
  /** `more`: problems that were found and not listed. */
  | { readonly ok: false; readonly problems: readonly CatalogProblem[]; readonly more: number };

const FOLDERS = ['accounts', 'templates', 'tables', 'secrets'];

/** @param before the snapshot that is in force: what has not changed since is taken over from it */
export async function loadCatalog<Checked>(
  directory: string,
  checkTemplate: CheckTemplate<Checked>,
  before?: Catalog<Checked>,
): Promise<LoadedCatalog<Checked>> {
  const problems = new ProblemList();
  const folder = await CatalogFolder.open(directory, problems);
  if (folder === null) return { ok: false, problems: problems.problems, more: 0 };
  await checkTopLevel(folder, problems);
  const plans = await loadPlans(folder, problems);
  const records = await loadAccounts(folder, plans, problems);
  await checkOwners(folder, records, problems);
  const accounts = new Map<string, Account<Checked>>();
  for (const [id, record] of records) {
    const folders = { account: id, folder, before: before?.account(id), problems };
    const tables = await readTables(folders);
    const secrets = await readSecrets(folders);
    const templates = await readTemplates(folders, { tables, secrets }, checkTemplate);
    const secretsFolder = secrets.size > 0 ? await folder.find(`secrets/${id}`) : null;
    accounts.set(id, { id, ...record, templates, tables, secrets, secretsDirectory: secretsFolder?.path ?? null });
  }
  if (problems.empty) return { ok: true, catalog: new Catalog(directory, plans, accounts) };
  return { ok: false, problems: problems.problems, more: problems.more };
}

/** A folder whose name is nearly one of ours would be left out in silence. */
async function checkTopLevel(folder: CatalogFolder, problems: ProblemList): Promise<void> {
  for (const { name, isDirectory } of await folder.list('')) {
    if (FOLDERS.includes(name) === isDirectory) continue;
    if (!isDirectory) problems.add(name, '', 'is a file where a folder is expected.');
    else if (suggestion(name, FOLDERS) !== '') problems.add(name, '', `is not read.${suggestion(name, FOLDERS)}`);
  }
}

async function loadPlans(folder: CatalogFolder, problems: ProblemList): Promise<ReadonlyMap<string, Plan>> {
  const file = await folder.find('plans.json');
  if (file === null) problems.add('plans.json', '', 'is missing: write the plans, such as {"starter": {}}.');
  const bytes = file === null ? null : await folder.read(file, PLANS_FILE_BYTES_MAX);
  const value = bytes === null ? undefined : readJson('plans.json', bytes, problems);
  return value === undefined ? new Map() : readPlans('plans.json', value, problems);
}

async function loadAccounts(
  folder: CatalogFolder,
  plans: ReadonlyMap<string, Plan>,
  problems: ProblemList,
): Promise<Map<string, AccountRecord>> {
  const records = new Map<string, AccountRecord>();
  const keyPlaces = new Map<string, string>();
  for (const file of await folder.list('accounts')) {
    const id = file.name.replace(/\.json$/, '');
    const isNamed = id !== file.name && SLUG.test(id);
    if (id === file.name) problems.add(file.file, '', 'is no account: accounts are .json files.');
    else if (!isNamed) problems.add(file.file, '', `has no id for an account: write ${SLUG_RULE}.`);
    const record = isNamed ? await loadAccount(folder, file, plans, problems) : null;
    if (record === null) continue;
    records.set(id, record);
    for (const [index, { sha256 }] of record.keys.entries()) {
      const place = keyPlaces.get(sha256);
      if (place !== undefined)
        problems.add(file.file, `/keys/${index}/sha256`, `is also the digest of a key in ${place}.`);
      keyPlaces.set(sha256, file.file);
    }
  }
  return records;
}

async function loadAccount(
  folder: CatalogFolder,
  file: CatalogFile,
  plans: ReadonlyMap<string, Plan>,
  problems: ProblemList,
): Promise<AccountRecord | null> {
  const bytes = await folder.read(file, ACCOUNT_FILE_BYTES_MAX);
  const value = bytes === null ? undefined : readJson(file.file, bytes, problems);
  return value === undefined ? null : readAccount(file.file, value, plans, problems);
}

async function checkOwners(
  folder: CatalogFolder,
  records: ReadonlyMap<string, AccountRecord>,
  problems: ProblemList,
): Promise<void> {
  for (const kind of ['templates', 'tables', 'secrets']) {
    for (const { file, name, isDirectory } of await folder.list(kind)) {
      if (!isDirectory) problems.add(file, '', `must lie in the folder of an account: ${kind}/<account>/.`);
      else if (!records.has(name)) {
        problems.add(file, '', `belongs to no account in accounts/.${suggestion(name, records.keys())}`);
      }
    }
  }
}
