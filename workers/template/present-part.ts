// The part of a schema by which given values can be held: what it says of keys that none of them has is left out, so that
// a function made of it is small.
import type { JsonSchema } from './json-schema.ts';
import { isMapping } from './mapping.ts';

/** @param values that will be held against the schema; the answer for each is that of the whole schema */
export function presentPart(schema: JsonSchema, values: readonly unknown[]): JsonSchema {
  const { properties, items } = schema;
  const part: Record<string, unknown> = { ...schema };
  if (isMapping(properties)) {
    const mappings = values.filter(isMapping);
    const parts = Object.entries(properties).map(([name, property]) => {
      const present = mappings.filter((mapping) => Object.hasOwn(mapping, name)).map((mapping) => mapping[name]);
      // It stays a name that may stand there.
      if (present.length === 0) return [name, true];
      return [name, isMapping(property) ? presentPart(property, present) : property];
    });
    part['properties'] = Object.fromEntries(parts);
  }
  if (isMapping(items)) part['items'] = presentPart(items, values.filter(Array.isArray).flat());
  return part;
}
