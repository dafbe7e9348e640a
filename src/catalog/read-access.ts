// Reads the access rights of a catalog from plans.json and accounts/, and revokes access that newer files no longer
// grant.
import { suggestion } from '../../workers/values/suggestion.ts';
import type { RateLimit } from '../stores/rate-limiter.ts';
import {
  type Account,
  type ApiKey,
  Catalog,
  ENDPOINT_NAMES,
  type EndpointName,
  KEY_SCOPES,
  type KeyScope,
  type Plan,
  type Subscription,
} from './catalog.ts';
import type { CatalogFile, CatalogFolder } from './catalog-folder.ts';
import { FieldReader, readJson, SLUG, SLUG_RULE } from './field-reader.ts';
import { ACCOUNT_FILE_BYTES_MAX, PLANS_FILE_BYTES_MAX, ProblemList } from './problems.ts';

// Reads accounts/<account>.json: name, subscription and keys of one account.

export interface AccountRecord {
  readonly name: string | null;
  readonly active: boolean;
  readonly subscription: Subscription | null;
  readonly keys: readonly ApiKey[];
}

const KEY_FIELDS = ['id', 'name', 'sha256', 'scopes', 'created_at', 'expires_at', 'revoked_at'];

/** A word such as "active", "cancelled" or "past_due". */
const STATUS = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

/** Null after a problem with the whole file. */
export function readAccount(
  file: string,
  value: unknown,
  plans: ReadonlyMap<string, Plan>,
  problems: ProblemList,
): AccountRecord | null {
  const fields = FieldReader.of(file, '', value, ['name', 'active', 'subscription', 'keys'], problems);
  if (fields === null) return null;
  const subscription = fields.child('subscription', ['plan', 'status', 'started_at']);
  const keys: ApiKey[] = [];
  const ids = new Set<string>();
  fields.list('keys').forEach((key, index) => {
    const keyFields = FieldReader.of(file, `/keys/${index}`, key, KEY_FIELDS, problems);
    const read = keyFields === null ? null : readKey(keyFields, ids, problems);
    if (read === null) return;
    keys.push(read);
    ids.add(read.id);
  });
  return {
    name: fields.text('name', 200),
    active: fields.boolean('active', true),
    subscription: subscription === null ? null : readSubscription(subscription, plans),
    keys,
  };
}

function readSubscription(fields: FieldReader, plans: ReadonlyMap<string, Plan>): Subscription | null {
  const name = fields.raw('plan');
  const plan = typeof name === 'string' ? plans.get(name) : undefined;
  if (plan === undefined) {
    const near = typeof name === 'string' ? suggestion(name, plans.keys()) : '';
    fields.problem('plan', `must be the name of a plan in plans.json.${near}`);
  }
  const status = fields.matching('status', STATUS, 'a word such as "active" or "cancelled"');
  if (fields.raw('started_at') === undefined) fields.problem('started_at', 'is missing: write a date and time.');
  const startedAt = fields.time('started_at');
  return plan === undefined || status === null || startedAt === null ? null : { plan, status, startedAt };
}

/** @param before ids of the earlier keys, in a set because a file of 2 MiB may contain some ten thousand keys */
function readKey(fields: FieldReader, before: ReadonlySet<string>, problems: ProblemList): ApiKey | null {
  const id = fields.text('id', 64);
  if (id === null || id === '') fields.problem('id', 'is missing: write a text such as "1".');
  else if (before.has(id)) fields.problem('id', 'is the id of an earlier key of this account.');
  fields.text('name', 200);
  const sha256 = fields.matching('sha256', /^[0-9a-fA-F]{64}$/, "the key's SHA-256, 64 hexadecimal digits");
  fields.time('created_at');
  const expiresAt = fields.time('expires_at');
  const revoked = (fields.raw('revoked_at') ?? null) !== null;
  fields.time('revoked_at');
  const scopes = readScopes(fields, problems);
  return id === null || sha256 === null ? null : { id, sha256: sha256.toLowerCase(), scopes, expiresAt, revoked };
}

function readScopes(fields: FieldReader, problems: ProblemList): ReadonlySet<KeyScope> {
  const scopes = new Set<KeyScope>();
  fields.list('scopes').forEach((value, index) => {
    const scope = KEY_SCOPES.find((each) => each === value);
    const near =
      scope === undefined && typeof value === 'string' && !problems.full ? suggestion(value, KEY_SCOPES) : '';
    if (scope === undefined) fields.problem('scopes', `item ${index} must be one of ${KEY_SCOPES.join(', ')}.${near}`);
    else scopes.add(scope);
  });
  return scopes;
}

// Reads plans.json: the limits of each plan, with defaults for absent ones.

const MEBIBYTE = 1024 ** 2;
const GIBIBYTE = 1024 ** 3;

/**
 * Defaults of absent limits, documented in docs/how-to/catalog.md. The rates suit a client that polls, not a load
 * test.
 */
const PLAN_DEFAULTS = {
  uploadBytesMax: 100 * MEBIBYTE,
  rowsMax: 1_000_000,
  outputRowsMax: null,
  runsInFlightMax: 4,
  runsPerPeriod: 10_000,
  period: 'month',
  rateLimits: {
    list_templates: { requests: 600, windowSeconds: 60 },
    create_run: { requests: 600, windowSeconds: 60 },
    get_run: { requests: 6000, windowSeconds: 60 },
    get_run_output: { requests: 600, windowSeconds: 60 },
    get_run_rejects: { requests: 600, windowSeconds: 60 },
    get_usage: { requests: 600, windowSeconds: 60 },
  },
} as const;

/**
 * Default of `inflated_bytes_max` and `output_bytes_max` as a multiple of `upload_bytes_max`, up to the maximum
 * below.
 */
const INFLATED_RATIO = 20;
const INFLATED_BYTES_MAX_DEFAULT = 20 * GIBIBYTE;

/** Upper bounds, which only mistakes exceed: more requests than a node can answer in a second, and about a year. */
const RATE_REQUESTS_MAX = 1_000_000_000;
const RATE_WINDOW_SECONDS_MAX = 366 * 86_400;

/**
 * Maximum of requests times seconds. Buckets count in thousandths of this unit, which must stay below 2^53 to be
 * exact.
 */
const RATE_CAPACITY_MAX = 4_000_000_000_000;

const PLAN_FIELDS = [
  'name',
  'description',
  'upload_bytes_max',
  'inflated_bytes_max',
  'rows_max',
  'output_rows_max',
  'output_bytes_max',
  'runs_in_flight_max',
  'runs_per_period',
  'period',
  'rate_limits',
];

/** @param value content of plans.json: plans by name */
export function readPlans(file: string, value: unknown, problems: ProblemList): ReadonlyMap<string, Plan> {
  const plans = new Map<string, Plan>();
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const all = FieldReader.of(file, '', value, names, problems);
  for (const id of all === null ? [] : names) {
    if (!SLUG.test(id)) all?.problem(id, `is not a valid name for a plan: write ${SLUG_RULE}.`);
    const fields = FieldReader.of(file, all?.pointerOf(id) ?? '', all?.raw(id), PLAN_FIELDS, problems);
    if (fields !== null) plans.set(id, readPlan(id, fields));
  }
  return plans;
}

function readPlan(id: string, fields: FieldReader): Plan {
  fields.text('name', 200);
  fields.text('description', 2000);
  const max = Number.MAX_SAFE_INTEGER;
  const uploadBytesMax = fields.limit('upload_bytes_max', 1, max, PLAN_DEFAULTS.uploadBytesMax);
  const derived =
    uploadBytesMax === null
      ? INFLATED_BYTES_MAX_DEFAULT
      : Math.min(uploadBytesMax * INFLATED_RATIO, INFLATED_BYTES_MAX_DEFAULT);
  return {
    id,
    uploadBytesMax,
    inflatedBytesMax: fields.limit('inflated_bytes_max', 1, max, derived),
    rowsMax: fields.limit('rows_max', 0, max, PLAN_DEFAULTS.rowsMax),
    outputRowsMax: fields.limit('output_rows_max', 0, max, PLAN_DEFAULTS.outputRowsMax),
    outputBytesMax: fields.limit('output_bytes_max', 1, max, derived),
    runsInFlightMax: fields.limit('runs_in_flight_max', 0, max, PLAN_DEFAULTS.runsInFlightMax),
    runsPerPeriod: fields.limit('runs_per_period', 0, max, PLAN_DEFAULTS.runsPerPeriod),
    period: fields.choice('period', ['day', 'month'], PLAN_DEFAULTS.period),
    rateLimits: readRateLimits(fields),
  };
}

function readRateLimits(fields: FieldReader): Record<EndpointName, RateLimit | null> {
  const limits: Record<EndpointName, RateLimit | null> = { ...PLAN_DEFAULTS.rateLimits };
  if (fields.raw('rate_limits') === null) {
    for (const endpoint of ENDPOINT_NAMES) limits[endpoint] = null;
    return limits;
  }
  const endpoints = fields.child('rate_limits', ENDPOINT_NAMES);
  for (const endpoint of ENDPOINT_NAMES) {
    if (endpoints === null || endpoints.raw(endpoint) === undefined) continue;
    const limit = endpoints.child(endpoint, ['requests', 'window_seconds']);
    limits[endpoint] = limit === null ? null : readRateLimit(limit);
  }
  return limits;
}

function readRateLimit(fields: FieldReader): RateLimit | null {
  for (const name of ['requests', 'window_seconds']) {
    if (fields.raw(name) === undefined) fields.problem(name, 'is missing: write a whole number.');
  }
  const requests = fields.limit('requests', 1, RATE_REQUESTS_MAX, null);
  const windowSeconds = fields.limit('window_seconds', 1, RATE_WINDOW_SECONDS_MAX, null);
  if (requests === null || windowSeconds === null) return null;
  if (requests * windowSeconds <= RATE_CAPACITY_MAX) return { requests, windowSeconds };
  return fields.problem(
    'requests',
    'are too many for a window of this length: write fewer or a shorter window, or null for no limit.',
  );
}

// Reads the access rights of a catalog from plans.json and accounts/. For each file, also records whether it is valid
// on its own, so that access can be revoked before the rest of the catalog has been checked.

export interface AccessFile {
  /** Null after a problem with the whole file. */
  readonly record: AccountRecord | null;
  /** True if the file has no problems; then everything it does not grant is revoked. */
  readonly isValid: boolean;
  readonly version: string | null;
}

export interface Access {
  /** Empty after a problem with the whole file. */
  readonly plans: ReadonlyMap<string, Plan>;
  readonly plansVersion: string | null;
  /** By account. */
  readonly accounts: ReadonlyMap<string, AccessFile>;
  /** True if the folder of accounts was read completely; then an account without a file does not exist. */
  readonly isWhole: boolean;
  readonly problems: ProblemList;
}

/** @param before the previous result; unchanged files are taken from it */
export async function readAccess(catalog: CatalogFolder, before?: Access): Promise<Access> {
  const problems = new ProblemList();
  const folder = catalog.reportingTo(problems);
  const { plans, plansVersion } = await loadPlans(folder, before, problems);
  // If the new plans are invalid, accounts are checked against the previous plans, because otherwise every account
  // would be invalid too.
  const known = plans ?? before?.plans ?? new Map<string, Plan>();
  const reusable = before?.plans === known ? before.accounts : new Map<string, AccessFile>();
  const counted = problems.count;
  const files = await folder.list('accounts');
  if (files.length === 0 && before !== undefined && before.accounts.size > 0) {
    problems.add(
      'accounts',
      '',
      'is missing or empty, and was not before: the previous accounts remain valid. To withdraw access, change the files of the accounts.',
    );
    // Keeps the previous result, including the plans that belong to it. Otherwise the next reading, with the folder
    // still absent, would treat the empty list as complete.
    return { ...before, isWhole: false, problems };
  }
  const isWhole = problems.count === counted;
  const accounts = new Map<string, AccessFile>();
  const keyFiles = new Map<string, string>();
  for (const file of files) {
    const id = file.name.replace(/\.json$/, '');
    const isNamed = id !== file.name && SLUG.test(id);
    if (id === file.name) problems.add(file.file, '', 'is not an account: accounts are .json files.');
    else if (!isNamed) problems.add(file.file, '', `does not have a valid account id as its name: write ${SLUG_RULE}.`);
    else accounts.set(id, await loadAccount(folder, file, { known, reusable: reusable.get(id), keyFiles, problems }));
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
  const isValid = problems.count === counted;
  return { plans, plansVersion: isValid ? (file?.version ?? null) : null };
}

interface AccountParts {
  readonly known: ReadonlyMap<string, Plan>;
  /** The previous result for the file. */
  readonly reusable: AccessFile | undefined;
  /** Files by the digests of the keys in them. */
  readonly keyFiles: Map<string, string>;
  readonly problems: ProblemList;
}

async function loadAccount(
  folder: CatalogFolder,
  file: CatalogFile,
  { known, reusable, keyFiles, problems }: AccountParts,
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
    const otherFile = keyFiles.get(sha256);
    if (otherFile !== undefined)
      problems.add(file.file, `/keys/${index}/sha256`, `is also the digest of a key in ${otherFile}.`);
    keyFiles.set(sha256, file.file);
  }
  const isValid = problems.count === counted;
  return { record, isValid, version: isValid ? file.version : null };
}

// Revokes access in the live catalog when newer files no longer grant it: keys, scopes, accounts, subscriptions.
// Never grants anything: new rights take effect when the whole catalog is valid.

/** The catalog reduced to the rights in `access`; the same object if nothing is revoked. */
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
  // An invalid file may lack rights that its author meant to keep, so nothing is revoked because of it.
  if (file !== undefined && (!file.isValid || file.record === null)) return account;
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

/** Limits are not access rights: a change of plan takes effect with the rest of the catalog. */
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
