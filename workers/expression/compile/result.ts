// Owns what column an expression's result makes and the cell of each value: types that no column has become text or JSON.
import type { ColumnType } from '../../batch/schema.ts';
import { Decimal } from '../../values/decimal.ts';
import type { Type } from '../check/type.ts';
import { columnOfType } from './environment.ts';
import { narrowInteger, OptionalValue, Uint, type Value } from './value.ts';
import { valueText } from './value-text.ts';

/** The type of the column that holds an expression's results, and the way from a result to its cell. */
export interface ResultColumn {
  readonly type: ColumnType;
  /**
   * A result in the form of its type (as compileExpression gives it) as a cell in the form of the column's type (see
   * Resolver.column); a json cell is a Value, which valueText turns into JSON. Null stays null.
   */
  readonly cell: (result: unknown) => unknown;
}

/** The column of results of a type (`expression.type`). */
export function resultColumn(type: Type): ResultColumn {
  const column = columnOfType(type);
  if (type.kind === 'uint') {
    return {
      type: column,
      cell: (result) => (result instanceof Uint ? new Decimal(narrowInteger(result.value), 0) : null),
    };
  }
  if (type.kind === 'optional') {
    return {
      type: column,
      cell: (result) => (result instanceof OptionalValue && result.present ? result.value : null),
    };
  }
  // Bytes, spans and types have no column of their own.
  const asText = column === 'text' && type.kind !== 'string';
  return { type: column, cell: asText ? (result) => (result === null ? null : valueText(result as Value)) : same };
}

const same = (result: unknown) => result;
