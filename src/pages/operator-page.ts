// The page at `/` of the operations port: what a node is doing now. Without scripts: the browser loads it again every
// few seconds. Contains no file names and no values of files.
import type { ActiveRun } from '../runs/active-runs.ts';
import type { FleetNode } from '../stores/stores.ts';
import type { RecentCode } from '../telemetry/recent-codes.ts';
import { type Child, element, type Html, pageHead, textOf } from './html-page.ts';

/** State of a node at one moment. */
export interface OperatorState {
  readonly unreadyReasons: readonly string[];
  /** Oldest first. */
  readonly runs: readonly ActiveRun[];
  readonly suspendedRuns: number;
  readonly budget: { readonly limitBytes: number; readonly heldBytes: Readonly<Record<string, number>> };
  readonly threads: { readonly live: number; readonly stuck: number };
  /** null if the folder cannot be used. */
  readonly diskFreeBytes: number | null;
  readonly openConnections: number;
  readonly quotas: readonly { readonly account: string; readonly used: number; readonly limit: number | null }[];
  readonly refusals: readonly RecentCode[];
  readonly failures: readonly RecentCode[];
  readonly catalog: {
    readonly accounts: number;
    readonly templates: number;
    /** Why the current content of the folder is not used, with files of the catalog; empty if it is used. */
    readonly problems: readonly string[];
    readonly moreProblems: number;
    /** False also if the folder could not be read. */
    readonly isLive: boolean;
  };
  /** Live nodes of the fleet. Empty for a single node. */
  readonly nodes: readonly FleetNode[];
  /** Metrics about the other nodes of the fleet, by metric name. Empty for a single node. */
  readonly fleet: readonly { readonly name: string; readonly value: number; readonly help: string }[];
}

/** Rows of each table that are shown. */
const ROWS_MAX = 100;

const STYLE = `
body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:1rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:.5rem 0;display:block;overflow-x:auto}
th,td{text-align:left;padding:.15rem .75rem .15rem 0;border-bottom:1px solid #8886}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
a{color:inherit}
meter{width:12rem}
.bad{font-weight:bold}
`;

/** @param isPaused true if the page is not loaded again */
export function operatorPage(state: OperatorState, isPaused: boolean, nonce: string): string {
  const page = element(
    'html',
    { lang: 'en' },
    pageHead('Operations: Template Run Service', STYLE, nonce),
    element(
      'body',
      {},
      element(
        'header',
        {},
        element('h1', {}, 'Template Run Service'),
        element(
          'nav',
          { 'aria-label': 'Page' },
          isPaused
            ? element('a', { href: './' }, 'Refresh every 5 seconds')
            : element('a', { href: 'paused' }, 'Stop refreshing'),
          ' · ',
          element('a', { href: 'metrics' }, 'Metrics'),
        ),
      ),
      element('main', {}, sections(state)),
    ),
  );
  return `<!doctype html>${textOf(page)}`;
}

function sections(state: OperatorState): Child {
  return [
    readiness(state.unreadyReasons),
    runs(state),
    resources(state),
    codes('Failed Runs', 'No Run failed in the last hour.', state.failures),
    codes('Refused requests', 'No request was refused in the last hour.', state.refusals),
    usage(state.quotas),
    catalog(state.catalog),
    fleet(state),
  ];
}

function readiness(reasons: readonly string[]): Child {
  if (reasons.length === 0) return element('p', {}, 'This node accepts Runs.');
  return element('p', { class: 'bad' }, `This node accepts no Runs: ${reasons.join('; ')}.`);
}

function runs({ runs, suspendedRuns }: OperatorState): Child {
  const title = element('h2', {}, `Runs in progress: ${runs.length}`);
  if (runs.length === 0) return [title, element('p', {}, 'No upload and no Run is in progress.')];
  return [
    title,
    suspendedRuns > 0 && element('p', {}, `Without memory because of slow uploads: ${suspendedRuns}.`),
    table(
      ['Account', 'Template', 'State', '#Age', '#Upload', '#Rows read'],
      runs.map(({ account, template, phase, seconds, uploadBytes, rowsRead }) => [
        account,
        template,
        phase,
        duration(seconds),
        size(uploadBytes),
        String(rowsRead),
      ]),
    ),
  ];
}

function resources({ budget, threads, diskFreeBytes, openConnections }: OperatorState): Child {
  const held = Object.entries(budget.heldBytes).filter(([, bytes]) => bytes > 0);
  const sum = held.reduce((total, [, bytes]) => total + bytes, 0);
  const stuck = threads.stuck > 0 && element('p', { class: 'bad' }, `${threads.stuck} lost threads do not end.`);
  return [
    element('h2', {}, 'Memory, threads, disk'),
    element(
      'p',
      {},
      element('label', { for: 'budget' }, `Memory budget: ${size(sum)} of ${size(budget.limitBytes)} in use. `),
      element('meter', { id: 'budget', max: String(budget.limitBytes), value: String(sum) }),
    ),
    table(
      ['Use', '#Memory'],
      held.sort(([, a], [, b]) => b - a).map(([use, bytes]) => [use, size(bytes)]),
    ),
    element('p', {}, `Worker threads: ${threads.live}. Open connections: ${openConnections}.`),
    stuck,
    diskFreeBytes === null
      ? element('p', { class: 'bad' }, 'The data folder cannot be used.')
      : element('p', {}, `Free disk space: ${size(diskFreeBytes)}.`),
  ];
}

function codes(title: string, none: string, recent: readonly RecentCode[]): Child {
  const head = element('h2', {}, title);
  if (recent.length === 0) return [head, element('p', {}, none)];
  return [
    head,
    table(
      ['Code', '#In the last hour', '#Last', 'Account', 'Template'],
      recent.map(({ count, last, secondsAgo }) => [
        last.code,
        String(count),
        `${duration(secondsAgo)} ago`,
        last.account ?? '',
        last.template ?? '',
      ]),
    ),
  ];
}

function usage(quotas: OperatorState['quotas']): Child {
  const share = ({ used, limit }: OperatorState['quotas'][number]): number => (limit === null ? 0 : used / limit);
  const fullestFirst = [...quotas].sort((a, b) => share(b) - share(a) || b.used - a.used);
  return [
    element('h2', {}, 'Usage in this billing period'),
    table(
      ['Account', '#Runs', '#Limit'],
      fullestFirst.map(({ account, used, limit }) => [account, String(used), limit === null ? 'none' : String(limit)]),
    ),
  ];
}

function catalog({ accounts, templates, problems, moreProblems, isLive }: OperatorState['catalog']): Child {
  const more = moreProblems > 0 && element('li', {}, `and ${moreProblems} more`);
  return [
    element('h2', {}, 'Catalog'),
    element('p', {}, `Accounts: ${accounts}. Templates: ${templates}.`),
    !isLive && element('p', { class: 'bad' }, 'The current content of the catalog folder is not used:'),
    !isLive && problems.length === 0 && element('p', {}, 'It could not be read; the log says why.'),
    !isLive &&
      problems.length > 0 &&
      element(
        'ul',
        {},
        problems.slice(0, ROWS_MAX).map((text) => element('li', {}, text)),
        more,
      ),
  ];
}

function fleet({ nodes, fleet }: OperatorState): Child {
  if (nodes.length === 0 && fleet.length === 0) return null;
  return [
    element('h2', {}, 'Fleet'),
    element('p', {}, `Live nodes: ${nodes.length}.`),
    table(
      ['Node', '#Last heartbeat', 'Catalog'],
      nodes.map(({ name, isSelf, secondsSinceHeartbeat, hasSameCatalog }) => [
        isSelf ? `${name}, this node` : name,
        `${duration(secondsSinceHeartbeat)} ago`,
        isSelf ? '' : hasSameCatalog ? 'the same' : 'differs from that of this node',
      ]),
    ),
    table(
      ['Metric', '#Value', 'Meaning'],
      fleet.map(({ name, value, help }) => [name, String(Math.round(value * 1000) / 1000), help]),
    ),
  ];
}

/** A column whose title begins with # contains numbers. */
function table(titles: readonly string[], rows: readonly (readonly string[])[]): Html {
  const kinds = titles.map((title) => ({ class: title.startsWith('#') ? 'number' : null }));
  const cells = (name: string, row: readonly string[], attributes: Readonly<Record<string, string>> = {}): Html =>
    element(
      'tr',
      {},
      row.map((text, index) => element(name, { ...kinds[index], ...attributes }, text)),
    );
  const more = rows.length - ROWS_MAX;
  return element(
    'table',
    { tabindex: '0' },
    element(
      'thead',
      {},
      cells(
        'th',
        titles.map((title) => title.replace('#', '')),
        { scope: 'col' },
      ),
    ),
    element(
      'tbody',
      {},
      rows.slice(0, ROWS_MAX).map((row) => cells('td', row)),
    ),
    more > 0 &&
      element('tfoot', {}, element('tr', {}, element('td', { colspan: String(titles.length) }, `and ${more} more`))),
  );
}

function size(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes} min ${Math.floor(seconds % 60)} s`;
}
