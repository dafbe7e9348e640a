// Endpoints about the account: list_templates, and get_usage with the usage of its plan and its limits.

import type { Account, Plan } from '../catalog/catalog.ts';
import { ERRORS_EVERYWHERE } from '../http/openapi.ts';
import { TEMPLATE_LIST_EXAMPLE, USAGE_EXAMPLE } from '../http/openapi-schemas.ts';
import { API_PATH } from '../runs/run.ts';
import type { AdmissionStore } from '../stores/admission-store.ts';
import type { BillingPeriods } from '../stores/billing-period.ts';
import { countRate, type Endpoint, type Granted } from './endpoint.ts';

/** The parts of the node that get_usage needs. */
interface UsageParts {
  readonly admissions: AdmissionStore;
  readonly periods: BillingPeriods;
}

/** The parts of the node that list_templates needs. */
export interface TemplateListParts {
  /** Responses by account of the catalog: requests at the same time share one text. */
  readonly templateLists: WeakMap<object, string>;
}

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
  handle: answerUsage,
} as const satisfies Endpoint<UsageParts>;

async function answerUsage({ node, exchange, access, rates, name }: Granted<UsageParts>): Promise<void> {
  const { admissions, periods } = node;
  const { plan } = access.subscription;
  const period = periods.of(access.subscription, admissions.now());
  // In parallel: if a store is unavailable, the client gets its response after one timeout instead of two.
  const counting = countRate(rates, exchange, name, access);
  const [passes, { used, runsInFlight }] = await Promise.all([counting, admissions.usage(access.account.id, period)]);
  if (!passes) return;
  exchange.json(200, {
    used,
    limit: plan.runsPerPeriod,
    resets_at: new Date(period.endsAt).toISOString(),
    runs_in_flight: runsInFlight,
    ceilings: ceilingsOf(plan),
  });
}

/** Limits by their names in plans.json; null for no limit. */
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

export const listTemplatesEndpoint = {
  name: 'list_templates',
  method: 'GET',
  path: `${API_PATH}/templates`,
  scope: 'templates:read',
  openApi: {
    summary: "List the account's Templates",
    parameters: [],
    successes: [
      {
        status: 200,
        description: 'The Templates.',
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/TemplateList' },
            example: TEMPLATE_LIST_EXAMPLE,
          },
        },
      },
    ],
    errors: [...ERRORS_EVERYWHERE, 'CONCURRENCY_LIMIT_REACHED'],
  },
  handle: answerTemplates,
} as const satisfies Endpoint<TemplateListParts>;

function answerTemplates({ node, exchange, access: { account } }: Granted<TemplateListParts>): void {
  let text = node.templateLists.get(account);
  if (text === undefined) {
    text = listText(account);
    node.templateLists.set(account, text);
  }
  exchange.json(200, text);
}

function listText({ templates }: Account): string {
  const data = [...templates.values()].map(({ id, name, description, outputFormat }) => {
    return { id, name, description, output_format: outputFormat };
  });
  return JSON.stringify({ data });
}
