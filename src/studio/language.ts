// What the page completes: operations with their parameters, functions, sections of a Template.
import { baseParameters, cellParameters } from '../../workers/execution/parameters/base-parameters.ts';
import { FUNCTIONS_BY_THEME } from '../../workers/expression/functions/index.ts';
import { operationTable } from '../../workers/operations/index.ts';
import { templateLanguage } from '../../workers/plan/template-language.ts';
import { mappingSchema } from '../../workers/template/json-schema.ts';
import { templateSections } from '../../workers/template/schema.ts';
import type { Language, LanguageName } from './studio-answers.ts';

export function studioLanguage(): Language {
  const common = named(baseParameters);
  const ofCells = named(cellParameters);
  const operations = [...operationTable.values()].map(({ name, summary, parameters, cells }) => ({
    name,
    summary,
    parameters: unique([...named(mappingSchema(parameters).properties), ...(cells ? ofCells : []), ...common]),
  }));
  const functions = [...FUNCTIONS_BY_THEME.values()].flat().map(({ name, documentation: { form, summary } }) => ({
    name,
    summary: `${form}: ${summary}`,
  }));
  const sections = named(mappingSchema(templateSections(templateLanguage)).properties);
  return { operations, functions, sections: unique([...sections, { name: 'operations', summary: 'What is done.' }]) };
}

function named(properties: Readonly<Record<string, unknown>>): LanguageName[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { description } = schema as { readonly description?: unknown };
    return { name, summary: typeof description === 'string' ? description : '' };
  });
}

function unique(names: readonly LanguageName[]): LanguageName[] {
  return [...new Map(names.map((each) => [each.name, each])).values()];
}
