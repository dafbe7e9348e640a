// The schema of a whole Template, put together from its sections and the table of operations.
import { Type } from '../bundled/type-box.ts';
import { baseParameters, cellParameters } from '../operations/base-parameters.ts';
import type { OperationDefinition } from '../operations/operation.ts';
import { type JsonSchema, jsonSchema } from './json-schema.ts';
import {
  defaultsSection,
  headSection,
  inputSection,
  outputSection,
  tablesSection,
  testsSection,
} from './section-schemas.ts';
import { commentParameters, useParameters } from './structure-operations.ts';

export type OperationTable = ReadonlyMap<string, OperationDefinition>;

/** The sections in which a value has defaults, without the operations. */
export const templateSections = Type.Object({
  ...headSection,
  input: Type.Optional(inputSection),
  tables: Type.Optional(tablesSection),
  defaults: Type.Optional(defaultsSection),
  output: Type.Optional(outputSection),
  tests: testsSection,
});

/** The parameters of an operation in a file, without its name: its own and those that all have. */
export function operationParameters(definition: OperationDefinition): { readonly [name: string]: object } {
  const own = (definition.parameters as unknown as { properties?: { [name: string]: object } }).properties ?? {};
  return { ...baseParameters, ...(definition.cells ? cellParameters : {}), ...own };
}

/** What ajv holds a normalised Template against: each operation as `{op: name, ...}`, in place of fragments too. */
export function validationSchema(table: OperationTable): JsonSchema {
  const operation = {
    type: 'object',
    discriminator: { propertyName: 'op' },
    required: ['op'],
    oneOf: references(table),
  };
  return { ...sections({ type: 'array', items: operation }), $defs: definitions(table) };
}

/** The published schema, with the short form of operations, for editors. */
export function publishedSchema(table: OperationTable): JsonSchema {
  const names = [...Object.keys(definitions(table))];
  const short = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}/$defs/parameters` }]));
  const operation = {
    anyOf: [
      { type: 'object', discriminator: { propertyName: 'op' }, required: ['op'], oneOf: references(table) },
      { type: 'object', minProperties: 1, maxProperties: 1, properties: short, additionalProperties: false },
    ],
  };
  const list = { type: 'array', items: { $ref: '#/$defs/operation' } };
  const $defs: Record<string, unknown> = { ...definitions(table), operation };
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
    ...sections(list, { type: 'object', additionalProperties: list }),
    $defs,
  };
}

function sections(operations: object, fragments: object = { type: 'object' }): JsonSchema {
  const { properties, ...rest } = jsonSchema(templateSections) as { properties: Record<string, object> };
  const described = { ...operations, description: 'What is done, in this order.' };
  return { ...rest, properties: { ...properties, fragments, operations: described } };
}

function references(table: OperationTable): { $ref: string }[] {
  return Object.keys(definitions(table)).map((name) => ({ $ref: `#/$defs/${name}` }));
}

function definitions(table: OperationTable): Record<string, object> {
  const operations = [...table.values()].map((definition): [string, object] => {
    const { oneOf, anyOf } = definition.parameters as { oneOf?: unknown; anyOf?: unknown };
    const alternatives = { ...(oneOf === undefined ? {} : { oneOf }), ...(anyOf === undefined ? {} : { anyOf }) };
    const required = (definition.parameters as { required?: string[] }).required ?? [];
    return [
      definition.name,
      entry(definition.name, definition.summary, operationParameters(definition), required, alternatives),
    ];
  });
  const { id, note, enabled } = baseParameters;
  const structure: [string, string, { properties: object; required?: string[] | undefined }][] = [
    ['use', 'The operations of a fragment, in this place.', useParameters],
    ['comment', 'A remark; does nothing.', commentParameters],
  ];
  const rest = structure.map(([name, summary, { properties, required }]): [string, object] => [
    name,
    entry(name, summary, { id, note, enabled, ...properties }, required ?? [], {}),
  ]);
  return Object.fromEntries([...operations, ...rest]);
}

function entry(name: string, description: string, parameters: object, required: string[], more: object): JsonSchema {
  const properties = { op: { const: name, type: 'string' }, ...parameters };
  return jsonSchema({ type: 'object', description, properties, required: ['op', ...required], ...more });
}
