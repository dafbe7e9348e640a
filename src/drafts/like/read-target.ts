// Reads the wanted columns from a target: a Template, the JSON Schema of a row, or a file of rows.
import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { explainTemplate } from '../../../workers/plan/explain.ts';
import { checkTemplate } from '../../../workers/plan/template-cache.ts';
import { TEMPLATE_CHARACTERS_MAX } from '../../../workers/template/source-node.ts';
import { parseTemplate, templateFormat } from '../../../workers/template/template-text.ts';
import type { ColumnProfile } from '../column-profile.ts';
import { profileSample, type RunSample } from '../sample-profile.ts';
import { type ColumnKind, kindOf, type TargetColumn } from './match-columns.ts';

/** The target cannot be read in the format that its file name indicates. */
export class TargetRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TargetRefusedError';
  }
}

/**
 * @param run runs Templates on the target, used if it is a file of rows. Throws TargetRefusedError, or the errors of
 * profileSample.
 */
export async function readTarget(path: string, run: RunSample): Promise<readonly TargetColumn[]> {
  const format = templateFormat(path) ?? formatByContent(path);
  if (format === null) return await columnsOfRows(path, run);
  const source = readFileSync(path, 'utf8');
  const read = parseTemplate(source, format);
  if ('problems' in read) throw new TargetRefusedError(`The target cannot be read: ${read.problems[0]!.message}`);
  const { value } = read.text.root;
  const properties = propertiesOf(value);
  if (properties !== null) return columnsOfSchema(properties);
  // A JSON target may also be a file of rows, like a sample.
  if (format === 'json' && (Array.isArray(value) || !isTemplate(value))) return await columnsOfRows(path, run);
  return columnsOfTemplate(source, format);
}

/**
 * Format of a target whose name has no extension, such as a copy of standard input. YAML, which includes JSON, if it is a
 * Template or a JSON Schema; null for a file of rows.
 */
function formatByContent(path: string): 'yaml' | null {
  if (extname(path) !== '' || statSync(path).size > TEMPLATE_CHARACTERS_MAX) return null;
  const read = parseTemplate(readFileSync(path, 'utf8'), 'yaml');
  if ('problems' in read) return null;
  const { value } = read.text.root;
  return propertiesOf(value) !== null || isTemplate(value) ? 'yaml' : null;
}

function isTemplate(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ['format', 'input', 'operations'].some((key) => key in value);
}

function columnsOfTemplate(source: string, format: 'json' | 'yaml'): TargetColumn[] {
  const checked = checkTemplate(source, format);
  if ('problems' in checked) throw new TargetRefusedError(`The target has problems: ${checked.problems[0]!.message}`);
  const { template } = checked;
  const types = new Map(explainTemplate(template).output.columns.map(({ name, type }) => [name, type]));
  return template.fileColumns.map(({ name, match }) => ({
    name,
    aliases: match.filter((form): form is string => typeof form === 'string'),
    kind: kindOfType(types.get(name)),
    values: null,
    range: null,
  }));
}

/** Kind of a column of type "text" is unknown: its cells may be numbers that the Template never parses. */
function kindOfType(type: string | undefined): ColumnKind | null {
  if (type === 'decimal' || type === 'integer' || type === 'number') return 'number';
  return type === 'date' || type === 'datetime' ? 'date' : null;
}

interface SchemaColumn {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly title?: string;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The properties of a row, of a list of rows, or of nested lists; null: not a JSON Schema. */
function propertiesOf(schema: unknown): object | null {
  let inner = schema;
  while (typeof inner === 'object' && inner !== null) {
    const { properties, items } = inner as { readonly properties?: unknown; readonly items?: unknown };
    if (typeof properties === 'object' && properties !== null) return properties;
    inner = items;
  }
  return null;
}

function columnsOfSchema(properties: object): TargetColumn[] {
  return Object.entries(properties).map(([name, schema]) => {
    const column = schemaColumn(name, schema);
    const values = [...(column.enum ?? []), ...(column.examples ?? [])].map(String);
    const { minimum, maximum } = column;
    return {
      name,
      aliases: column.title === undefined ? [] : [column.title],
      kind: schemaKind(column),
      values: values.length === 0 ? null : new Set(values),
      range: minimum === undefined || maximum === undefined ? null : [minimum, maximum],
    };
  });
}

/** The parts of a column's schema that are read, each with a check of its type. */
const PARTS: Readonly<Record<string, (part: unknown) => boolean>> = {
  title: (part) => typeof part === 'string',
  enum: Array.isArray,
  examples: Array.isArray,
  minimum: (part) => typeof part === 'number',
  maximum: (part) => typeof part === 'number',
};

/** JSON Schema allows `true` for a property without constraints. */
function schemaColumn(name: string, schema: unknown): SchemaColumn {
  const place = `The target has problems: the property ${JSON.stringify(name)}`;
  if (schema === true) return {};
  if (typeof schema !== 'object' || schema === null) throw new TargetRefusedError(`${place} is not an object.`);
  for (const [part, value] of Object.entries(schema)) {
    if (Object.hasOwn(PARTS, part) && !PARTS[part]!(value))
      throw new TargetRefusedError(`${place} has a "${part}" that JSON Schema does not allow.`);
  }
  return schema;
}

function schemaKind({ type, format }: SchemaColumn): ColumnKind | null {
  const types = [type ?? []].flat();
  if (types.includes('number') || types.includes('integer')) return 'number';
  if (format === 'date' || format === 'date-time') return 'date';
  return types.includes('string') ? 'text' : null;
}

async function columnsOfRows(path: string, run: RunSample): Promise<TargetColumn[]> {
  const { headers, columns } = await profileSample(path, run);
  return headers.map((name, at) => {
    const column = columns[at]!;
    const values = column.values === null ? null : new Set(column.values.keys());
    return { name, aliases: [], kind: kindOf(column), values, range: rangeOf(column) };
  });
}

function rangeOf({ values }: ColumnProfile): [number, number] | null {
  const numbers = [...(values?.keys() ?? [])].map(Number);
  if (numbers.length === 0 || numbers.some(Number.isNaN)) return null;
  return [Math.min(...numbers), Math.max(...numbers)];
}
