// The operator's page on the operations port, with its data read at each request.

import type { DiskFloor } from '../admission/disk-floor.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogStore } from '../catalog/catalog-store.ts';
import type { Route } from '../http/router.ts';
import type { CheckedTemplate } from '../outputs/output-store.ts';
import { NONCE_PLACE, Page } from '../pages/html-page.ts';
import { type OperatorState, operatorPage } from '../pages/operator-page.ts';
import type { ActiveRuns } from '../runs/active-runs.ts';
import type { Readiness } from '../runs/drain.ts';
import type { Stores } from '../stores/stores.ts';
import { plainHelp } from '../telemetry/metric-definition.ts';
import type { MetricSources } from '../telemetry/metrics.ts';
import type { RecentCodes } from '../telemetry/recent-codes.ts';

/** The parts of the node that the page reads. */
export interface OperatorSources {
  readonly node: { readonly disk: DiskFloor; readonly activeRuns: ActiveRuns };
  readonly stores: Pick<Stores, 'nodes'>;
  readonly sources: MetricSources;
  readonly catalog: CatalogStore<CheckedTemplate>;
  readonly readiness: Readiness;
  readonly recent: { readonly refusals: RecentCodes; readonly failures: RecentCodes };
}

const REFRESH_SECONDS = 5;

/** Part of the names of metrics that a node of a fleet has about the others. */
const FLEET_METRICS = '_fleet_';

export function operatorRoutes(sources: OperatorSources): Route[] {
  const route = (path: string, isPaused: boolean): Route => ({
    name: 'operator',
    method: 'GET',
    path,
    handle: async (exchange) => {
      const state = await operatorState(sources);
      const page = new Page(operatorPage(state, isPaused, NONCE_PLACE), { hasScript: false });
      if (!isPaused) exchange.addHeader('Refresh', String(REFRESH_SECONDS));
      page.answer(exchange);
    },
  });
  return [route('/', false), route('/paused', true)];
}

async function operatorState({
  node,
  stores,
  sources,
  catalog,
  readiness,
  recent,
}: OperatorSources): Promise<OperatorState> {
  const { freeBytes, error } = await node.disk.space();
  const { problems, more } = catalog.refused;
  const metricValues = await sources.metricValues();
  return {
    unreadyReasons: await readiness.reasons(),
    runs: node.activeRuns.list(),
    suspendedRuns: sources.runsSuspended(),
    budget: sources.budget(),
    threads: { live: sources.liveThreads(), stuck: sources.stuckThreads() },
    diskFreeBytes: error === null ? freeBytes : null,
    openConnections: sources.connectionsOpen(),
    quotas: await sources.quotas(),
    refusals: recent.refusals.list(),
    failures: recent.failures.list(),
    catalog: {
      accounts: catalog.current.accounts.size,
      templates: templateCount(catalog.current),
      problems,
      moreProblems: more,
      isLive: catalog.isLive,
    },
    nodes: stores.nodes(),
    fleet: metricValues
      .filter(({ metric }) => metric.name.includes(FLEET_METRICS))
      .map(({ metric, values }) => ({ name: metric.name, value: values.get('') ?? 0, help: plainHelp(metric) })),
  };
}

/** Number of Templates of all accounts. */
export function templateCount({ accounts }: Catalog<unknown>): number {
  return [...accounts.values()].reduce((sum, { templates }) => sum + templates.size, 0);
}
