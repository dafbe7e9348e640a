// list_templates: the account's Templates.
import type { Exchange } from '../http/exchange.ts';
import { type Gate, grantAccess } from './access.ts';

export async function listTemplates(gate: Gate, exchange: Exchange): Promise<void> {
  const access = await grantAccess(gate, exchange, 'list_templates');
  if (access === null) return;
  const data = [...access.account.templates.values()].map(({ id, name, description, outputFormat }) => {
    return { id, name, description, output_format: outputFormat };
  });
  exchange.json(200, { data });
}
