// Who may do what: reads plans.json and accounts/ of a catalog. What each file says is kept beside whether it is sound by
// itself, so that rights can be taken away before the rest of the catalog has been looked at.
import type { Plan } from './catalog.ts';
import type { CatalogFile, CatalogFolder } from './catalog-folder.ts';
import { ACCOUNT_FILE_BYTES_MAX, PLANS_FILE_BYTES_MAX } from './catalog-limits.ts';
import { SLUG, SLUG_RULE } from './field-reader.ts';
import { ProblemList } from './problems.ts';
import { type AccountRecord, readAccount } from './read-account.ts';
import { readJson } from './read-json.ts';
import { readPlans } from './read-plans.ts';

export interface AccessFile {
  /** Null after a problem with the whole file. */
  readonly record: AccountRecord | null;
  /** Nothing is wrong with the file: what it does not grant is not granted. */
  readonly isSound: boolean;
  readonly version: string | null;
}

export interface Access {
  /** Empty after a problem with the whole file. */
  readonly plans: ReadonlyMap<string, Plan>;
  readonly plansVersion: string | null;
  /** By account. */
  readonly accounts: ReadonlyMap<string, AccessFile>;
  /** The folder of the accounts was read whole: an account that is not in it is none. */
  readonly isWhole: boolean;
  readonly problems: ProblemList;
}

/** @param before what was read last: files that have not changed since are taken over from it */
export async function readAccess(catalog: CatalogFolder, before?: Access): Promise<Access> {
  const problems = new ProblemList();
  const folder = catalog.reportingTo(problems);
  const { plans, plansVersion } = await loadPlans(folder, before, problems);
  // Accounts are measured by the plans that go on, where the new ones are bad: else each of them would be bad too.
  const known = plans ?? before?.plans ?? new Map<string, Plan>();
  const reusable = before?.plans === known ? before.accounts : new Map<string, AccessFile>();
  const counted = problems.count;
  const files = await folder.list('accounts');
  if (files.length === 0 && before !== undefined && before.accounts.size > 0) {
    problems.add(
      'accounts',
      '',
      'is missing or empty, and was not before: the old accounts go on. Take rights away in their files.',
    );
    // All stays what was read before, also the plans by which they were measured: the next reading, with the folder still away,
    // must not take none for all there are.
    return { ...before, isWhole: false, problems };
  }
  const isWhole = problems.count === counted;
  const accounts = new Map<string, AccessFile>();
  const keyPlaces = new Map<string, string>();
  for (const file of files) {
    const id = file.name.replace(/\.json$/, '');
    const isNamed = id !== file.name && SLUG.test(id);
    if (id === file.name) problems.add(file.file, '', 'is no account: accounts are .json files.');
    else if (!isNamed) problems.add(file.file, '', `has no id for an account: write ${SLUG_RULE}.`);
    else accounts.set(id, await loadAccount(folder, file, { known, reusable: reusable.get(id), keyPlaces, problems }));
  }
  return { plans: known, plansVersion, accounts, isWhole, problems };
}

async function loadPlans(
  folder: CatalogFolder,
  before: Access | undefined,
  problems: ProblemList,
): Promise<{ readonly plans: ReadonlyMap<string, Plan> | null; readonly plansVersion: string | null }> {
  const file = await folder.find('plans.json');
  if (file !== null && file.version !== null && file.version === before?.plansVersion) return before;
  const counted = problems.count;
  if (file === null) problems.add('plans.json', '', 'is missing: write the plans, such as {"starter": {}}.');
  const bytes = file === null ? null : await folder.read(file, PLANS_FILE_BYTES_MAX);
  const value = bytes === null ? undefined : readJson('plans.json', bytes, problems);
  const plans = value === undefined ? null : readPlans('plans.json', value, problems);
  const isSound = problems.count === counted;
  return { plans, plansVersion: isSound ? (file?.version ?? null) : null };
}

interface AccountParts {
  readonly known: ReadonlyMap<string, Plan>;
  /** What was read of the file before. */
  readonly reusable: AccessFile | undefined;
  /** Files by the digests of the keys in them. */
  readonly keyPlaces: Map<string, string>;
  readonly problems: ProblemList;
}

async function loadAccount(
  folder: CatalogFolder,
  file: CatalogFile,
  { known, reusable, keyPlaces, problems }: AccountParts,
): Promise<AccessFile> {
  const counted = problems.count;
  let record: AccountRecord | null;
  if (file.version !== null && file.version === reusable?.version) ({ record } = reusable);
  else {
    const bytes = await folder.read(file, ACCOUNT_FILE_BYTES_MAX);
    const value = bytes === null ? undefined : readJson(file.file, bytes, problems);
    record = value === undefined ? null : readAccount(file.file, value, known, problems);
  }
  for (const [index, { sha256 }] of (record?.keys ?? []).entries()) {
    const place = keyPlaces.get(sha256);
    if (place !== undefined)
      problems.add(file.file, `/keys/${index}/sha256`, `is also the digest of a key in ${place}.`);
    keyPlaces.set(sha256, file.file);
  }
  const isSound = problems.count === counted;
  return { record, isSound, version: isSound ? file.version : null };
}
