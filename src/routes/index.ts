// The tables of endpoints: the API, and health and metrics, which may have a separate port.

import type { EndpointName } from '../catalog/catalog.ts';
import { andThen } from '../collections/maybe-promise.ts';
import { busy } from '../http/error-codes.ts';
import type { Exchange } from '../http/exchange.ts';
import { openApiDocument } from '../http/openapi.ts';
import type { Route } from '../http/router.ts';
import type { CreateRunParts } from '../runs/create-run.ts';
import type { Readiness } from '../runs/drain.ts';
import { API_PATH } from '../runs/run.ts';
import { StoreUnavailableError } from '../stores/stores.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { getUsageEndpoint, listTemplatesEndpoint, type TemplateListParts } from './account.ts';
import { type Endpoint, type Gate, type GuardedRoute, grantAccess, identify } from './endpoint.ts';
import { getRunOutputEndpoint, getRunRejectsEndpoint, type OutputParts } from './outputs.ts';
import { consoleRoutes, referenceRoute, startRoute, templateColumns } from './pages.ts';
import { createRunEndpoint, getRunEndpoint } from './runs.ts';

// livez, readyz and metrics: for the operator's systems, without authentication.

/** If the event loop were blocked, there would be no response. */
function getLiveness(exchange: Exchange): void {
  exchange.json(200, { status: 'live' });
}

async function getReadiness(readiness: Readiness, exchange: Exchange): Promise<void> {
  const reasons = await readiness.reasons();
  if (reasons.length === 0) exchange.json(200, { status: 'ready' });
  else exchange.json(503, { status: 'not ready', reasons });
}

async function getMetrics(metrics: Metrics, exchange: Exchange): Promise<void> {
  exchange.text(200, metrics.contentType, await metrics.text());
}

/** The parts of the node that all endpoints together need. */
export type ApiParts = CreateRunParts & OutputParts & TemplateListParts;

/** Endpoints that require a key, under the names that plans limit. A name without its record does not compile. */
const ENDPOINTS: { readonly [Name in EndpointName]: Endpoint<ApiParts> & { readonly name: Name } } = {
  list_templates: listTemplatesEndpoint,
  create_run: createRunEndpoint,
  get_run: getRunEndpoint,
  get_run_output: getRunOutputEndpoint,
  get_run_rejects: getRunRejectsEndpoint,
  get_usage: getUsageEndpoint,
};

const OPENAPI_PATH = `${API_PATH}/openapi.json`;

export function apiDocument(): object {
  return openApiDocument(Object.values(ENDPOINTS), OPENAPI_PATH);
}

/** The pages for people that are served. */
export interface Pages {
  readonly docs: boolean;
  readonly console: boolean;
}

/** The pages, and the start page with links to those that are served. */
export function pageRoutes(pages: Pages, gate: Gate): Route[] {
  const start = startRoute([
    ...(pages.docs ? [{ name: 'docs', path: '/docs' } as const] : []),
    ...(pages.console ? [{ name: 'console', path: '/console' } as const] : []),
    { name: 'openapi', path: OPENAPI_PATH },
  ]);
  return [
    start,
    ...(pages.docs ? [referenceRoute(apiDocument(), OPENAPI_PATH)] : []),
    ...(pages.console ? [...consoleRoutes(pages.docs), guarded(templateColumns, gate, undefined)] : []),
  ];
}

export function apiRoutes(gate: Gate, node: ApiParts): Route[] {
  const openApi = Buffer.from(JSON.stringify(apiDocument()));
  return [
    ...Object.values(ENDPOINTS).map((endpoint) => guarded(endpoint, gate, node)),
    { name: 'openapi', method: 'GET', path: OPENAPI_PATH, handle: (exchange) => exchange.json(200, openApi) },
  ];
}

/** The handler only sees requests with access. */
function guarded<Node>(endpoint: GuardedRoute<Node>, gate: Gate, node: Node): Route {
  const { name, method, path, handle, routeName = name } = endpoint;
  const grant = endpoint.countsRate ? identify : grantAccess;
  return {
    name: routeName,
    method,
    path,
    handle: (exchange, parameters) => {
      const handled = andThen(grant(gate, exchange, endpoint), (access) => {
        if (access !== null)
          return handle({ node, exchange, access, rates: gate.rates, name: endpoint.name, parameters });
      });
      return handled instanceof Promise ? handled.catch((fault) => refuseUnavailable(exchange, fault)) : handled;
    },
  };
}

/** If a store is unavailable, the requested object may exist. The client must retry and never gets a 404. */
function refuseUnavailable(exchange: Exchange, fault: unknown): void {
  if (!(fault instanceof StoreUnavailableError)) throw fault;
  exchange.refuse(busy('The service cannot read this now. Try again shortly.'));
}

/** Endpoints that machines and the operator's page request every few seconds. Their log lines have a lower level. */
export const PROBES: ReadonlySet<string> = new Set(['livez', 'readyz', 'metrics', 'operator']);

export function healthRoutes(readiness: Readiness): Route[] {
  return [
    { name: 'livez', method: 'GET', path: '/livez', handle: (exchange) => getLiveness(exchange) },
    { name: 'readyz', method: 'GET', path: '/readyz', handle: (exchange) => getReadiness(readiness, exchange) },
  ];
}

export function metricsRoutes(metrics: Metrics): Route[] {
  return [{ name: 'metrics', method: 'GET', path: '/metrics', handle: (exchange) => getMetrics(metrics, exchange) }];
}
