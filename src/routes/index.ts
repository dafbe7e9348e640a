// The tables of endpoints: the API's, and those of health and metrics, which may have a port of their own.
import type { EndpointName } from '../catalog/access.ts';
import { andThen } from '../collections/maybe-promise.ts';
import type { Exchange } from '../http/exchange.ts';
import { openApiDocument } from '../http/openapi.ts';
import { busy } from '../http/refusal.ts';
import type { Route } from '../http/router.ts';
import type { NodeState } from '../runs/node-state.ts';
import type { Readiness } from '../runs/readiness.ts';
import { API_PATH } from '../runs/run.ts';
import { StoreUnavailableError } from '../stores/store-unavailable.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type Gate, grantAccess, identify } from './access.ts';
import type { Endpoint } from './endpoint.ts';
import { getLiveness, getMetrics, getReadiness } from './health.ts';
import { getRunOutputEndpoint, getRunRejectsEndpoint } from './outputs.ts';
import { consoleRoutes, referenceRoute } from './pages.ts';
import { createRunEndpoint, getRunEndpoint } from './runs.ts';
import { listTemplatesEndpoint } from './templates.ts';
import { getUsageEndpoint } from './usage.ts';

/** What asks for a key, under the names that plans limit: a name without its record does not compile. */
const ENDPOINTS: { readonly [Name in EndpointName]: Endpoint & { readonly name: Name } } = {
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

/** Which pages for people are served. */
export interface Pages {
  readonly docs: boolean;
  readonly console: boolean;
}

export function pageRoutes(pages: Pages): Route[] {
  const reference = pages.docs ? [referenceRoute(apiDocument(), OPENAPI_PATH)] : [];
  return pages.console ? [...reference, ...consoleRoutes()] : reference;
}

export function apiRoutes(gate: Gate, node: NodeState): Route[] {
  const openApi = JSON.stringify(apiDocument());
  return [
    ...Object.values(ENDPOINTS).map((endpoint) => guarded(endpoint, gate, node)),
    { name: 'openapi', method: 'GET', path: OPENAPI_PATH, handle: (exchange) => exchange.json(200, openApi) },
  ];
}

/** Its handler sees only requests that may use it. */
function guarded(endpoint: Endpoint, gate: Gate, node: NodeState): Route {
  const { name, method, path, handle } = endpoint;
  const grant = endpoint.countsRate ? identify : grantAccess;
  return {
    name,
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

/** What a store cannot tell now may be there: the client is asked to come again, and never told that it is not. */
function refuseUnavailable(exchange: Exchange, fault: unknown): void {
  if (!(fault instanceof StoreUnavailableError)) throw fault;
  exchange.refuse(busy('The service cannot tell now. Try again shortly.'));
}

/** Asked every few seconds by machines: their log lines are for those who look for them. */
export const PROBES: ReadonlySet<string> = new Set(['livez', 'readyz', 'metrics']);

export function healthRoutes(readiness: Readiness): Route[] {
  return [
    { name: 'livez', method: 'GET', path: '/livez', handle: (exchange) => getLiveness(exchange) },
    { name: 'readyz', method: 'GET', path: '/readyz', handle: (exchange) => getReadiness(readiness, exchange) },
  ];
}

export function metricsRoutes(metrics: Metrics): Route[] {
  return [{ name: 'metrics', method: 'GET', path: '/metrics', handle: (exchange) => getMetrics(metrics, exchange) }];
}
