// Names that an expression may use: the columns at its step, the current cell, and the reference tables. Values are
// provided by the Resolver of the compiler.
import type { ColumnType } from '../../batch/schema.ts';
import { BOOL, DATE, DECIMAL, DOUBLE, DYN, INT, STRING, TIMESTAMP, type Type } from '../check/type.ts';

/** Columns by name: a Map, or an object with the same methods. */
export type ExpressionColumns = Pick<ReadonlyMap<string, ColumnType>, 'get' | 'has' | 'size'> & {
  keys(): Iterable<string>;
};

/** Environment of an expression in one step. */
export interface ExpressionEnvironment {
  /** Columns at this step, in order. */
  readonly columns: ExpressionColumns;
  /** The type of `value` in operations on cells; otherwise absent. */
  readonly value?: ColumnType;
  /** Columns of the reference tables that the Template declares; null if they are not known yet. */
  readonly tables?: ReadonlyMap<string, readonly string[] | null>;
  /**
   * Other variables, including dotted names: values above and below the table, and the bindings of the conformance
   * tests.
   */
  readonly variables?: ReadonlyMap<string, Type>;
  /** A sentence with the known name that was probably meant, or ''. */
  readonly suggest?: (name: string, known: () => Iterable<string>) => string;
  /** `dynamic` leaves type errors and unknown names to run time, like CEL without its checker. Default: strict. */
  readonly mode?: 'strict' | 'dynamic';
}

/** The expression type of a column's values. */
export function typeOfColumn(column: ColumnType): Type {
  return COLUMN_TYPES[column];
}

/** The column type for an expression's result: text for types without a column type, json for lists, maps and dyn. */
export function columnOfType(type: Type): ColumnType {
  switch (type.kind) {
    case 'int':
      return 'integer';
    // A uint can be up to 2 ** 64 - 1, which does not fit into an integer column.
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
