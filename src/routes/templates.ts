// list_templates: the Templates of the account.
import type { Account } from '../catalog/catalog.ts';
import { ERRORS_EVERYWHERE } from '../http/openapi.ts';
import { TEMPLATE_LIST_EXAMPLE } from '../http/openapi-schemas.ts';
import { API_PATH } from '../runs/run.ts';
import type { Endpoint, Granted } from './endpoint.ts';

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
  handle: answer,
} as const satisfies Endpoint;

function answer({ node, exchange, access: { account } }: Granted): void {
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
