// Writes the reference of the Template language as Markdown, from the same definitions that validate Templates.
import { baseParameters, cellParameters } from '../execution/parameters/base-parameters.ts';
import { MEMORY_CLASSES, type OperationDefinition, type OperationExample } from '../operations/operation.ts';
import { type JsonSchema, mappingSchema } from './json-schema.ts';
import type { TemplateLanguage } from './language.ts';
import { cell, code } from './markdown.ts';
import { EXPRESSIONS } from './reference-expressions.ts';
import { RULES } from './reference-prose.ts';
import { templateSections } from './schema.ts';
import { type StructureOperation, structureOperations } from './structure-operations.ts';

export function templateReference(language: TemplateLanguage): string {
  const table = language.operations;
  return [
    '# Reference of Templates',
    '',
    'A Template is a JSON or YAML file. Unknown keys, operations and parameters are errors.',
    '',
    '## Sections',
    '',
    ...sections(language),
    ...RULES,
    ...EXPRESSIONS,
    '## Operations',
    '',
    'An operation is written as `{op: name, ...parameters}`, or in short as `{name: {...parameters}}`.',
    '',
    'All operations have these parameters:',
    '',
    ...parameterTable(baseParameters, []),
    'Operations on cells also have:',
    '',
    ...parameterTable(cellParameters, []),
    ...[...table.values()].flatMap(operation),
    ...structureOperations.flatMap(structure),
  ].join('\n');
}

function sections(language: TemplateLanguage): string[] {
  const { properties, required } = mappingSchema(templateSections(language));
  const rows: Record<string, JsonSchema> = {};
  for (const [name, schema] of Object.entries(properties)) flatten(name, schema, rows);
  rows['fragments'] = { type: 'object', description: 'Lists of operations by name, for `use`.' };
  rows['operations'] = { type: 'array', description: 'What is done, in this order.' };
  return parameterTable(rows, required);
}

/** `input.csv.delimiter` and the like, one row each. */
function flatten(path: string, schema: JsonSchema, rows: Record<string, JsonSchema>): void {
  const item = schema['items'] as JsonSchema | undefined;
  const inner = (schema['properties'] ?? item?.['properties']) as Record<string, JsonSchema> | undefined;
  if (inner === undefined || schema['description'] !== undefined) rows[path] = schema;
  const mark = schema['items'] === undefined ? '' : '[]';
  for (const [name, part] of Object.entries(inner ?? {})) flatten(`${path}${mark}.${name}`, part, rows);
}

function operation(definition: OperationDefinition): string[] {
  const { properties, required, oneOf } = mappingSchema(definition.parameters);
  const groups = oneOf?.map((group) => group.required.map(code).join(' with '));
  const { memory } = definition;
  const memoryClass =
    typeof memory === 'function' ? 'depends on its parameters' : `${memory}, ${MEMORY_CLASSES[memory]}`;
  const cells = definition.cells ? ' Works on cells: `where` is known.' : '';
  return [
    `### ${definition.name}`,
    '',
    `${definition.summary} Memory: ${memoryClass}.${cells}`,
    '',
    ...parameterTable(withParts(properties), required),
    ...(groups === undefined ? [] : [`Exactly one of: ${groups.join('; ')}.`, '']),
    ...definition.examples.flatMap(example),
  ];
}

/** Adds the parameters of the mappings in a list: `metrics[].fn` behind `metrics`. */
function withParts(properties: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const rows: Record<string, JsonSchema> = {};
  for (const [name, schema] of Object.entries(properties)) {
    rows[name] = schema;
    for (const [part, inner] of Object.entries(partsOf(schema) ?? {})) {
      // Where the list itself tells what its parts mean they say nothing of their own.
      if (inner['description'] !== undefined) rows[`${name}[].${part}`] = inner;
    }
  }
  return rows;
}

/** What the mappings of a list hold, also where the list is one of several forms. */
function partsOf(schema: JsonSchema): Record<string, JsonSchema> | null {
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as JsonSchema[] | undefined;
  const lists = [schema, ...(alternatives ?? [])].flatMap(({ items }) =>
    items === undefined ? [] : [items as JsonSchema],
  );
  for (const item of lists) {
    for (const form of [item, ...((item['anyOf'] as JsonSchema[] | undefined) ?? [])]) {
      if (typeof form['properties'] === 'object') return form['properties'] as Record<string, JsonSchema>;
    }
  }
  return null;
}

function structure({ name, summary, parameters }: StructureOperation): string[] {
  const { properties, required } = mappingSchema(parameters);
  return [`### ${name}`, '', summary, '', ...parameterTable(properties, required)];
}

function parameterTable(properties: Readonly<Record<string, unknown>>, required: readonly string[]): string[] {
  const rows = Object.entries(properties).map(([name, property]) => {
    const schema = property as JsonSchema;
    const isNeeded = required.includes(name) && schema['default'] === undefined;
    const fallback =
      schema['default'] === undefined ? (isNeeded ? 'required' : '') : code(JSON.stringify(schema['default']));
    return `| ${code(name)} | ${cell(typeText(schema))} | ${cell(fallback)} | ${cell(String(schema['description'] ?? ''))} |`;
  });
  if (rows.length === 0) return [];
  return ['| Parameter | Type | Default | Meaning |', '|---|---|---|---|', ...rows, ''];
}

const TYPE_TEXTS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
  object: 'mapping',
  null: 'null',
};

function typeText(schema: JsonSchema): string {
  if (Array.isArray(schema['enum'])) return [...new Set(schema['enum'].map((value) => code(String(value))))].join(', ');
  if ('const' in schema) return code(String(schema['const']));
  if (typeof schema['title'] === 'string') return schema['title'].split(':')[0]!;
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as JsonSchema[] | undefined;
  if (alternatives !== undefined && schema['type'] === undefined) {
    return [...new Set(alternatives.map(typeText))].join(' or ');
  }
  const items = schema['items'];
  if (schema['type'] === 'array' && typeof items === 'object' && !Array.isArray(items)) {
    return `list of ${typeText(items as JsonSchema)}`;
  }
  const properties = schema['properties'] as object | undefined;
  if (properties !== undefined) return code(`{${Object.keys(properties).join(', ')}}`);
  return TYPE_TEXTS[String(schema['type'])] ?? 'any';
}

function example({ title, operation: written, input, output }: OperationExample): string[] {
  const grid = ({ columns, types, rows }: OperationExample['input']): string[] => [
    `| ${columns.map((name, index) => cell(types === undefined ? name : `${name} (${types[index]})`)).join(' | ')} |`,
    `|${'---|'.repeat(columns.length)}`,
    ...rows.map((row) => `| ${row.map((value) => cell(value ?? '*null*')).join(' | ')} |`),
    '',
  ];
  const text = JSON.stringify(written);
  return [`Example: ${title}.`, '', '```json', text, '```', '', ...grid(input), 'gives', '', ...grid(output)];
}
