// accounts/<account>.json: name, subscription and keys of one account.
import { suggestion } from '../../workers/template/suggestion.ts';
import { KEY_SCOPES, type KeyScope } from './access.ts';
import type { ApiKey, Plan, Subscription } from './catalog.ts';
import { FieldReader } from './field-reader.ts';
import type { ProblemList } from './problems.ts';

export interface AccountRecord {
  readonly name: string | null;
  readonly active: boolean;
  readonly subscription: Subscription | null;
  readonly keys: readonly ApiKey[];
}

const KEY_FIELDS = ['id', 'name', 'sha256', 'scopes', 'created_at', 'expires_at', 'revoked_at'];

/** A word such as "active", "cancelled" or "past_due". */
const STATUS = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

/** null after a problem with the whole file. */
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

/** @param before ids of the earlier keys: a file of 2 MiB has room for some ten thousand */
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
