// Holds a normalised Template against its schema. Ajv compiles schemas of ours alone.
import { Ajv2020, type ErrorObject, type ValidateFunction } from '../bundled/ajv.ts';
import type { OperationTable } from './schema.ts';
import { validationSchema } from './schema.ts';

/** One violation as ajv tells it, with the schema and the value at its place. */
export type SchemaError = ErrorObject;

/**
 * Checks Templates by the schema of a table of operations. It compiles the sections at first use and each operation when
 * a Template first uses it: all of them together take a third of a second, which a command line would feel.
 */
export class SchemaValidator {
  readonly #table: OperationTable;
  readonly #operations = new Map<string, ValidateFunction>();
  #sections: ValidateFunction | null = null;
  #schemas: Readonly<Record<string, object>> = {};

  constructor(table: OperationTable) {
    this.#table = table;
  }

  /** All violations, in no order that means anything. */
  errors(template: { readonly operations: readonly unknown[] }): readonly SchemaError[] {
    this.#sections ??= this.#compileSections();
    const errors = this.#sections(template) ? [] : [...(this.#sections.errors ?? [])];
    for (const [index, operation] of template.operations.entries()) {
      const validate = this.#operation((operation as { op?: unknown }).op);
      if (validate === null || validate(operation)) continue;
      for (const error of validate.errors ?? []) {
        errors.push({ ...error, instancePath: `/operations/${index}${error.instancePath}` });
      }
    }
    return errors;
  }

  #compileSections(): ValidateFunction {
    const { $defs, properties, ...rest } = validationSchema(this.#table) as {
      $defs: Record<string, object>;
      properties: Record<string, object>;
    };
    this.#schemas = $defs;
    const operations = { type: 'array', items: { type: 'object', required: ['op'] } };
    return compile({ ...rest, properties: { ...properties, operations } });
  }

  /** Null for a name that is not in the table: that is told before the schema is asked. */
  #operation(name: unknown): ValidateFunction | null {
    if (typeof name !== 'string' || !Object.hasOwn(this.#schemas, name)) return null;
    const known = this.#operations.get(name);
    if (known !== undefined) return known;
    const validate = compile(this.#schemas[name]!);
    this.#operations.set(name, validate);
    return validate;
  }
}

function compile(schema: object): ValidateFunction {
  return new Ajv2020({
    allErrors: true,
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
