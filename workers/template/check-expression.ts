// Checks expressions of the Template against the columns of a step, and finds the zone whose clock the results show.
import type { ColumnType } from '../batch/schema.ts';
import { checkExpression } from '../expression/check/checker.ts';
import {
  emptyComparisonNote,
  emptyComparisons,
  integerDivisionNote,
  lineCommentNote,
} from '../expression/check/doubtful-expressions.ts';
import type { CheckedExpression } from '../expression/check/resolution.ts';
import { typeText } from '../expression/check/type.ts';
import type { ExpressionColumns, ExpressionEnvironment } from '../expression/compile/environment.ts';
import type { ExpressionNode } from '../expression/syntax/ast.ts';
import { ProblemFound, tokenize } from '../expression/syntax/lexer.ts';
import type { Scope } from './scope.ts';

// Checks expressions of the Template against the columns of a step, and records which columns they read.

/**
 * Checks an expression against the columns of a step and reads the columns that it names. With `if_missing: skip`, a
 * missing column counts as a column of nulls. Returns null after a problem.
 *
 * @param value type of the current cell, in operations on cells
 * @param doubt another possible meaning of the expression: added to type errors, otherwise reported as a note
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
    // The pointer refers to the whole expression. In a long expression, the position helps.
    const place = offset === 0 ? '' : ` (At character ${offset + 1} of the expression.)`;
    const told = doubt === null || code !== 'EXPR_TYPE' ? '' : ` ${doubt}`;
    scope.problem(pointer, code, message + place + told);
  }
  return null;
}

/** Names in an expression that may be column names. */
export interface NamesUsed {
  readonly columns: ReadonlySet<string>;
  /** True if `value`, the current cell, is among them, unquoted. */
  readonly value: boolean;
}

/** Returns no names for a text that is not an expression. */
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

/** Same as checkRowExpression, for an expression that selects rows: its type must be bool. */
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

/** Types allowed for conditions. For dyn, each row shows whether the result is a boolean. */
const CONDITIONS: ReadonlySet<string> = new Set(['bool', 'dyn', 'null']);

/**
 * The columns of a scope for the expression checker. Also reads unknown names: the scope decides whether the file must
 * have the column, or reports the problem.
 */
class ScopeColumns implements ExpressionColumns {
  readonly #scope: Scope;
  readonly #pointer: string;
  /** True if the expression names an unknown column and the scope has already reported the problem. */
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

  /** Names to suggest. Empty if the scope has already made suggestions. */
  keys(): Iterable<string> {
    return this.told ? [] : this.#scope.columns.map(({ name }) => name);
  }
}

// The zone whose clock the results of an expression show, where the expression says it: Column.clock.

/** Column clocks by name; undefined for a column without a clock. */
export type ClockOfName = (name: string) => string | undefined;

/**
 * The zone of `to_timezone(time, "zone")`, of a column that has a clock, and of a conditional or coalesce whose parts all
 * have the same clock or are null. Undefined for all other expressions.
 */
export function clockOf(node: ExpressionNode, ofName: ClockOfName): string | undefined {
  switch (node.kind) {
    case 'identifier':
      return ofName(node.name);
    case 'conditional':
      return commonClock([node.then, node.otherwise], ofName);
    case 'call': {
      if (node.name === 'coalesce' && node.target === null) return commonClock(node.arguments, ofName);
      const zone = node.name === 'to_timezone' ? node.arguments.at(-1) : undefined;
      return zone?.kind === 'literal' && typeof zone.value === 'string' ? zone.value : undefined;
    }
    default:
      return undefined;
  }
}

function commonClock(nodes: readonly ExpressionNode[], ofName: ClockOfName): string | undefined {
  const times = nodes.filter((node) => node.kind !== 'literal' || node.value !== null);
  const clocks = new Set(times.map((node) => clockOf(node, ofName)));
  return clocks.size === 1 ? [...clocks][0] : undefined;
}
