// The tables of routes: the API's, and those of health and metrics, which may have a port of their own.
import { openApiDocument } from '../http/openapi.ts';
import type { Route } from '../http/router.ts';
import type { Metrics } from '../metrics.ts';
import type { NodeState } from '../runs/node-state.ts';
import { API_PATH } from '../runs/run.ts';
import type { Gate } from './access.ts';
import { getLiveness, getMetrics, getReadiness } from './health.ts';
import { getRunOutput } from './outputs.ts';
import { getRun, postRun } from './runs.ts';
import { listTemplates } from './templates.ts';

export function apiRoutes(gate: Gate, node: NodeState): Route[] {
  const openApi = JSON.stringify(openApiDocument());
  return [
    {
      operation: 'list_templates',
      method: 'GET',
      path: `${API_PATH}/templates`,
      handle: (exchange) => listTemplates(gate, exchange),
    },
    {
      operation: 'create_run',
      method: 'POST',
      path: `${API_PATH}/templates/{template_id}/runs`,
      handle: (exchange, parameters) => postRun(gate, node, exchange, parameters['template_id']!),
    },
    {
      operation: 'get_run',
      method: 'GET',
      path: `${API_PATH}/runs/{run_id}`,
      handle: (exchange, parameters) => getRun(gate, node, exchange, parameters['run_id']!),
    },
    {
      operation: 'get_run_output',
      method: 'GET',
      path: `${API_PATH}/runs/{run_id}/output`,
      handle: (exchange, parameters) => getRunOutput(gate, node, exchange, parameters['run_id']!),
    },
    {
      operation: 'openapi',
      method: 'GET',
      path: `${API_PATH}/openapi.json`,
      handle: (exchange) => exchange.json(200, openApi),
    },
  ];
}

export function opsRoutes(node: NodeState, metrics: Metrics): Route[] {
  return [
    { operation: 'livez', method: 'GET', path: '/livez', handle: (exchange) => getLiveness(exchange) },
    { operation: 'readyz', method: 'GET', path: '/readyz', handle: (exchange) => getReadiness(node, exchange) },
    { operation: 'metrics', method: 'GET', path: '/metrics', handle: (exchange) => getMetrics(metrics, exchange) },
  ];
}
