// A compact schema, for completion and help in editors: an operation is written as its name with its parameters,
// parameters are suggested only where they belong, and definitions that many operations share occur once. The full
// schema rejects everything that this one rejects.

import type { JsonSchema } from './json-schema.ts';
import type { TemplateLanguage } from './language.ts';
import { publishedSchema } from './schema.ts';

/** Shorter definitions are repeated instead of shared. In characters of JSON. */
const SHARED_LENGTH_MIN = 80;

export function compactSchema(language: TemplateLanguage): JsonSchema {
  const { $defs, ...full } = publishedSchema(language) as JsonSchema & { $defs: Readonly<Record<string, JsonSchema>> };
  const { operation: _, ...definitions } = $defs;
  const names = Object.keys(definitions);
  const parameters = Object.fromEntries(
    names.map((name) => [name, (definitions[name]!['$defs'] as { parameters: JsonSchema }).parameters]),
  );
  const shared = new SharedParts([parameters, full]);
  const compact = {
    ...(shared.named(full) as JsonSchema),
    $defs: {
      ...Object.fromEntries(names.map((name) => [name, shared.named(parameters[name], name)])),
      operation: operationSchema(names),
    },
  };
  return { ...compact, $defs: { ...compact.$defs, ...shared.definitions } };
}

/**
 * Schema of one operation. For the long form, only the name is checked: an editor would otherwise suggest the
 * parameters of all operations together.
 */
function operationSchema(names: readonly string[]): JsonSchema {
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]));
  return {
    type: 'object',
    if: { required: ['op'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { op: { enum: names, description: 'The long form: {op: name, parameters}.' } } },
    else: { minProperties: 1, maxProperties: 1, properties, additionalProperties: false },
  };
}

/** Collects definitions that occur several times, each under the name of the property of its first occurrence. */
class SharedParts {
  readonly definitions: Record<string, unknown> = {};
  readonly #counts = new Map<string, number>();
  readonly #names = new Map<string, string>();

  constructor(schemas: readonly unknown[]) {
    for (const schema of schemas) this.#count(schema);
  }

  /** Returns the schema with references in place of shared definitions. */
  named(value: unknown, key = ''): unknown {
    if (Array.isArray(value)) return value.map((item) => this.named(item, key));
    if (!isSchemaPart(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => {
        if (name !== 'properties' || !isSchemaPart(part)) return [name, DATA.has(name) ? part : this.named(part, name)];
        return [
          name,
          Object.fromEntries(
            Object.entries(part).map(([property, schema]) => [property, this.#reference(property, schema)]),
          ),
        ];
      }),
    );
  }

  #reference(property: string, schema: unknown): unknown {
    const text = JSON.stringify(schema);
    if ((this.#counts.get(text) ?? 0) < 2 || text.length < SHARED_LENGTH_MIN) return this.named(schema, property);
    const known = this.#names.get(text);
    if (known !== undefined) return { $ref: `#/$defs/${known}` };
    let name = `shared_${property}`;
    for (let number = 2; name in this.definitions; number++) name = `shared_${property}_${number}`;
    this.#names.set(text, name);
    this.definitions[name] = null;
    this.definitions[name] = this.named(schema, property);
    return { $ref: `#/$defs/${name}` };
  }

  #count(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.#count(item);
    if (!isSchemaPart(value)) return;
    for (const [name, part] of Object.entries(value)) {
      if (DATA.has(name)) continue;
      if (name === 'properties' && isSchemaPart(part)) {
        for (const schema of Object.values(part)) {
          const text = JSON.stringify(schema);
          this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
        }
      }
      this.#count(part);
    }
  }
}

/** Keywords whose values are not schemas. */
const DATA: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'required', 'examples']);

function isSchemaPart(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
