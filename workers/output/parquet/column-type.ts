// The settings of Parquet outputs, and the form of a column type in the file: physical type, annotations, width of a value.
import type { Column, ColumnType } from '../../batch/schema.ts';
import { Type } from '../../bundled/type-box.ts';
import { defineOutputSection } from '../format.ts';
import { STRUCT, TEXTS, type ThriftWriter } from './thrift-writer.ts';

/** Numbers of physical types, converted types and fields of the logical type in parquet.thrift. */
const BOOLEAN = 0;
const INT32 = 1;
const INT64 = 2;
const DOUBLE = 5;
const BYTE_ARRAY = 6;
const FIXED_LEN_BYTE_ARRAY = 7;

const OPTIONAL = 1;

/** Precision of a decimal, in digits: the maximum that fits into 128 bits. */
export const DECIMAL_DIGITS = 38;
/** Size of a decimal's unscaled value. See DECIMAL_DIGITS. */
export const DECIMAL_BYTES = 16;

interface ColumnForm {
  readonly physical: number;
  /** The older annotation (converted type), and the newer one (logical type) that replaces it. */
  readonly converted: number | null;
  readonly logical: ((thrift: ThriftWriter) => void) | null;
  /** Size of a value in bytes; 0 for values that store their length, and for bits. */
  readonly width: number;
}

const nothing = (): void => {};

/** Integers and doubles need no annotation. */
const FORMS: Readonly<Record<ColumnType, ColumnForm>> = {
  text: { physical: BYTE_ARRAY, converted: 0, logical: (thrift) => thrift.struct(1, nothing), width: 0 },
  json: { physical: BYTE_ARRAY, converted: 19, logical: (thrift) => thrift.struct(12, nothing), width: 0 },
  integer: { physical: INT64, converted: null, logical: null, width: 8 },
  number: { physical: DOUBLE, converted: null, logical: null, width: 8 },
  boolean: { physical: BOOLEAN, converted: null, logical: null, width: 0 },
  date: { physical: INT32, converted: 6, logical: (thrift) => thrift.struct(6, nothing), width: 4 },
  datetime: {
    physical: INT64,
    converted: 10,
    // Microseconds since 1970, UTC.
    logical: (thrift) =>
      thrift.struct(8, () => {
        thrift.boolean(1, true);
        thrift.struct(2, () => thrift.struct(2, nothing));
      }),
    width: 8,
  },
  decimal: { physical: FIXED_LEN_BYTE_ARRAY, converted: 5, logical: null, width: DECIMAL_BYTES },
};

export function physicalOf({ type }: Column): number {
  return FORMS[type].physical;
}

export function widthOf({ type }: Column): number {
  return FORMS[type].width;
}

/** Writes the list of schema elements as the given field: the root, and the columns, all of which are optional. */
export function writeSchema(
  thrift: ThriftWriter,
  field: number,
  columns: readonly Column[],
  decimalScale: number,
): void {
  thrift.list(field, STRUCT, columns.length + 1);
  thrift.body(() => {
    thrift.text(4, 'schema');
    thrift.integer(5, columns.length);
  });
  for (const { name, type } of columns) {
    const { physical, converted, logical, width } = FORMS[type];
    const isDecimal = type === 'decimal';
    thrift.body(() => {
      thrift.integer(1, physical);
      if (isDecimal) thrift.integer(2, width);
      thrift.integer(3, OPTIONAL);
      thrift.text(4, name);
      if (converted !== null) thrift.integer(6, converted);
      if (isDecimal) {
        thrift.integer(7, decimalScale);
        thrift.integer(8, DECIMAL_DIGITS);
      }
      if (logical !== null) thrift.struct(10, () => logical(thrift));
      else if (isDecimal) thrift.struct(10, () => writeDecimal(thrift, decimalScale));
    });
  }
}

/** Writes the path of a column in the schema. */
export function writePath(thrift: ThriftWriter, field: number, { name }: Column): void {
  thrift.list(field, TEXTS, 1);
  thrift.element(name);
}

function writeDecimal(thrift: ThriftWriter, scale: number): void {
  thrift.struct(5, () => {
    thrift.integer(1, scale);
    thrift.integer(2, DECIMAL_DIGITS);
  });
}

// Settings of parquet in a Template: the section `output.parquet`.

export interface ParquetSettings {
  readonly decimalScale: number;
}

/** Equals the maximum scale of a quotient of two decimals. */
const DECIMAL_SCALE_DEFAULT = 10;

export const parquetSection = defineOutputSection({
  name: 'parquet',
  schema: Type.Object({
    decimal_scale: Type.Integer({
      minimum: 0,
      maximum: DECIMAL_DIGITS,
      default: DECIMAL_SCALE_DEFAULT,
      description: 'Decimal places of all decimal columns, which have 38 digits in total.',
    }),
  }),
  settings: (written): ParquetSettings => ({ decimalScale: written.decimal_scale }),
  check() {},
});
