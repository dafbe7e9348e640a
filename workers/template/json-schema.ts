// Converts TypeBox definitions to JSON Schema (draft 2020-12) for validation and editors. Objects are closed, and
// properties with a default are optional.

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The published form of a definition. Objects are closed unless the definition says otherwise. */
export function jsonSchema(definition: object): JsonSchema {
  return published(definition) as JsonSchema;
}

function published(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(published);
  if (typeof value !== 'object' || value === null) return value;
  const { items, additionalItems, ...rest } = value as Record<string, unknown>;
  const schema: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(rest)) {
    schema[key] = key === 'default' || key === 'const' || key === 'enum' ? part : published(part);
  }
  if (Array.isArray(items)) {
    schema['prefixItems'] = published(items);
    schema['items'] = additionalItems === undefined ? false : additionalItems;
    schema['maxItems'] = items.length;
  } else if (items !== undefined) schema['items'] = published(items);
  return schema['type'] === 'object' ? closed(schema) : schema;
}

function closed(schema: Record<string, unknown>): Record<string, unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, Record<string, unknown>>;
  const required = ((schema['required'] ?? []) as string[]).filter(
    (name) => properties[name]?.['default'] === undefined,
  );
  const { required: _, ...rest } = schema;
  const additional = schema['additionalProperties'] ?? false;
  return { ...rest, ...(required.length > 0 ? { required } : {}), additionalProperties: additional };
}

/** Properties of a mapping's definition. */
export interface MappingSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  /** Alternatives, of which exactly one must match; null if the definition has no alternatives. */
  readonly oneOf: readonly MappingSchema[] | null;
}

/** Reads the definition of a mapping. Missing keywords become empty values. */
export function mappingSchema(definition: object): MappingSchema {
  const { properties, required, oneOf } = definition as JsonSchema;
  return {
    properties: (properties ?? {}) as MappingSchema['properties'],
    required: (required ?? []) as readonly string[],
    oneOf: oneOf === undefined ? null : (oneOf as readonly object[]).map(mappingSchema),
  };
}

/** Returns the value with the defaults of its definition filled in. Texts, lists and alternatives are unchanged. */
export function withDefaults(definition: object, value: unknown): unknown {
  const schema = definition as Record<string, unknown>;
  if (Array.isArray(value) && typeof schema['items'] === 'object' && !Array.isArray(schema['items'])) {
    return value.map((item) => withDefaults(schema['items'] as object, item));
  }
  const properties = schema['properties'] as Record<string, Record<string, unknown>> | undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || properties === undefined) return value;
  const filled: Record<string, unknown> = Object.create(null);
  for (const [name, part] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    filled[name] = property === undefined ? part : withDefaults(property, part);
  }
  for (const [name, property] of Object.entries(properties)) {
    if (!(name in filled) && property['default'] !== undefined) filled[name] = property['default'];
  }
  return filled;
}
