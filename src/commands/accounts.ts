// `accounts`: adds, lists and changes accounts, and reads quota usage from a node.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AccountEditError,
  type AccountText,
  addAccount,
  changeAccount,
  readAccountText,
  removeAccount,
} from '../catalog/account-editor.ts';
import { parseTime } from '../catalog/field-reader.ts';
import { CATALOG_FLAG, catalogDirectory, note, positionals, withCatalogFailures } from './catalog-changes.ts';
import {
  type Action,
  actionsCommand,
  type Command,
  type CommandIo,
  type Flag,
  type Flags,
  flagsHelp,
  JSON_FLAGS,
  parseFlags,
  UsageError,
} from './command.ts';
import { checkFolder } from './local-input.ts';
import { serviceUrl } from './service-client.ts';
import { printTable } from './terminal.ts';

// Reads quota usage from a node's /metrics (Prometheus text format 0.0.4).

export interface QuotaUsage {
  readonly account: string;
  readonly used: number;
  /** Null: unlimited. */
  readonly limit: number | null;
}

const TIMEOUT_MILLISECONDS = 10_000;

/** Usage by account. Throws AccountEditError if the node does not answer or publishes no metrics. */
async function fetchUsage(address: URL): Promise<QuotaUsage[]> {
  const metrics = new URL(`${address.pathname.replace(/\/+$/, '')}/metrics`, address);
  const answer = await fetch(metrics, { signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) }).catch((fault: Error) => {
    throw new AccountEditError(
      `${metrics} does not answer (${(fault.cause as Error | undefined)?.message ?? fault.message}).`,
    );
  });
  if (!answer.ok) throw new AccountEditError(`${metrics} answers ${answer.status}: is it a node's ops port?`);
  return parseUsage(await answer.text());
}

/** The samples of template_run_quota_used and template_run_quota_limit, sorted by account. */
export function parseUsage(text: string): QuotaUsage[] {
  const used = samples(text, 'template_run_quota_used');
  const limits = samples(text, 'template_run_quota_limit');
  return [...used].sort().map(([account, value]) => {
    const limit = limits.get(account);
    return { account, used: value, limit: limit !== undefined && Number.isFinite(limit) ? limit : null };
  });
}

/** Account ids are slugs, so label values never need unescaping. */
function samples(text: string, name: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const [, labels = '', value = ''] of text.matchAll(new RegExp(`^${name}\\{([^}]*)\\}[ \\t]+(\\S+)`, 'gm'))) {
    const [, account] = /(?:^|,)account="([A-Za-z0-9_-]+)"/.exec(labels) ?? [];
    if (account !== undefined) found.set(account, Number(value.replace('+Inf', 'Infinity')));
  }
  return found;
}

// `accounts`: adds, lists and changes accounts. With --ops it asks a running node how much of their quotas the
// accounts have used.

const SUBSCRIPTION_FLAGS = {
  plan: { kind: 'value', placeholder: 'PLAN', purpose: 'a plan of plans.json (required if the account has none)' },
  status: {
    kind: 'value',
    placeholder: 'WORD',
    purpose: '"active" permits requests; any other word, such as cancelled, does not (active)',
  },
  started: {
    kind: 'value',
    placeholder: 'TIME',
    purpose: 'such as 2026-01-31 or 2026-01-31T00:00:00Z; billing periods start on this day (now)',
  },
} as const;

const ADD_FLAGS = {
  ...SUBSCRIPTION_FLAGS,
  name: { kind: 'value', placeholder: 'TEXT', purpose: "the account's name (ACCOUNT)" },
  catalog: CATALOG_FLAG,
} as const;

const CHANGE_FLAGS = {
  ...SUBSCRIPTION_FLAGS,
  none: { kind: 'switch', purpose: 'no subscription at all (off)' },
  catalog: CATALOG_FLAG,
} as const;

const REMOVE_FLAGS = {
  'with-files': {
    kind: 'switch',
    purpose: 'also removes its Templates, tables and secrets (off: an account that has any is not removed)',
  },
  catalog: CATALOG_FLAG,
} as const;

const ACCOUNT_FLAGS = { catalog: CATALOG_FLAG } as const;
const LIST_FLAGS = { ...JSON_FLAGS, catalog: CATALOG_FLAG } as const;

const OPS_FLAGS = {
  ...JSON_FLAGS,
  ops: {
    kind: 'value',
    placeholder: 'URL',
    purpose:
      'a running node, such as http://127.0.0.1:9090: its ops port, or its API port if metrics are enabled there',
  },
} as const;

export const command: Command = actionsCommand({
  name: 'accounts',
  actions: {
    add: action('ACCOUNT --plan PLAN --catalog DIR', 'Adds an account with a subscription.', ADD_FLAGS, add),
    list: action('--catalog DIR', 'Lists all accounts: state, subscription, number of keys.', LIST_FLAGS, list),
    show: action('ACCOUNT --catalog DIR', 'Prints an account as JSON.', ACCOUNT_FLAGS, show),
    activate: action('ACCOUNT --catalog DIR', 'Activates an account again.', ACCOUNT_FLAGS, (args, io) =>
      setActive(args, io, true),
    ),
    deactivate: action(
      'ACCOUNT --catalog DIR',
      'Deactivates an account; its files are kept.',
      ACCOUNT_FLAGS,
      (args, io) => setActive(args, io, false),
    ),
    remove: action('ACCOUNT --catalog DIR', 'Removes an account and its keys.', REMOVE_FLAGS, remove),
    subscription: action(
      'ACCOUNT [--plan PLAN] [--status WORD] [--started TIME] [--none] --catalog DIR',
      'Changes the subscription of an account; other settings are kept.',
      CHANGE_FLAGS,
      subscription,
    ),
  },
  more: `template-run accounts --ops URL
    Asks a running node for the quota used in the current period.

${flagsHelp(OPS_FLAGS)}`,
  others: ['--ops URL'],
  otherwise: (args, io) =>
    args.some((argument) => argument.startsWith('--ops')) ? withCatalogFailures(io, () => usage(args, io)) : null,
});

function action(
  form: string,
  summary: string,
  flags: Readonly<Record<string, Flag>>,
  body: (args: readonly string[], io: CommandIo) => Promise<void>,
): Action {
  return { form, summary, flags, run: (args, io) => withCatalogFailures(io, () => body(args, io)) };
}

async function add(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, ADD_FLAGS);
  const { ACCOUNT } = positionals(flags, ['ACCOUNT']);
  const plan = flags.values.get('plan');
  if (plan === undefined) throw new UsageError('Write --plan PLAN.');
  const text: AccountText = {
    name: flags.values.get('name') ?? ACCOUNT,
    active: true,
    subscription: { plan, status: flags.values.get('status') ?? 'active', started_at: startedAt(flags) },
    keys: [],
  };
  await addAccount(catalogDirectory(flags, io), ACCOUNT, text);
  note(io, flags, `Account ${ACCOUNT} is added. Issue a key: template-run keys issue ${ACCOUNT}\n`);
}

async function list(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, LIST_FLAGS);
  positionals(flags, []);
  const catalog = catalogDirectory(flags, io);
  checkFolder(catalog);
  const files = await readdir(join(catalog, 'accounts')).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') throw new AccountEditError(`${catalog} contains no accounts.`);
    throw fault;
  });
  const rows: string[][] = [];
  const listed: unknown[] = [];
  for (const file of files.filter((name) => /^[^.].*\.json$/.test(name)).sort()) {
    const account = file.replace(/\.json$/, '');
    const { active, subscription, keys } = await readAccountText(catalog, account);
    const status = subscription === null ? 'none' : `${subscription.plan}, ${subscription.status}`;
    listed.push({ account, active, subscription, keys: keys.length });
    rows.push([account, active ? 'active' : 'inactive', status, String(keys.length)]);
  }
  if (flags.switches.has('json')) io.stdout.write(`${JSON.stringify(listed)}\n`);
  else printTable(io, ['ACCOUNT', 'STATE', 'SUBSCRIPTION', 'KEYS'], rows);
}

async function show(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, ACCOUNT_FLAGS);
  const { ACCOUNT } = positionals(flags, ['ACCOUNT']);
  const { keys, ...text } = await readAccountText(catalogDirectory(flags, io), ACCOUNT);
  const shown = keys.map(({ sha256: _digest, ...key }) => key);
  io.stdout.write(`${JSON.stringify({ account: ACCOUNT, ...text, keys: shown }, null, 2)}\n`);
}

async function setActive(args: readonly string[], io: CommandIo, active: boolean): Promise<void> {
  const flags = parseFlags(args, ACCOUNT_FLAGS);
  const { ACCOUNT } = positionals(flags, ['ACCOUNT']);
  await changeAccount(catalogDirectory(flags, io), ACCOUNT, (text) => {
    text.active = active;
  });
  note(io, flags, `Account ${ACCOUNT} is ${active ? 'active' : 'inactive'}.\n`);
}

async function remove(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, REMOVE_FLAGS);
  const { ACCOUNT } = positionals(flags, ['ACCOUNT']);
  await removeAccount(catalogDirectory(flags, io), ACCOUNT, flags.switches.has('with-files'));
  note(io, flags, `Account ${ACCOUNT} is removed.\n`);
}

async function subscription(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, CHANGE_FLAGS);
  const { ACCOUNT } = positionals(flags, ['ACCOUNT']);
  const none = flags.switches.has('none');
  const given = ['plan', 'status', 'started'].filter((name) => flags.values.has(name));
  if (none === given.length > 0)
    throw new UsageError('Write --none, or at least one of --plan, --status and --started.');
  await changeAccount(catalogDirectory(flags, io), ACCOUNT, (text) => {
    if (none) {
      text.subscription = null;
      return;
    }
    const before = text.subscription;
    const plan = flags.values.get('plan') ?? before?.plan;
    if (plan === undefined) throw new UsageError('The account has no subscription yet: write --plan PLAN.');
    const started = flags.values.has('started') || before === null ? startedAt(flags) : before.started_at;
    text.subscription = { plan, status: flags.values.get('status') ?? before?.status ?? 'active', started_at: started };
  });
  note(io, flags, `The subscription of ${ACCOUNT} is changed.\n`);
}

async function usage(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, OPS_FLAGS);
  positionals(flags, []);
  const address = flags.values.get('ops') ?? '';
  const accounts = await fetchUsage(new URL(serviceUrl(address, '--ops')));
  const rows = accounts.map(({ account, used, limit }) => [
    account,
    String(used),
    limit === null ? 'none' : String(limit),
  ]);
  if (flags.switches.has('json')) io.stdout.write(`${JSON.stringify(accounts)}\n`);
  else printTable(io, ['ACCOUNT', 'USED', 'LIMIT'], rows);
}

function startedAt(flags: Flags): string {
  const text = flags.values.get('started');
  const time = text === undefined ? Date.now() : parseTime(text);
  if (time === null) throw new UsageError('--started must be a date such as 2026-01-31 or 2026-01-31T00:00:00Z.');
  return new Date(time).toISOString();
}
