// What a target says of the columns that are wanted: a Template, a JSON Schema of a row, or a file of rows.
import { readFileSync } from 'node:fs';
import { checkTemplate } from '../../../workers/plan/check-template.ts';
import { explainTemplate } from '../../../workers/plan/explain.ts';
import { parseTemplate, templateFormat } from '../../../workers/template/template-text.ts';
import type { ColumnProfile } from '../column-profile.ts';
import { profileSample } from '../sample-profile.ts';
import type { RunSample } from '../sample-run.ts';
import { type ColumnKind, kindOf, type TargetColumn } from './target-column.ts';

/** The target cannot be read as what its name says. */
export class TargetRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TargetRefusedError';
  }
}

/** @param run Runs of the target, where it is a file of rows. Throws TargetRefusedError, or as profileSample does. */
export async function readTarget(path: string, run: RunSample): Promise<readonly TargetColumn[]> {
  const format = templateFormat(path);
  if (format === null) return await columnsOfRows(path, run);
  const source = readFileSync(path, 'utf8');
  const read = parseTemplate(source, format);
  if ('problems' in read) throw new TargetRefusedError(`The target cannot be read: ${read.problems[0]!.message}`);
  const { value } = read.text.root;
  const properties = propertiesOf(value);
  if (properties !== null) return columnsOfSchema(properties);
  // JSON may also be rows, as a sample may.
  if (format === 'json' && (Array.isArray(value) || !isTemplate(value))) return await columnsOfRows(path, run);
  return columnsOfTemplate(source, format);
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

/** A text in a Template may be a number that nobody has read. */
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

/** The properties of a row, of a list of rows, or of lists in it; null: it is no JSON Schema. */
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

/** Parts of a column that are read, and what each has to be. */
const PARTS: Readonly<Record<string, (part: unknown) => boolean>> = {
  title: (part) => typeof part === 'string',
  enum: Array.isArray,
  examples: Array.isArray,
  minimum: (part) => typeof part === 'number',
  maximum: (part) => typeof part === 'number',
};

/** True, as JSON Schema writes it, says nothing of a column but that it may be there. */
function schemaColumn(name: string, schema: unknown): SchemaColumn {
  const place = `The target has problems: the property ${JSON.stringify(name)}`;
  if (schema === true) return {};
  if (typeof schema !== 'object' || schema === null) throw new TargetRefusedError(`${place} is no object.`);
  for (const [part, value] of Object.entries(schema)) {
    if (Object.hasOwn(PARTS, part) && !PARTS[part]!(value))
      throw new TargetRefusedError(`${place} has a ${part} that is none.`);
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
