// Binds the catalog's loader to the engine's Template checker: the account's reference tables and secrets are those of the catalog.
import { checkTemplate } from '../../workers/template/check.ts';
import type { Template } from '../../workers/template/template.ts';
import type { CheckTemplate } from './template-checker.ts';

/** What the loader is given in the service and in `catalog check`. */
export const checkForCatalog: CheckTemplate<Template> = (source, format, { tables, secrets }) => {
  const result = checkTemplate(source, format, { tables, secrets });
  if ('problems' in result) return result;
  const { name, description, output } = result.template;
  return { template: { name, description, outputFormat: output.format, checked: result.template } };
};
