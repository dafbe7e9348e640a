// Owns what the compilers of one expression share: getters of columns, the frame of macro variables, the budget of steps,
// and the change between the two forms of an int (value.ts).
import { Decimal, parseDecimal } from '../../values/decimal.ts';
import type { Timestamp } from '../../values/timestamp.ts';
import type { CheckedExpression } from '../check/resolution.ts';
import type { Type } from '../check/type.ts';
import type { Context } from '../functions/definition.ts';
import type { ExpressionNode, LiteralNode } from '../syntax/ast.ts';
import { STEPS_MAX } from '../syntax/limits.ts';
import { TOO_MANY_STEPS, UNKNOWN_NAME } from './evaluation-error.ts';
import type { TextSource } from './native-text.ts';
import { type Integer, narrowInteger, type Value, widenInteger } from './value.ts';

/** A compiled node: its value for a row, an int in its static form where the node's type is int. Throws EvaluationError. */
export type Evaluate<Row> = (row: Row) => unknown;

/** Where an expression finds what it names. `Row` is whatever the caller passes per evaluation: an array of cells, a row number. */
export interface Resolver<Row> {
  /**
   * The getter of a column's cells: null, or a value of the column's type (text: string, integer: number while safe and
   * bigint above, decimal: Decimal, number: number, boolean, date: CalendarDate, datetime: Timestamp, json: any Value).
   */
  column(name: string): (row: Row) => unknown;
  /** The cell at hand, in operations on cells. */
  readonly value?: (row: Row) => unknown;
  /**
   * What a text is of which these cells may be the source: gives its native kind (kernel/layout/native-kinds.ts), that of a
   * cell with that very text. Null: none of them has kinds.
   */
  kindOf?(sources: readonly TextSource[]): ((row: Row, text: string) => number) | null;
  /** The source row's number. */
  readonly runRow?: (row: Row) => number;
  readonly startedAt?: Timestamp;
  /** See Context.lookup. */
  lookup?(table: string, keyColumn: string | null, valueColumn: string): (key: string) => string | null;
  /** Further variables, in their dynamic form. */
  variable?(name: string): (row: Row) => Value;
}

/** One expression that is being compiled. Its frame is shared by all evaluations: it is not to be entered twice at once. */
export class Compilation<Row> {
  readonly expression: CheckedExpression;
  readonly resolver: Resolver<Row>;
  readonly frame: Value[];
  readonly context: Context;
  readonly charge: (steps: number) => void;
  readonly #compileNode: (compilation: Compilation<Row>, node: ExpressionNode) => Evaluate<Row>;
  readonly #stepsMax: number;
  #steps: number;

  constructor(
    expression: CheckedExpression,
    resolver: Resolver<Row>,
    compileNode: (compilation: Compilation<Row>, node: ExpressionNode) => Evaluate<Row>,
    stepsMax: number = STEPS_MAX,
  ) {
    this.#stepsMax = stepsMax;
    this.#steps = stepsMax;
    this.expression = expression;
    this.resolver = resolver;
    this.#compileNode = compileNode;
    this.frame = Array.from({ length: expression.slotCount }, () => null);
    this.charge = (steps) => {
      this.#steps -= steps;
      if (this.#steps < 0) throw TOO_MANY_STEPS;
    };
    this.context = {
      charge: this.charge,
      startedAt: resolver.startedAt ?? null,
      lookup: (table, keyColumn, valueColumn) => {
        if (resolver.lookup === undefined) throw UNKNOWN_NAME;
        return resolver.lookup(table, keyColumn, valueColumn);
      },
    };
  }

  /** Gives the next evaluation its steps. */
  refill(): void {
    this.#steps = this.#stepsMax;
  }

  typeOf(node: ExpressionNode): Type {
    return this.expression.types.get(node)!;
  }

  /** The constant in the form of its type: a number beside a decimal is read again from its text. */
  constant(node: LiteralNode): unknown {
    const { value } = node;
    if (this.typeOf(node).kind === 'decimal' && !(value instanceof Decimal)) return parseDecimal(node.text, true);
    return typeof value === 'bigint' ? narrowInteger(value) : value;
  }

  /** The node in the form of its own type. */
  compile(node: ExpressionNode): Evaluate<Row> {
    return this.#compileNode(this, node);
  }

  /** The node in its dynamic form. */
  dynamic(node: ExpressionNode): (row: Row) => Value {
    const evaluate = this.compile(node);
    if (this.typeOf(node).kind !== 'int') return evaluate as (row: Row) => Value;
    return (row) => widenInteger(evaluate(row) as Integer | null);
  }

  /** The node in the form that a value of `type` has. */
  compileAs(node: ExpressionNode, type: Type): Evaluate<Row> {
    if (type.kind !== 'int') return this.dynamic(node);
    return this.typeOf(node).kind === 'int' ? this.compile(node) : this.narrowed(this.compile(node));
  }

  /** A dynamic value in the form of the node's type. */
  fromDynamic(node: ExpressionNode, evaluate: (row: Row) => Value): Evaluate<Row> {
    return this.typeOf(node).kind === 'int' ? this.narrowed(evaluate) : evaluate;
  }

  narrowed(evaluate: Evaluate<Row>): Evaluate<Row> {
    return (row) => {
      const value = evaluate(row);
      return typeof value === 'bigint' ? narrowInteger(value) : value;
    };
  }
}
