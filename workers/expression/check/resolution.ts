// Owns what the checker finds out about the nodes of a tree, for the compilers: which column a name is, which overloads
// a call may run.
import type { FunctionDefinition, Overload } from '../functions/definition.ts';
import type { ExpressionNode } from '../syntax/ast.ts';
import type { Type } from './type.ts';

/** What a name, a selection or an index stands for, where it is more than a field or an element. */
export type NameResolution =
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'value' }
  | { readonly kind: 'run_row' }
  | { readonly kind: 'started_at' }
  /** A variable of a macro; `slot` is its place in the frame of the evaluation. */
  | { readonly kind: 'local'; readonly slot: number }
  | { readonly kind: 'variable'; readonly name: string }
  /** The name of a type. */
  | { readonly kind: 'type'; readonly name: string }
  /** Names nothing: an error when it is evaluated (dynamic mode only). */
  | { readonly kind: 'unknown' };

/** A call or operator: the overloads that fit the static types, one of them when it is certain. */
export interface CallResolution {
  readonly kind: 'call';
  readonly definition: FunctionDefinition;
  readonly overloads: readonly Overload[];
  /** Whether the static types alone decide: then nothing is tested at run time. */
  readonly certain: boolean;
  readonly arguments: readonly ExpressionNode[];
}

export type Resolution = NameResolution | CallResolution;

/** An expression that may be compiled. Types are in `types` for every node; names and calls in `resolutions`. */
export interface CheckedExpression {
  readonly source: string;
  readonly root: ExpressionNode;
  readonly type: Type;
  readonly types: ReadonlyMap<ExpressionNode, Type>;
  readonly resolutions: ReadonlyMap<ExpressionNode, Resolution>;
  /** Slots of macro variables by the node that declares them. */
  readonly slots: ReadonlyMap<ExpressionNode, readonly number[]>;
  readonly slotCount: number;
  /** Columns that it reads, each once, in the order of the source. */
  readonly columns: readonly string[];
  readonly readsValue: boolean;
  readonly readsRunRow: boolean;
  /** Whether it looks at run.started_at, so that its result depends on the day. */
  readonly dependsOnDay: boolean;
  /** Tables that it looks up in. */
  readonly tables: readonly string[];
}
