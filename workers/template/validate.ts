// Holds a normalised Template against its schema. The only importer of ajv, which compiles schemas of ours alone.
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { OperationTable } from './schema.ts';
import { validationSchema } from './schema.ts';

/** One violation as ajv tells it, with the schema and the value at its place. */
export type SchemaError = ErrorObject;

/** Checks values by the schema of a table of operations, which it compiles at first use (some 10 ms). */
export class SchemaValidator {
  readonly #table: OperationTable;
  #compiled: ValidateFunction | null = null;

  constructor(table: OperationTable) {
    this.#table = table;
  }

  /** All violations, in no order that means anything. */
  errors(template: unknown): readonly SchemaError[] {
    this.#compiled ??= new Ajv2020({
      allErrors: true,
      verbose: true,
      discriminator: true,
      // Our own schema is held against the meta-schema by a test, not at every start: that takes 200 ms.
      validateSchema: false,
      meta: false,
      strict: true,
      strictRequired: false,
      strictTypes: false,
      allowUnionTypes: true,
    }).compile(validationSchema(this.#table));
    return this.#compiled(template) ? [] : (this.#compiled.errors ?? []);
  }
}
