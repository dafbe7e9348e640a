// Results of the check for the compiler: the meaning of names, and the overloads that calls may use.
import type { FunctionDefinition, Overload } from '../functions/definition.ts';
import type { ExpressionNode } from '../syntax/ast.ts';
import type { Type } from './type.ts';

/** Meaning of a name, selection or index that is not just a field or element. */
export type NameResolution =
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'value' }
  | { readonly kind: 'run_row' }
  | { readonly kind: 'started_at' }
  /** A macro variable; `slot` is its index in the frame of the evaluation. */
  | { readonly kind: 'local'; readonly slot: number }
  | { readonly kind: 'variable'; readonly name: string }
  /** The name of a type. */
  | { readonly kind: 'type'; readonly name: string }
  /** An unknown name: an error when it is evaluated (dynamic mode only). */
  | { readonly kind: 'unknown' };

/** A call or operator: the overloads that match the static types. If the call is certain, there is exactly one. */
export interface CallResolution {
  readonly kind: 'call';
  readonly definition: FunctionDefinition;
  readonly overloads: readonly Overload[];
  /** True if the static types determine the overload, so that nothing is tested at run time. */
  readonly certain: boolean;
  readonly arguments: readonly ExpressionNode[];
}

export type Resolution = NameResolution | CallResolution;

/**
 * An expression that can be compiled. `types` contains the type of every node, `resolutions` the meaning of names and
 * calls.
 */
export interface CheckedExpression {
  readonly source: string;
  readonly root: ExpressionNode;
  readonly type: Type;
  readonly types: ReadonlyMap<ExpressionNode, Type>;
  readonly resolutions: ReadonlyMap<ExpressionNode, Resolution>;
  /** Slots of macro variables, by the node that declares them. */
  readonly slots: ReadonlyMap<ExpressionNode, readonly number[]>;
  readonly slotCount: number;
  /** Columns that the expression reads, without duplicates, in source order. */
  readonly columns: readonly string[];
  readonly readsValue: boolean;
  readonly readsRunRow: boolean;
  /** True if the expression reads run.started_at, so that its result depends on the day. */
  readonly dependsOnDay: boolean;
  /** Reference tables that the expression reads. */
  readonly tables: readonly string[];
}
