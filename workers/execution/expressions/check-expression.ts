// Expressions of the Template when it is saved: checked against the columns of a step, which they thereby read.
import type { ColumnType } from '../../batch/schema.ts';
import { checkExpression } from '../../expression/check/checker.ts';
import { emptyComparisonNote, emptyComparisons } from '../../expression/check/empty-comparison.ts';
import { integerDivisionNote } from '../../expression/check/integer-division.ts';
import { lineCommentNote } from '../../expression/check/line-comment.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import { typeText } from '../../expression/check/type.ts';
import type { ExpressionColumns, ExpressionEnvironment } from '../../expression/compile/environment.ts';
import { tokenize } from '../../expression/syntax/lexer.ts';
import { ProblemFound } from '../../expression/syntax/problem.ts';
import type { Scope } from '../../template/scope.ts';

/**
 * Checks an expression against the columns of a step and reads those that it names; with `if_missing: skip` a missing
 * one is a column of nulls for it. Null after a problem.
 *
 * @param value type of the cell at hand, in operations on cells
 * @param doubt what may have been meant otherwise: told with problems of types, else as a note
 */
export function checkRowExpression(
  scope: Scope,
  source: string,
  pointer: string,
  value?: ColumnType,
  doubt: string | null = null,
): CheckedExpression | null {
  const columns = new ScopeColumns(scope, pointer);
  const { tables, variables } = scope;
  const known = { columns, tables, variables, suggest: scope.suggest };
  const environment: ExpressionEnvironment = value === undefined ? known : { ...known, value };
  const checked = checkExpression(source, environment);
  if ('expression' in checked) {
    for (const name of checked.expression.columns) scope.read(name, pointer);
    if (checked.expression.readsRunRow) scope.uses.add('run_row');
    if (checked.expression.dependsOnDay) scope.uses.add('started_at');
    for (const each of emptyComparisons(checked.expression)) scope.note(pointer, emptyComparisonNote(each));
    for (const each of [lineCommentNote(source), integerDivisionNote(checked.expression), doubt])
      if (each !== null) scope.note(pointer, each);
    return checked.expression;
  }
  for (const { code, message, offset } of checked.problems) {
    if (columns.told && code === 'EXPR_UNKNOWN_COLUMN') continue;
    // The pointer leads to the whole expression: in a long one the place inside helps.
    const place = offset === 0 ? '' : ` (At character ${offset + 1} of the expression.)`;
    const told = doubt === null || code !== 'EXPR_TYPE' ? '' : ` ${doubt}`;
    scope.problem(pointer, code, message + place + told);
  }
  return null;
}

/** Names that stand in an expression where those of columns may. */
export interface NamesUsed {
  readonly columns: ReadonlySet<string>;
  /** Whether `value`, the cell at hand, is among them: as a word, not in quotes. */
  readonly value: boolean;
}

/** None for a text that is no expression. */
export function namesUsed(source: string): NamesUsed {
  try {
    const tokens = tokenize(source);
    const names = tokens.filter(
      ({ kind }, index) => (kind === 'identifier' || kind === 'quoted') && tokens[index - 1]?.text !== '.',
    );
    return {
      columns: new Set(names.map(({ text }) => text)),
      value: names.some(({ kind, text }) => kind === 'identifier' && text === 'value'),
    };
  } catch (error) {
    if (error instanceof ProblemFound) return { columns: new Set(), value: false };
    throw error;
  }
}

/** As checkRowExpression, for an expression that chooses rows: its type must be bool. */
export function checkCondition(
  scope: Scope,
  source: string,
  pointer: string,
  value?: ColumnType,
): CheckedExpression | null {
  const expression = checkRowExpression(scope, source, pointer, value);
  if (expression === null || CONDITIONS.has(expression.type.kind)) return expression;
  scope.problem(
    pointer,
    'EXPR_TYPE',
    `This must be a condition, true or false, but it gives ${typeText(expression.type)}. Compare it with something.`,
  );
  return null;
}

/** Of a dyn it shows with each row whether it is a condition. */
const CONDITIONS: ReadonlySet<string> = new Set(['bool', 'dyn', 'null']);

/**
 * The columns of a scope as the checker of expressions asks for them. A name that is not among them is read all the same:
 * the scope knows whether the file must have it, or says what is wrong with it.
 */
class ScopeColumns implements ExpressionColumns {
  readonly #scope: Scope;
  readonly #pointer: string;
  /** Whether the scope was asked for a column that it does not have, and dealt with that itself. */
  told = false;

  constructor(scope: Scope, pointer: string) {
    this.#scope = scope;
    this.#pointer = pointer;
  }

  get size(): number {
    return this.#scope.columns.length;
  }

  get(name: string): ColumnType | undefined {
    const column = this.#scope.known(name) ?? this.#scope.read(name, this.#pointer);
    if (column === null) this.told = true;
    return column?.type;
  }

  has(name: string): boolean {
    return this.#scope.known(name) !== null;
  }

  /** Names to suggest: none where the scope has done so. */
  keys(): Iterable<string> {
    return this.told ? [] : this.#scope.columns.map(({ name }) => name);
  }
}
