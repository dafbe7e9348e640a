// `accounts`: adds, lists and changes accounts; with --ops it asks a running node how much of their quota they used.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { suggestion } from '../../workers/template/suggestion.ts';
import {
  AccountEditError,
  type AccountText,
  addAccount,
  changeAccount,
  readAccountText,
} from '../catalog/account-editor.ts';
import { parseTime } from '../catalog/field-reader.ts';
import { catalogDirectory, positionals } from './catalog-flag.ts';
import { type Command, type CommandIo, UsageError } from './command.ts';
import { withCatalogFailures } from './failures.ts';
import { type Flags, parseFlags } from './flags.ts';
import { printTable } from './print-table.ts';
import { fetchUsage } from './quota-usage.ts';

type Action = (args: readonly string[], io: CommandIo) => Promise<void>;

const ACTIONS: Readonly<Record<string, Action>> = {
  add,
  list,
  show,
  activate: (args, io) => setActive(args, io, true),
  deactivate: (args, io) => setActive(args, io, false),
  subscription,
};

const VALUE = { kind: 'value' } as const;
const SUBSCRIPTION_FLAGS = { catalog: VALUE, plan: VALUE, status: VALUE, started: VALUE } as const;

export const command: Command = {
  name: 'accounts',
  usage: `template-run accounts add ACCOUNT --plan PLAN [--name TEXT] [--started TIME] --catalog DIR
template-run accounts list --catalog DIR
template-run accounts show ACCOUNT --catalog DIR
template-run accounts activate|deactivate ACCOUNT --catalog DIR
template-run accounts subscription ACCOUNT [--plan PLAN] [--status WORD] [--started TIME] [--none] --catalog DIR
template-run accounts --ops URL

--ops asks a running node (its ops port, or its API port) for the quota used in the current period.
  --plan PLAN     a plan of plans.json
  --status WORD   "active" serves; any other word, such as cancelled, does not
  --started TIME  such as 2026-01-31 or 2026-01-31T00:00:00Z: billing periods begin on its day (now)
  --none          no subscription at all
  --catalog DIR   or TEMPLATE_RUN_CATALOG`,
  run(args, io) {
    const [name = '', ...rest] = args;
    if (name.startsWith('--ops')) return withCatalogFailures(io, () => usage(args, io));
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined) {
      const names = Object.keys(ACTIONS);
      throw new UsageError(`Write ${names.join(', ')} or --ops URL.${suggestion(name, names)}`);
    }
    return withCatalogFailures(io, () => action(rest, io));
  },
};

async function add(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, { ...SUBSCRIPTION_FLAGS, name: VALUE });
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
  io.stderr.write(`Account ${ACCOUNT} is added. Issue a key: template-run keys issue ${ACCOUNT}\n`);
}

async function list(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, { catalog: VALUE });
  positionals(flags, []);
  const catalog = catalogDirectory(flags, io);
  const files = await readdir(join(catalog, 'accounts')).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') throw new AccountEditError(`${catalog} holds no accounts.`);
    throw fault;
  });
  const rows: string[][] = [];
  for (const file of files.filter((name) => /^[^.].*\.json$/.test(name)).sort()) {
    const account = file.replace(/\.json$/, '');
    const { active, subscription, keys } = await readAccountText(catalog, account);
    const status = subscription === null ? 'none' : `${subscription.plan}, ${subscription.status}`;
    rows.push([account, active ? 'active' : 'inactive', status, String(keys.length)]);
  }
  printTable(io, ['ACCOUNT', 'STATE', 'SUBSCRIPTION', 'KEYS'], rows);
}

async function show(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, { catalog: VALUE });
  const { ACCOUNT } = positionals(flags, ['ACCOUNT']);
  const { keys, ...text } = await readAccountText(catalogDirectory(flags, io), ACCOUNT);
  const shown = keys.map(({ sha256: _digest, ...key }) => key);
  io.stdout.write(`${JSON.stringify({ account: ACCOUNT, ...text, keys: shown }, null, 2)}\n`);
}

async function setActive(args: readonly string[], io: CommandIo, active: boolean): Promise<void> {
  const flags = parseFlags(args, { catalog: VALUE });
  const { ACCOUNT } = positionals(flags, ['ACCOUNT']);
  await changeAccount(catalogDirectory(flags, io), ACCOUNT, (text) => {
    text.active = active;
  });
  io.stderr.write(`Account ${ACCOUNT} is ${active ? 'active' : 'inactive'}.\n`);
}

async function subscription(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, { ...SUBSCRIPTION_FLAGS, none: { kind: 'switch' } });
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
  io.stderr.write(`The subscription of ${ACCOUNT} is changed.\n`);
}

async function usage(args: readonly string[], io: CommandIo): Promise<void> {
  const flags = parseFlags(args, { ops: VALUE });
  positionals(flags, []);
  const address = flags.values.get('ops') ?? '';
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
    throw new UsageError('--ops must be the address of a node, such as http://127.0.0.1:9090.');
  }
  const accounts = await fetchUsage(new URL(address));
  const rows = accounts.map(({ account, used, limit }) => [
    account,
    String(used),
    limit === null ? 'none' : String(limit),
  ]);
  printTable(io, ['ACCOUNT', 'USED', 'LIMIT'], rows);
}

function startedAt(flags: Flags): string {
  const text = flags.values.get('started');
  const time = text === undefined ? Date.now() : parseTime(text);
  if (time === null) throw new UsageError('--started must be a date such as 2026-01-31 or 2026-01-31T00:00:00Z.');
  return new Date(time).toISOString();
}
