// Owns what is wrong with an expression when a template is saved: a value for the author, never a row's error.

/** One problem. `offset` counts UTF-16 units from the start of the expression; `code` is stable, `message` is English. */
export interface ExpressionProblem {
  readonly code: ProblemCode;
  readonly message: string;
  readonly offset: number;
}

/** The closed list of problem codes. */
export type ProblemCode =
  | 'EXPR_SYNTAX'
  | 'EXPR_LIMIT'
  | 'EXPR_UNKNOWN_COLUMN'
  | 'EXPR_UNKNOWN_FUNCTION'
  | 'EXPR_UNKNOWN_TABLE'
  | 'EXPR_TYPE'
  | 'EXPR_BAD_ARGUMENT'
  | 'EXPR_UNSUPPORTED';

/** Thrown inside the parser only; parseExpression turns it into its value. */
export class ProblemFound extends Error {
  readonly problem: ExpressionProblem;

  constructor(code: ProblemCode, message: string, offset: number) {
    super(message);
    this.problem = { code, message, offset };
  }
}
