// `keys`: issues, lists and revokes the API keys of an account.
import { suggestion } from '../../workers/values/suggestion.ts';
import { AccountEditError, changeAccount, issueKey, readAccountText } from '../catalog/account-editor.ts';
import { KEY_SCOPES, type KeyScope } from '../catalog/catalog.ts';
import { parseTime } from '../catalog/field-reader.ts';
import { CATALOG_FLAG, catalogDirectory, note, positionals, withCatalogFailures } from './catalog-changes.ts';
import { actionsCommand, type Command, type CommandIo, JSON_FLAGS, parseFlags, UsageError } from './command.ts';
import { printTable } from './terminal.ts';

const UNIT_MILLISECONDS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

const LIST_FLAGS = { ...JSON_FLAGS, catalog: CATALOG_FLAG } as const;

const ISSUE_FLAGS = {
  scopes: {
    kind: 'value',
    placeholder: 'LIST',
    purpose: `scopes of the key, separated by commas: ${KEY_SCOPES.join(', ')} (all)`,
  },
  expires: { kind: 'value', placeholder: 'TIME', purpose: 'such as 90d, 12h, 30m or 2027-01-31T00:00:00Z (never)' },
  catalog: CATALOG_FLAG,
} as const;

export const command: Command = actionsCommand({
  name: 'keys',
  actions: {
    issue: {
      form: 'ACCOUNT [--scopes LIST] [--expires TIME] --catalog DIR',
      summary: 'Creates a key and prints it once on standard output; the catalog contains only its SHA-256.',
      flags: ISSUE_FLAGS,
      run: (args, io) => withCatalogFailures(io, () => issue(args, io)),
    },
    list: {
      form: 'ACCOUNT --catalog DIR',
      summary: 'Lists the keys of an account: id, state, scopes, creation and expiry.',
      flags: LIST_FLAGS,
      run: (args, io) => withCatalogFailures(io, () => list(args, io)),
    },
    revoke: {
      form: 'ACCOUNT KEY-ID --catalog DIR',
      summary: 'Revokes a key; a running node refuses it as soon as it has read the catalog again.',
      flags: { catalog: CATALOG_FLAG },
      run: (args, io) => withCatalogFailures(io, () => revoke(args, io)),
    },
  },
});

async function issue(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, ISSUE_FLAGS);
  const { ACCOUNT } = positionals(flags, ['ACCOUNT']);
  const scopes = readScopes(flags.values.get('scopes'));
  const expiresAt = readExpiry(flags.values.get('expires'), Date.now());
  const { key, id } = await issueKey(catalogDirectory(flags, io), ACCOUNT, { scopes, expiresAt });
  io.stdout.write(`${key}\n`);
  note(io, flags, `Key ${id} of ${ACCOUNT}. It is not shown again.\n`);
}

async function list(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, LIST_FLAGS);
  const { ACCOUNT } = positionals(flags, ['ACCOUNT']);
  const { keys } = await readAccountText(catalogDirectory(flags, io), ACCOUNT);
  const states = keys.map((key) => {
    const ended = key.expires_at != null && Date.parse(key.expires_at) <= Date.now();
    return key.revoked_at != null ? 'revoked' : ended ? 'expired' : 'live';
  });
  if (flags.switches.has('json')) {
    const listed = keys.map(({ sha256: _digest, ...key }, index) => ({ ...key, state: states[index] }));
    io.stdout.write(`${JSON.stringify(listed)}\n`);
    return;
  }
  const rows = keys.map((key, index) => {
    return [key.id, states[index]!, (key.scopes ?? []).join(','), key.created_at ?? '-', key.expires_at ?? 'never'];
  });
  printTable(io, ['ID', 'STATE', 'KEY_SCOPES', 'CREATED', 'EXPIRES'], rows);
}

async function revoke(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, { catalog: CATALOG_FLAG });
  const arguments_ = positionals(flags, ['ACCOUNT', 'KEY-ID']);
  const id = arguments_['KEY-ID'];
  await changeAccount(catalogDirectory(flags, io), arguments_.ACCOUNT, (text) => {
    const key = text.keys.find((each) => each.id === id);
    if (key === undefined) {
      const ids = text.keys.map((each) => each.id);
      throw new AccountEditError(`The account has no key ${JSON.stringify(id)}; it has ${ids.join(', ') || 'none'}.`);
    }
    key.revoked_at ??= new Date().toISOString();
  });
  note(io, flags, `Key ${id} of ${arguments_.ACCOUNT} is revoked.\n`);
}

function readScopes(text: string | undefined): readonly KeyScope[] {
  if (text === undefined) return KEY_SCOPES;
  const names = text.split(',').map((name) => name.trim());
  return [...new Set(names)].map((name) => {
    const scope = KEY_SCOPES.find((each) => each === name);
    if (scope !== undefined) return scope;
    throw new UsageError(
      `${JSON.stringify(name)} is not a scope. Write ${KEY_SCOPES.join(', ')}.${suggestion(name, KEY_SCOPES)}`,
    );
  });
}

function readExpiry(text: string | undefined, now: number): string | null {
  if (text === undefined) return null;
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const time = count === undefined ? parseTime(text) : now + Number(count) * UNIT_MILLISECONDS[unit!]!;
  if (time === null) throw new UsageError('--expires must be such as 90d, 12h, 30m or 2027-01-31T00:00:00Z.');
  if (time <= now) throw new UsageError('--expires is in the past.');
  return new Date(time).toISOString();
}
