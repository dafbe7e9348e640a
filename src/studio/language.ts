// The language as the page of the studio needs it, and the forms of operations.

import { FUNCTIONS_BY_THEME } from '../../workers/expression/functions/index.ts';
import { operationTable } from '../../workers/operations/index.ts';
import { templateLanguage } from '../../workers/plan/plan.ts';
import { baseParameters, cellParameters, columnName, columnSet } from '../../workers/template/base-parameters.ts';
import { type JsonSchema, jsonSchema, mappingSchema } from '../../workers/template/json-schema.ts';
import type { OperationDefinition } from '../../workers/template/operation.ts';
import { templateSections } from '../../workers/template/schema.ts';
import type { FormField, FormProperty, FormVariant, Language, LanguageName, OperationForm } from './studio-answers.ts';

// The form of an operation, made from the JSON schema of its parameters. The page renders it; no field is written by
// hand. A schema that no kind of field can show becomes a field for YAML text.

/** Fields of a form nested deeper than this become YAML text. At present, no operation needs more than four. */
const DEPTH_MAX = 6;

/** Definitions that are recognised by their texts, which are the same in all operations. */
const COLUMN_SET = jsonSchema(columnSet);
const COLUMN_NAME = jsonSchema(columnName);

export function operationForm({ parameters, cells, examples }: OperationDefinition): OperationForm {
  const schema = jsonSchema(parameters);
  const own = objectField(schema, 0);
  const extra = { ...(cells ? cellParameters : {}), ...baseParameters };
  const further = Object.entries(extra)
    .filter(([name]) => !own.properties.some((property) => property.name === name))
    .map(([name, definition]) => property(name, jsonSchema(definition), false, 0));
  const { op: _, ...example } = examples[0]?.operation ?? {};
  return { ...own, further, example };
}

/** Settings of a section that are needed most; they come first in its form. */
const FREQUENT_SETTINGS: readonly string[] = ['format', 'csv', 'sheet', 'columns'];

/** The form of a section of a Template. */
function sectionForm(section: object): OperationForm {
  const { properties, ...field } = objectField(jsonSchema(section), 0);
  const frequent = FREQUENT_SETTINGS.flatMap((name) => properties.filter((one) => one.name === name));
  const others = properties.filter((one) => !frequent.includes(one));
  return { ...field, properties: [...frequent, ...others], further: [], example: null };
}

type ObjectField = Extract<FormField, { readonly kind: 'object' }>;

function objectField(schema: JsonSchema, depth: number): ObjectField {
  const { properties, required, oneOf } = mappingSchema(schema);
  return {
    kind: 'object',
    properties: Object.entries(properties).map(([name, part]) => property(name, part, required.includes(name), depth)),
    choices: (oneOf ?? []).map((each) => each.required),
  };
}

function property(name: string, schema: JsonSchema, isRequired: boolean, depth: number): FormProperty {
  const { description, default: standard } = schema;
  return {
    name,
    help: typeof description === 'string' ? description : '',
    isRequired,
    ...(standard === undefined ? {} : { default: standard }),
    field: fieldOf(schema, depth),
  };
}

function fieldOf(schema: JsonSchema, depth: number): FormField {
  const { type, allOf, anyOf } = schema;
  if (depth > DEPTH_MAX) return { kind: 'yaml' };
  if (schema['title'] === COLUMN_SET['title']) return { kind: 'columns' };
  if (Array.isArray(allOf) && allOf.length === 1) return fieldOf(allOf[0] as JsonSchema, depth);
  if (Array.isArray(anyOf) && type === undefined) return variantsField(anyOf as JsonSchema[], depth);
  if ('const' in schema) return { kind: 'constant', value: schema['const'] };
  if (Array.isArray(schema['enum'])) return { kind: 'choice', options: schema['enum'] as (string | number)[] };
  switch (type) {
    case 'string':
      if (schema['description'] === COLUMN_NAME['description']) return { kind: 'column' };
      return { kind: 'text', mayBeEmpty: schema['minLength'] === undefined };
    case 'number':
    case 'integer':
      return { kind: 'number', isInteger: type === 'integer' };
    case 'boolean':
      return { kind: 'boolean' };
    case 'null':
      return { kind: 'constant', value: null };
    case 'array':
      return listField(schema, depth);
    case 'object':
      return mappingField(schema, depth);
    default:
      return { kind: 'yaml' };
  }
}

function listField(schema: JsonSchema, depth: number): FormField {
  const { items, prefixItems } = schema;
  if (prefixItems !== undefined || typeof items !== 'object' || items === null) return { kind: 'yaml' };
  return { kind: 'list', item: fieldOf(items as JsonSchema, depth + 1) };
}

/** A mapping with fixed keys, or one whose keys are the user's. */
function mappingField(schema: JsonSchema, depth: number): FormField {
  const [pattern] = Object.values((schema['patternProperties'] ?? {}) as Record<string, JsonSchema>);
  if (pattern !== undefined) return { kind: 'map', value: fieldOf(pattern, depth + 1) };
  return schema['properties'] === undefined ? { kind: 'yaml' } : objectField(schema, depth + 1);
}

/** Nested alternatives are shown as one list. */
function variantsField(schemas: readonly JsonSchema[], depth: number): FormField {
  const variants = schemas.flatMap((schema): readonly FormVariant[] => {
    const field = fieldOf(schema, depth);
    return field.kind === 'variants' ? field.variants : [{ label: labelOf(field), field }];
  });
  return { kind: 'variants', variants };
}

function labelOf(field: FormField): string {
  switch (field.kind) {
    case 'object':
      return field.properties.length === 1 ? field.properties[0]!.name : 'with settings';
    case 'constant':
      return String(field.value);
    case 'list':
      return 'a list';
    case 'map':
      return 'pairs';
    case 'boolean':
      return 'true or false';
    case 'choice':
      return 'one of a list';
    case 'yaml':
      return 'YAML';
    default:
      return field.kind;
  }
}

const SECTIONS_WITH_FORM = ['input', 'output'] as const;

const SECTION_SUMMARIES = {
  input: 'How the file is read. Settings that are absent are detected from the file.',
  output: 'How the result is written.',
} as const;

// The language as the page needs it: operations with their parameters and forms, functions, and sections of a Template.

export function studioLanguage(): Language {
  const common = named(baseParameters);
  const ofCells = named(cellParameters);
  const operations = [...operationTable.values()].map((operation) => {
    const { name, summary, parameters, cells, knownAs } = operation;
    return {
      name,
      summary,
      parameters: unique([...named(mappingSchema(parameters).properties), ...(cells ? ofCells : []), ...common]),
      alsoCalled: (knownAs ?? []).map(({ names }) => names).join(' '),
      form: operationForm(operation),
    };
  });
  const functions = [...FUNCTIONS_BY_THEME.values()].flat().map(({ name, documentation: { form, summary } }) => ({
    name,
    summary: `${form}: ${summary}`,
  }));
  const { properties } = mappingSchema(templateSections(templateLanguage));
  const sections = unique([...named(properties), { name: 'operations', summary: 'The operations.' }]);
  const sectionForms = SECTIONS_WITH_FORM.map((name) => {
    const summary = SECTION_SUMMARIES[name];
    return { name, summary, form: sectionForm(properties[name]!) };
  });
  return { operations, functions, sections, sectionForms };
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
