// The syntax tree of an expression, with macros already separated from calls. The checker stores types outside the
// tree, so the tree never changes.
import type { Value } from '../compile/value.ts';

/** Offset of the node in the source, in UTF-16 units. */
interface Base {
  readonly offset: number;
}

/**
 * A constant. `text` is the number as written: if a double must become a decimal, it is parsed again from this text.
 */
export interface LiteralNode extends Base {
  readonly kind: 'literal';
  readonly value: Value;
  readonly text: string;
}

/** A name: a variable, a column or the first part of a dotted name. `quoted` if it is written in backticks. */
export interface IdentifierNode extends Base {
  readonly kind: 'identifier';
  readonly name: string;
  readonly quoted: boolean;
}

/** `operand.field`, `operand.?field` (optional) or `has(operand.field)` (test). */
export interface SelectNode extends Base {
  readonly kind: 'select';
  readonly operand: ExpressionNode;
  readonly field: string;
  readonly optional: boolean;
  readonly test: boolean;
}

/** `operand[index]` or `operand[?index]`. */
export interface IndexNode extends Base {
  readonly kind: 'index';
  readonly operand: ExpressionNode;
  readonly index: ExpressionNode;
  readonly optional: boolean;
}

/** `name(arguments)` or `target.name(arguments)`. */
export interface CallNode extends Base {
  readonly kind: 'call';
  readonly name: string;
  readonly target: ExpressionNode | null;
  readonly arguments: readonly ExpressionNode[];
}

/** `!operand` or `-operand`. */
export interface UnaryNode extends Base {
  readonly kind: 'unary';
  readonly operator: '!' | '-';
  readonly operand: ExpressionNode;
}

/** Binary operators that always evaluate both operands. */
export type BinaryOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%';

export interface BinaryNode extends Base {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: ExpressionNode;
  readonly right: ExpressionNode;
}

/** `&&` and `||`: either side alone may determine the result, regardless of the other side. */
export interface LogicalNode extends Base {
  readonly kind: 'logical';
  readonly operator: '&&' | '||';
  readonly left: ExpressionNode;
  readonly right: ExpressionNode;
}

export interface ConditionalNode extends Base {
  readonly kind: 'conditional';
  readonly condition: ExpressionNode;
  readonly then: ExpressionNode;
  readonly otherwise: ExpressionNode;
}

/** `[a, ?b]`: an optional element is omitted if it is empty. */
export interface ListNode extends Base {
  readonly kind: 'list';
  readonly elements: readonly { readonly value: ExpressionNode; readonly optional: boolean }[];
}

/** `{key: value, ?key: optional}`. */
export interface MapNode extends Base {
  readonly kind: 'map';
  readonly entries: readonly {
    readonly key: ExpressionNode;
    readonly value: ExpressionNode;
    readonly optional: boolean;
  }[];
}

/** `Name{field: value}`: a protobuf message, which the checker refuses. */
export interface MessageNode extends Base {
  readonly kind: 'message';
  readonly name: string;
}

/** Macros that iterate over a list or map. */
export type ComprehensionMacro =
  | 'all'
  | 'exists'
  | 'exists_one'
  | 'map'
  | 'filter'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry';

/** `range.macro(variables..., filter?, body)`. The body is the predicate of all, exists, exists_one and filter. */
export interface ComprehensionNode extends Base {
  readonly kind: 'comprehension';
  readonly macro: ComprehensionMacro;
  readonly range: ExpressionNode;
  readonly variables: readonly string[];
  readonly filter: ExpressionNode | null;
  readonly body: ExpressionNode;
}

/** `cel.bind(variable, value, body)`. */
export interface BindNode extends Base {
  readonly kind: 'bind';
  readonly variable: string;
  readonly value: ExpressionNode;
  readonly body: ExpressionNode;
}

/** `operand.optMap(variable, body)`, or `optFlatMap` (flat). */
export interface OptionalMapNode extends Base {
  readonly kind: 'optional_map';
  readonly operand: ExpressionNode;
  readonly variable: string;
  readonly body: ExpressionNode;
  readonly flat: boolean;
}

export type ExpressionNode =
  | LiteralNode
  | IdentifierNode
  | SelectNode
  | IndexNode
  | CallNode
  | UnaryNode
  | BinaryNode
  | LogicalNode
  | ConditionalNode
  | ListNode
  | MapNode
  | MessageNode
  | ComprehensionNode
  | BindNode
  | OptionalMapNode;

/** `a.b.c` as one dotted name if it consists of names only; otherwise null. */
export function dottedName(node: ExpressionNode): string | null {
  let current = node;
  let suffix = '';
  while (current.kind === 'select' && !current.test && !current.optional) {
    suffix = `.${current.field}${suffix}`;
    current = current.operand;
  }
  return current.kind === 'identifier' ? current.name + suffix : null;
}
