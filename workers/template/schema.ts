// The schema of a whole Template, put together from its sections, the operations and the output formats.
import { Type } from '../bundled/type-box.ts';
import { baseParameters, cellParameters } from '../execution/parameters/base-parameters.ts';
import type { OperationDefinition } from '../operations/operation.ts';
import { type JsonSchema, jsonSchema, mappingSchema } from './json-schema.ts';
import type { OperationTable, TemplateLanguage } from './language.ts';
import { outputSchema } from './output-section.ts';
import { defaultsSection, headSection, inputSection, tablesSection, testsSection } from './section-schemas.ts';
import { type StructureOperation, structureOperations } from './structure-operations.ts';

/** The sections in which a value has defaults, without the operations. */
export function templateSections({ outputFormats }: TemplateLanguage) {
  return Type.Object({
    ...headSection,
    input: Type.Optional(inputSection),
    tables: Type.Optional(tablesSection),
    defaults: Type.Optional(defaultsSection),
    output: Type.Optional(outputSchema(outputFormats)),
    tests: testsSection,
  });
}

/** The parameters of an operation in a file, without its name: its own and those that all have. */
function operationParameters(definition: OperationDefinition): { readonly [name: string]: object } {
  const own = mappingSchema(definition.parameters).properties;
  return { ...baseParameters, ...(definition.cells ? cellParameters : {}), ...own };
}

/** What ajv holds a normalised Template against, but for the parameters of its operations. */
export function sectionsSchema(language: TemplateLanguage): JsonSchema {
  return sections(language, { type: 'array', items: { type: 'object', required: ['op'] } });
}

/** What ajv holds a normalised operation against, `{op: name, ...}`; null for a name that the language has not. */
export function operationSchema({ operations }: TemplateLanguage, name: string): JsonSchema | null {
  const definition = operations.get(name);
  if (definition !== undefined) return definitionSchema(definition);
  const structure = structureOperations.find((one) => one.name === name);
  return structure === undefined ? null : structureSchema(structure);
}

/** The published schema, with the short form of operations, for editors. */
export function publishedSchema(language: TemplateLanguage): JsonSchema {
  const table = language.operations;
  const $defs: Record<string, unknown> = definitions(table);
  const names = Object.keys($defs);
  const short = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}/$defs/parameters` }]));
  const operation = {
    anyOf: [
      {
        type: 'object',
        discriminator: { propertyName: 'op' },
        required: ['op'],
        oneOf: names.map((name) => ({ $ref: `#/$defs/${name}` })),
      },
      { type: 'object', minProperties: 1, maxProperties: 1, properties: short, additionalProperties: false },
    ],
  };
  const list = { type: 'array', items: { $ref: '#/$defs/operation' } };
  for (const name of names) {
    const { properties, required, ...rest } = $defs[name] as { properties: Record<string, object>; required: string[] };
    const { op, ...parameters } = properties;
    const left = required.filter((parameter) => parameter !== 'op');
    const alone = { ...rest, properties: parameters, ...(left.length > 0 ? { required: left } : {}) };
    $defs[name] = { ...($defs[name] as object), $defs: { parameters: alone } };
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Template of template-run',
    ...sections(language, list, { type: 'object', additionalProperties: list }),
    $defs: { ...$defs, operation },
  };
}

function sections(language: TemplateLanguage, operations: object, fragments: object = { type: 'object' }): JsonSchema {
  const { properties, ...rest } = jsonSchema(templateSections(language)) as { properties: Record<string, object> };
  const described = { ...operations, description: 'What is done, in this order.' };
  return { ...rest, properties: { ...properties, fragments, operations: described } };
}

function definitions(table: OperationTable): Record<string, object> {
  return Object.fromEntries([
    ...[...table.values()].map((definition) => [definition.name, definitionSchema(definition)]),
    ...structureOperations.map((structure) => [structure.name, structureSchema(structure)]),
  ]);
}

function definitionSchema(definition: OperationDefinition): JsonSchema {
  const { name, summary, parameters } = definition;
  const { oneOf, anyOf, required = [] } = parameters as { oneOf?: unknown; anyOf?: unknown; required?: string[] };
  const alternatives = { ...(oneOf === undefined ? {} : { oneOf }), ...(anyOf === undefined ? {} : { anyOf }) };
  return entry(name, summary, operationParameters(definition), required, alternatives);
}

function structureSchema({ name, summary, parameters }: StructureOperation): JsonSchema {
  const { id, note, enabled } = baseParameters;
  const { properties, required = [] } = parameters as { properties: object; required?: string[] };
  return entry(name, summary, { id, note, enabled, ...properties }, required, {});
}

function entry(name: string, description: string, parameters: object, required: string[], more: object): JsonSchema {
  const properties = { op: { const: name, type: 'string' }, ...parameters };
  return jsonSchema({ type: 'object', description, properties, required: ['op', ...required], ...more });
}
