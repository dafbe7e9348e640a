// Owns what an expression may name: the columns at its step, the cell at hand, the reference tables. Rows are the
// compiler's.
import type { ColumnType } from '../../batch/schema.ts';
import { BOOL, DATE, DECIMAL, DOUBLE, DYN, INT, STRING, TIMESTAMP, type Type } from '../check/type.ts';

/** Columns by name: a Map, or what answers like one. */
export type ExpressionColumns = Pick<ReadonlyMap<string, ColumnType>, 'get' | 'has' | 'size'> & {
  keys(): Iterable<string>;
};

/** What the expression of one step sees. */
export interface ExpressionEnvironment {
  /** Columns at this step, in their order. */
  readonly columns: ExpressionColumns;
  /** The type of `value` in operations on cells; absent elsewhere. */
  readonly value?: ColumnType;
  /** Columns of the reference tables that the template declares; null where they are not known yet. */
  readonly tables?: ReadonlyMap<string, readonly string[] | null>;
  /** Further variables, dotted names included: the values around a file's table, and the conformance test's bindings. */
  readonly variables?: ReadonlyMap<string, Type>;
  /** A sentence with the known name that was probably meant, or nothing. */
  readonly suggest?: (name: string, known: () => Iterable<string>) => string;
  /** `dynamic` leaves wrong types and unknown names to run time, as CEL does without its checker. Default: strict. */
  readonly mode?: 'strict' | 'dynamic';
}

/** The type of an expression over a column's values. */
export function typeOfColumn(column: ColumnType): Type {
  return COLUMN_TYPES[column];
}

/** The column type that holds an expression's result: text for types without one, json for lists, maps and dyn. */
export function columnOfType(type: Type): ColumnType {
  switch (type.kind) {
    case 'int':
      return 'integer';
    // Up to 2 ** 64 - 1, which no integer column holds.
    case 'uint':
    case 'decimal':
      return 'decimal';
    case 'double':
      return 'number';
    case 'bool':
      return 'boolean';
    case 'date':
      return 'date';
    case 'timestamp':
      return 'datetime';
    case 'list':
    case 'map':
    case 'dyn':
    case 'optional':
    case 'variable':
    case 'abstract':
      return 'json';
    default:
      return 'text';
  }
}

const COLUMN_TYPES: Readonly<Record<ColumnType, Type>> = {
  text: STRING,
  integer: INT,
  decimal: DECIMAL,
  number: DOUBLE,
  boolean: BOOL,
  date: DATE,
  datetime: TIMESTAMP,
  json: DYN,
};
