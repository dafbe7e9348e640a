// Holds a normalised Template against its schema. Ajv compiles schemas of ours alone.
import { Ajv2020, type ErrorObject, type ValidateFunction } from '../bundled/ajv.ts';
import type { JsonSchema } from './json-schema.ts';
import type { TemplateLanguage } from './language.ts';
import { presentPart } from './present-part.ts';
import { operationSchema, sectionsSchema } from './schema.ts';

/** One violation as ajv tells it, with the schema and the value at its place. */
export type SchemaError = ErrorObject;

/**
 * Checks Templates by the schema of a language. A function for all that the sections may hold, and one for each operation,
 * take a third of a second to make, which a command line would feel: the first Template is checked by functions that know
 * what it says itself, and no more. Where it has violations, and for those that come after it, all is made that they need.
 */
export class SchemaValidator {
  readonly #language: TemplateLanguage;
  /** By name; with a sign before it the one that stops at the first violation. */
  readonly #operations = new Map<string, ValidateFunction>();
  #sections: ValidateFunction | null = null;
  #isFirst = true;

  constructor(language: TemplateLanguage) {
    this.#language = language;
  }

  /** All violations, in no order that means anything; of an operation with thousands of values one of them. */
  errors(template: { readonly operations: readonly unknown[] }): readonly SchemaError[] {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst && this.#isSound(template)) return [];
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

  #isSound(template: { readonly operations: readonly unknown[] }): boolean {
    if (!isSound(sectionsSchema(this.#language), [template])) return false;
    const byName = new Map<unknown, unknown[]>();
    for (const operation of template.operations) {
      const { op } = operation as { op?: unknown };
      const same = byName.get(op);
      if (same === undefined) byName.set(op, [operation]);
      else same.push(operation);
    }
    return [...byName].every(([name, operations]) => {
      const schema = typeof name === 'string' ? operationSchema(this.#language, name) : null;
      return schema === null || isSound(schema, operations);
    });
  }

  /** Null for a name that is not in the table: that is reported before the schema is asked. */
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

function isSound(schema: JsonSchema, values: readonly unknown[]): boolean {
  const validate = compile(presentPart(schema, values), true);
  return values.every((value) => validate(value));
}

/** Ajv keeps 4 KiB for each violation, and has a dozen for each value in a wrong form: a MiB of them took 400 MiB and 3 s. */
const VALUES_MAX = 5_000;

/** Whether a value holds more values than all violations of it are wanted for. */
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
    // To make its functions shorter takes a command as long as to write them, and they are called once.
    code: { optimize: false },
    // Our own schema is held against the meta-schema by a test, not at every start: that takes 200 ms.
    validateSchema: false,
    meta: false,
    strict: true,
    strictRequired: false,
    strictTypes: false,
    allowUnionTypes: true,
  }).compile(schema);
}
