// Owns what goes wrong with one row: a code for the row's error and never a word of the row's content.
import type { RowErrorCode } from '../../run/report.ts';

/** The row error codes that an expression can give. */
export type EvaluationCode = Extract<
  RowErrorCode,
  | 'EXPR_TYPE'
  | 'EXPR_DIV_ZERO'
  | 'OUT_OF_RANGE'
  | 'TOO_LONG'
  | 'NOT_A_NUMBER'
  | 'NOT_A_DATE'
  | 'NOT_A_TIME'
  | 'NOT_A_DURATION'
  | 'NOT_A_BOOLEAN'
  | 'PRECISION_LOSS'
>;

/**
 * Thrown by compiled expressions. The instances are made once, below, since a column of bad cells throws millions of
 * them: their stack is that of this file and means nothing.
 */
export class EvaluationError extends Error {
  readonly code: EvaluationCode;

  constructor(code: EvaluationCode, message: string) {
    super(message);
    this.code = code;
  }
}

export const NO_OVERLOAD = new EvaluationError('EXPR_TYPE', 'no such overload');
export const NO_SUCH_KEY = new EvaluationError('EXPR_TYPE', 'no such key');
export const BAD_KEY = new EvaluationError('EXPR_TYPE', 'unsupported key type, or a key comes twice');
export const UNKNOWN_NAME = new EvaluationError('EXPR_TYPE', 'unknown variable or function');
export const BAD_ARGUMENT = new EvaluationError('EXPR_TYPE', 'invalid argument');
export const DIVISION_BY_ZERO = new EvaluationError('EXPR_DIV_ZERO', 'division by zero');
export const OVERFLOW = new EvaluationError('OUT_OF_RANGE', 'number out of range');
export const INDEX_OUT_OF_RANGE = new EvaluationError('OUT_OF_RANGE', 'index out of range');
export const TIME_OUT_OF_RANGE = new EvaluationError('OUT_OF_RANGE', 'date, time or duration out of range');
export const TOO_MANY_STEPS = new EvaluationError('TOO_LONG', 'the expression takes too many steps');
export const TEXT_TOO_LONG = new EvaluationError('TOO_LONG', 'the text is too long');
export const NOT_A_NUMBER = new EvaluationError('NOT_A_NUMBER', 'not a number');
export const NOT_A_DATE = new EvaluationError('NOT_A_DATE', 'not a date');
export const NOT_A_TIME = new EvaluationError('NOT_A_TIME', 'not a time of the day');
export const NOT_A_DURATION = new EvaluationError('NOT_A_DURATION', 'not a duration');
export const NOT_A_BOOLEAN = new EvaluationError('NOT_A_BOOLEAN', 'not a boolean');
export const PRECISION_LOSS = new EvaluationError('PRECISION_LOSS', 'digits would be lost');
