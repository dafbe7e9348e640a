// `keys`: issues, lists and revokes the API keys of an account.
import { suggestion } from '../../workers/template/suggestion.ts';
import { SCOPES, type Scope } from '../catalog/access.ts';
import { AccountEditError, changeAccount, readAccountText } from '../catalog/account-editor.ts';
import { parseTime } from '../catalog/field-reader.ts';
import { issueKey } from '../catalog/issue-key.ts';
import { catalogDirectory, positionals } from './catalog-flag.ts';
import { type Command, type CommandIo, UsageError } from './command.ts';
import { withCatalogFailures } from './failures.ts';
import { parseFlags } from './flags.ts';
import { printTable } from './print-table.ts';

const ACTIONS: Readonly<Record<string, (args: readonly string[], io: CommandIo) => Promise<void>>> = {
  issue,
  list,
  revoke,
};

const UNIT_MILLISECONDS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export const command: Command = {
  name: 'keys',
  usage: `template-run keys issue ACCOUNT [--scopes LIST] [--expires TIME] --catalog DIR
template-run keys list ACCOUNT --catalog DIR
template-run keys revoke ACCOUNT KEY-ID --catalog DIR

issue prints the key once on standard output; the catalog keeps its SHA-256 only.
  --scopes LIST   of ${SCOPES.join(', ')}, with commas (all)
  --expires TIME  such as 90d, 12h, 30m or 2027-01-31T00:00:00Z (never)
  --catalog DIR   or TEMPLATE_RUN_CATALOG`,
  run(args, io) {
    const [name = '', ...rest] = args;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined) {
      throw new UsageError(`Write issue, list or revoke.${suggestion(name, Object.keys(ACTIONS))}`);
    }
    return withCatalogFailures(io, () => action(rest, io));
  },
};

async function issue(args: readonly string[], io: CommandIo): Promise<void> {
  const known = { catalog: { kind: 'value' }, scopes: { kind: 'value' }, expires: { kind: 'value' } } as const;
  const flags = parseFlags(args, known);
  const { ACCOUNT } = positionals(flags, ['ACCOUNT']);
  const scopes = readScopes(flags.values.get('scopes'));
  const expiresAt = readExpiry(flags.values.get('expires'), Date.now());
  const { key, id } = await issueKey(catalogDirectory(flags, io), ACCOUNT, { scopes, expiresAt });
  io.stdout.write(`${key}\n`);
  io.stderr.write(`Key ${id} of ${ACCOUNT}. It is not shown again.\n`);
}

async function list(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, { catalog: { kind: 'value' } });
  const { ACCOUNT } = positionals(flags, ['ACCOUNT']);
  const { keys } = await readAccountText(catalogDirectory(flags, io), ACCOUNT);
  const rows = keys.map((key) => {
    const ended = key.expires_at != null && Date.parse(key.expires_at) <= Date.now();
    const state = key.revoked_at != null ? 'revoked' : ended ? 'expired' : 'live';
    return [key.id, state, (key.scopes ?? []).join(','), key.created_at ?? '-', key.expires_at ?? 'never'];
  });
  printTable(io, ['ID', 'STATE', 'SCOPES', 'CREATED', 'EXPIRES'], rows);
}

async function revoke(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, { catalog: { kind: 'value' } });
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
  io.stderr.write(`Key ${id} of ${arguments_.ACCOUNT} is revoked.\n`);
}

function readScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) return SCOPES;
  const names = text.split(',').map((name) => name.trim());
  return [...new Set(names)].map((name) => {
    const scope = SCOPES.find((each) => each === name);
    if (scope !== undefined) return scope;
    throw new UsageError(`${JSON.stringify(name)} is no scope: write ${SCOPES.join(', ')}.${suggestion(name, SCOPES)}`);
  });
}

function readExpiry(text: string | undefined, now: number): string | null {
  if (text === undefined) return null;
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const time = count === undefined ? parseTime(text) : now + Number(count) * UNIT_MILLISECONDS[unit!]!;
  if (time === null) throw new UsageError('--expires must be such as 90d, 12h, 30m or 2027-01-31T00:00:00Z.');
  if (time <= now) throw new UsageError('--expires lies in the past.');
  return new Date(time).toISOString();
}
