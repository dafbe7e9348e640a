// The schema of a whole Template, and the validation of Templates against it.

import { Ajv2020, type ErrorObject, type ValidateFunction } from '../bundled/ajv.ts';
import { Type } from '../bundled/type-box.ts';
import { baseParameters, cellParameters } from './base-parameters.ts';
import { type JsonSchema, jsonSchema, mappingSchema } from './json-schema.ts';
import type { OperationTable, TemplateLanguage } from './language.ts';
import type { OperationDefinition } from './operation.ts';
import { defaultsSection, headSection, inputSection, tablesSection, testsSection } from './section-schemas.ts';
import { outputSchema } from './sections.ts';
import { isMapping } from './source-node.ts';

// Reduces a schema to the part that applies to given values: properties that none of the values has are left out, so
// that the function compiled from the schema is small.

/** @param values the values to validate; the reduced schema gives the same results for them as the whole schema */
export function presentPart(schema: JsonSchema, values: readonly unknown[]): JsonSchema {
  const { properties, items } = schema;
  const part: Record<string, unknown> = { ...schema };
  if (isMapping(properties)) {
    const mappings = values.filter(isMapping);
    const parts = Object.entries(properties).map(([name, property]) => {
      const present = mappings.filter((mapping) => Object.hasOwn(mapping, name)).map((mapping) => mapping[name]);
      // The name stays allowed.
      if (present.length === 0) return [name, true];
      return [name, isMapping(property) ? presentPart(property, present) : property];
    });
    part['properties'] = Object.fromEntries(parts);
  }
  if (isMapping(items)) part['items'] = presentPart(items, values.filter(Array.isArray).flat());
  return part;
}

// The schema of a whole Template, combined from its sections, the operations and the output formats.

/** The sections whose values have defaults, without the operations. */
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

/** All parameters of an operation in a file, without its name: the operation's own and the common ones. */
function operationParameters(definition: OperationDefinition): { readonly [name: string]: object } {
  const own = mappingSchema(definition.parameters).properties;
  return { ...baseParameters, ...(definition.cells ? cellParameters : {}), ...own };
}

/** Schema for a normalised Template, without the parameters of its operations. */
export function sectionsSchema(language: TemplateLanguage): JsonSchema {
  return sections(language, { type: 'array', items: { type: 'object', required: ['op'] } });
}

/** Schema for a normalised operation `{op: name, ...}`; null for an unknown name. */
export function operationSchema({ operations }: TemplateLanguage, name: string): JsonSchema | null {
  const definition = operations.get(name);
  if (definition !== undefined) return definitionSchema(definition);
  const structure = structureOperations.find((one) => one.name === name);
  return structure === undefined ? null : structureSchema(structure);
}

/** The published schema for editors, which also accepts the short form of operations. */
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
  const described = { ...operations, description: 'The operations, in the order in which they run.' };
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

// Validates a normalised Template against its schema. Only our own schemas are compiled with ajv.

/** One violation as reported by ajv, with the schema and the value at its position. */
export type SchemaError = ErrorObject;

/**
 * Checks Templates against the schema of a language. Compiling functions for all sections and operations takes a
 * third of a second, which is noticeable on a command line. Therefore the first Template is checked by functions that
 * cover only what it contains. If it has violations, and for all later Templates, the complete functions are compiled
 * on demand.
 */
export class SchemaValidator {
  readonly #language: TemplateLanguage;
  /** Functions by name. The prefix "!" marks a function that stops at the first violation. */
  readonly #operations = new Map<string, ValidateFunction>();
  #sections: ValidateFunction | null = null;
  #isFirst = true;

  constructor(language: TemplateLanguage) {
    this.#language = language;
  }

  /** All violations, in no particular order. For an operation with thousands of values, only one violation. */
  errors(template: { readonly operations: readonly unknown[] }): readonly SchemaError[] {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst && this.#isValid(template)) return [];
    this.#sections ??= compile(sectionsSchema(this.#language));
    const errors = this.#sections(template) ? [] : [...(this.#sections.errors ?? [])];
    for (const [index, operation] of template.operations.entries()) {
      const validate = this.#operation((operation as { op?: unknown }).op, isLong(operation));
      if (validate === null || validate(operation)) continue;
      for (const error of validate.errors ?? []) {
        errors.push({ ...error, instancePath: `/operations/${index}${error.instancePath}` });
      }
    }
    return errors;
  }

  #isValid(template: { readonly operations: readonly unknown[] }): boolean {
    if (!isValid(sectionsSchema(this.#language), [template])) return false;
    const byName = new Map<unknown, unknown[]>();
    for (const operation of template.operations) {
      const { op } = operation as { op?: unknown };
      const same = byName.get(op);
      if (same === undefined) byName.set(op, [operation]);
      else same.push(operation);
    }
    return [...byName].every(([name, operations]) => {
      const schema = typeof name === 'string' ? operationSchema(this.#language, name) : null;
      return schema === null || isValid(schema, operations);
    });
  }

  /** Returns null for a name that is not in the table. Such names are reported before the schema check. */
  #operation(name: unknown, stopsAtFirst: boolean): ValidateFunction | null {
    if (typeof name !== 'string') return null;
    const key = stopsAtFirst ? `!${name}` : name;
    const known = this.#operations.get(key);
    if (known !== undefined) return known;
    const schema = operationSchema(this.#language, name);
    if (schema === null) return null;
    const validate = compile(schema, stopsAtFirst);
    this.#operations.set(key, validate);
    return validate;
  }
}

function isValid(schema: JsonSchema, values: readonly unknown[]): boolean {
  const validate = compile(presentPart(schema, values), true);
  return values.every((value) => validate(value));
}

/**
 * Maximum number of values of an operation for which all violations are collected. Ajv keeps 4 KiB for each
 * violation, and reports a dozen for each value in a wrong form: a Template of 1 MiB with such values took 400 MiB
 * and 3 s.
 */
const VALUES_MAX = 5_000;

/** True if the value contains so many values that only its first violation is reported. */
function isLong(value: unknown): boolean {
  let left = VALUES_MAX;
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const parts: unknown[] = Array.isArray(next) ? next : Object.values(next);
    left -= parts.length;
    if (left < 0) return true;
    for (const part of parts) if (typeof part === 'object' && part !== null) open.push(part);
  }
  return false;
}

function compile(schema: object, stopsAtFirst = false): ValidateFunction {
  return new Ajv2020({
    allErrors: !stopsAtFirst,
    verbose: true,
    discriminator: true,
    // Optimising the functions takes as long as generating them, and they are called only once.
    code: { optimize: false },
    // A test validates our own schema against the meta-schema. At every start this would take 200 ms.
    validateSchema: false,
    meta: false,
    strict: true,
    strictRequired: false,
    strictTypes: false,
    allowUnionTypes: true,
  }).compile(schema);
}

// The two entries of a list of operations that are not operations themselves: `use` and `comment`.

/** `use` is replaced by the operations of a fragment. */
const useParameters = Type.Object({
  fragment: Type.String({ minLength: 1, description: 'Name of a list under `fragments`.' }),
  with: Type.Optional(
    Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.Unknown(), {
      description: 'Values by name; in the fragment they are written as a dollar sign and the name in braces.',
    }),
  ),
});

/** `comment` is a remark for readers. */
const commentParameters = Type.Object({
  text: Type.Optional(Type.String({ description: 'Anything.' })),
});

export interface StructureOperation {
  readonly name: string;
  readonly summary: string;
  readonly parameters: object;
}

/** In the order of the reference. */
export const structureOperations: readonly StructureOperation[] = [
  { name: 'use', summary: 'The operations of a fragment, in this place.', parameters: useParameters },
  { name: 'comment', summary: 'A remark; does nothing.', parameters: commentParameters },
];

// A compact schema, for completion and help in editors: an operation is written as its name with its parameters,
// parameters are suggested only where they belong, and definitions that many operations share occur once. The full
// schema rejects everything that this one rejects.

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
      operation: compactOperation(names),
    },
  };
  return { ...compact, $defs: { ...compact.$defs, ...shared.definitions } };
}

/**
 * Schema of one operation. For the long form, only the name is checked: an editor would otherwise suggest the
 * parameters of all operations together.
 */
function compactOperation(names: readonly string[]): JsonSchema {
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
