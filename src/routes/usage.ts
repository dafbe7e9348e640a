// get_usage: what the account has used of its plan, and its ceilings.
import type { Plan } from '../catalog/catalog.ts';
import { ERRORS_EVERYWHERE } from '../http/openapi.ts';
import { USAGE_EXAMPLE } from '../http/openapi-examples.ts';
import { API_PATH } from '../runs/run.ts';
import { countRate } from './access.ts';
import type { Endpoint, Granted } from './endpoint.ts';

export const getUsageEndpoint = {
  name: 'get_usage',
  method: 'GET',
  path: `${API_PATH}/usage`,
  scope: 'runs:read',
  openApi: {
    summary: "Read the account's usage and ceilings",
    parameters: [],
    successes: [
      {
        status: 200,
        description: 'The usage at this moment.',
        content: {
          'application/json': { schema: { $ref: '#/components/schemas/Usage' }, example: USAGE_EXAMPLE },
        },
      },
    ],
    errors: [...ERRORS_EVERYWHERE, 'CONCURRENCY_LIMIT_REACHED', 'SERVER_BUSY'],
  },
  countsRate: true,
  handle: answer,
} as const satisfies Endpoint;

async function answer({ node, exchange, access, rates, name }: Granted): Promise<void> {
  const { desk, periods } = node;
  const { plan } = access.subscription;
  const period = periods.of(access.subscription, desk.now());
  // Side by side: where a store is away, the client is told after one deadline and not after two.
  const counting = countRate(rates, exchange, name, access);
  const [passes, { used, runsInFlight }] = await Promise.all([counting, desk.usage(access.account.id, period)]);
  if (!passes) return;
  exchange.json(200, {
    used,
    limit: plan.runsPerPeriod,
    resets_at: new Date(period.endsAt).toISOString(),
    runs_in_flight: runsInFlight,
    ceilings: ceilingsOf(plan),
  });
}

/** By their names in plans.json; null = none. */
function ceilingsOf(plan: Plan): object {
  return {
    runs_in_flight_max: plan.runsInFlightMax,
    upload_bytes_max: plan.uploadBytesMax,
    inflated_bytes_max: plan.inflatedBytesMax,
    rows_max: plan.rowsMax,
    output_rows_max: plan.outputRowsMax,
    output_bytes_max: plan.outputBytesMax,
  };
}
