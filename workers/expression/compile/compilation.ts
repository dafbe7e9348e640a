// The state that the compilers of one expression share, and the cells from which a text may come unchanged.

import { Decimal, parseDecimal } from '../../values/decimal.ts';
import type { Timestamp } from '../../values/timestamp.ts';
import type { CheckedExpression } from '../check/resolution.ts';
import type { Type } from '../check/type.ts';
import type { Context } from '../functions/definition.ts';
import type { ExpressionNode, LiteralNode } from '../syntax/ast.ts';
import { STEPS_MAX } from '../syntax/limits.ts';
import { LongEdits } from './long-edits.ts';
import { type Integer, narrowInteger, TOO_MANY_STEPS, UNKNOWN_NAME, type Value, widenInteger } from './value.ts';

// Finds the cells from which a text may come unchanged. If such a cell has a native kind (number, date), a call that
// reads the text uses that kind. The text may pass through other functions on its way.

/** A column by name, or the current cell. */
type TextSource = { readonly column: string } | 'value';

/** The cells whose text a node may return unchanged. */
export function textSources(expression: CheckedExpression, node: ExpressionNode): readonly TextSource[] {
  const resolution = expression.resolutions.get(node);
  if (resolution?.kind === 'column') return [{ column: resolution.name }];
  if (resolution?.kind === 'value') return ['value'];
  const within = (nodes: readonly ExpressionNode[]): readonly TextSource[] =>
    nodes.flatMap((part) => textSources(expression, part));
  switch (node.kind) {
    case 'conditional':
      return within([node.then, node.otherwise]);
    case 'call':
      return within(resolution?.kind === 'call' ? resolution.arguments : []);
    case 'bind':
      return within([node.value, node.body]);
    default:
      return [];
  }
}

// State that the compilers of one expression share: column getters, the frame of macro variables, the step budget,
// and conversions between the two forms of an int (value.ts).

/**
 * A compiled node. Returns the node's value for a row; an int is in its static form if the node's type is int. Throws
 * EvaluationError.
 */
export type Evaluate<Row> = (row: Row) => unknown;

/**
 * Provides the values of names. `Row` is the argument that the caller passes to each evaluation: an array of cells,
 * or a row number.
 */
export interface Resolver<Row> {
  /**
   * Returns the getter of a column's cells. A cell is null or a value of the column's type (text: string; integer:
   * number if safe, otherwise bigint; decimal: Decimal; number: number; boolean; date: CalendarDate; datetime:
   * Timestamp; json: any Value).
   */
  column(name: string): (row: Row) => unknown;
  /** Getter of the current cell, in operations on cells. */
  readonly value?: (row: Row) => unknown;
  /**
   * Returns a function for the native kind (kernel/layout/cells.ts) of a text that may come from one of these
   * cells: the kind of a source cell with exactly this text. Null if none of the sources has kinds.
   */
  kindOf?(sources: readonly TextSource[]): ((row: Row, text: string) => number) | null;
  /** Number of the source row. */
  readonly runRow?: (row: Row) => number | null;
  readonly startedAt?: Timestamp;
  /** See Context.lookup. */
  lookup?(table: string, keyColumn: string | null, valueColumn: string): (key: string) => string | null;
  /** Getter of other variables, in dynamic form. */
  variable?(name: string): (row: Row) => Value;
}

/** State of the compilation of one expression. All evaluations share its frame, so it is not reentrant. */
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
    longEdits: LongEdits = new LongEdits(),
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
    longEdits.charge = this.charge;
    this.context = {
      charge: this.charge,
      startedAt: resolver.startedAt ?? null,
      longEdits,
      lookup: (table, keyColumn, valueColumn) => {
        if (resolver.lookup === undefined) throw UNKNOWN_NAME;
        return resolver.lookup(table, keyColumn, valueColumn);
      },
    };
  }

  /** Resets the step budget before an evaluation. */
  refill(): void {
    this.#steps = this.#stepsMax;
  }

  typeOf(node: ExpressionNode): Type {
    return this.expression.types.get(node)!;
  }

  /**
   * Returns a constant in the form of its type. A number used together with a decimal is parsed again from its text.
   */
  constant(node: LiteralNode): unknown {
    const { value } = node;
    if (this.typeOf(node).kind === 'decimal' && !(value instanceof Decimal)) return parseDecimal(node.text, true);
    return typeof value === 'bigint' ? narrowInteger(value) : value;
  }

  /** Compiles the node in the form of its type. */
  compile(node: ExpressionNode): Evaluate<Row> {
    return this.#compileNode(this, node);
  }

  /** Compiles the node in its dynamic form. */
  dynamic(node: ExpressionNode): (row: Row) => Value {
    const evaluate = this.compile(node);
    if (this.typeOf(node).kind !== 'int') return evaluate as (row: Row) => Value;
    return (row) => widenInteger(evaluate(row) as Integer | null);
  }

  /** Compiles the node in the form that values of `type` have. */
  compileAs(node: ExpressionNode, type: Type): Evaluate<Row> {
    if (type.kind !== 'int') return this.dynamic(node);
    return this.typeOf(node).kind === 'int' ? this.compile(node) : this.narrowed(this.compile(node));
  }

  /** Converts a dynamic value to the form of the node's type. */
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
