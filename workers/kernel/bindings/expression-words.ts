// Maps the names that expressions and aggregations use to the numeric codes of their kernels.
import {
  ADD,
  AND,
  BOOLEAN,
  DATE_DAY,
  DATE_MONTH,
  DATE_WEEKDAY,
  DATE_YEAR,
  DECIMAL,
  DIVIDE,
  DOUBLE,
  EQUAL,
  GREATER,
  GREATER_OR_EQUAL,
  INTEGER,
  LESS,
  LESS_OR_EQUAL,
  MULTIPLY,
  OR,
  SET,
  SUBTRACT,
  TEXT_CONTAINS,
  TEXT_ENDS,
  TEXT_IS_ANY,
  TEXT_IS_NULL,
  TEXT_LESS,
  TEXT_LESS_OR_EQUAL,
  TEXT_STARTS,
} from '../layout/expressions.ts';

/** Modes of combining new states with the existing ones. */
export const STATES = { set: SET, and: AND, or: OR } as const;

/** Tests on texts. */
export const TEXT_TESTS = {
  isAny: TEXT_IS_ANY,
  startsWith: TEXT_STARTS,
  endsWith: TEXT_ENDS,
  contains: TEXT_CONTAINS,
  '<': TEXT_LESS,
  '<=': TEXT_LESS_OR_EQUAL,
  isNull: TEXT_IS_NULL,
} as const;

/** Type of the values of a vector. */
export const FORMS = { double: DOUBLE, int: INTEGER, decimal: DECIMAL } as const;

/** Like FORMS. A date is the whole number of its day. */
export const VECTOR_FORMS = { ...FORMS, date: INTEGER } as const;

/** Type of the values of an aggregated column. */
export const FOLD_FORMS = { ...FORMS, boolean: BOOLEAN } as const;

export const ORDERS = {
  '<': LESS,
  '<=': LESS_OR_EQUAL,
  '>': GREATER,
  '>=': GREATER_OR_EQUAL,
  '==': EQUAL,
} as const;

export const ARITHMETIC = { '+': ADD, '-': SUBTRACT, '*': MULTIPLY, '/': DIVIDE } as const;

export const DATE_PARTS = { year: DATE_YEAR, month: DATE_MONTH, day: DATE_DAY, weekday: DATE_WEEKDAY } as const;
