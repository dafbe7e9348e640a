// Owns the calls that are no calls: has, the comprehensions, cel.bind, optMap and optFlatMap. Their first arguments are
// names, so they are told apart before anything is looked up.
import type { ComprehensionMacro, ExpressionNode } from './ast.ts';
import { RESERVED_WORDS } from './lexer.ts';
import { ProblemFound } from './problem.ts';

/** The node of a macro, or null when the call is an ordinary one. Throws ProblemFound where an argument must be a name. */
export function expandMacro(
  name: string,
  target: ExpressionNode | null,
  parameters: readonly ExpressionNode[],
  offset: number,
): ExpressionNode | null {
  const count = parameters.length;
  if (target === null) return name === 'has' && count === 1 ? hasMacro(parameters[0]!) : null;
  if (name === 'bind' && count === 3 && target.kind === 'identifier' && target.name === 'cel') {
    const [variable, value, body] = parameters as [ExpressionNode, ExpressionNode, ExpressionNode];
    return { kind: 'bind', offset, variable: variableName(variable), value, body };
  }
  if ((name === 'optMap' || name === 'optFlatMap') && count === 2) {
    const [variable, body] = parameters as [ExpressionNode, ExpressionNode];
    const flat = name === 'optFlatMap';
    return { kind: 'optional_map', offset, operand: target, variable: variableName(variable), body, flat };
  }
  const shape = SHAPES.get(`${name}/${count}`);
  if (shape === undefined) return null;
  const variables = parameters.slice(0, shape.variables).map(variableName);
  if (variables.length === 2 && variables[0] === variables[1]) {
    throw new ProblemFound('EXPR_SYNTAX', 'The two variables need different names.', parameters[1]!.offset);
  }
  const filter = shape.filter ? parameters[shape.variables]! : null;
  return {
    kind: 'comprehension',
    offset,
    macro: shape.macro,
    range: target,
    variables,
    filter,
    body: parameters.at(-1)!,
  };
}

interface Shape {
  macro: ComprehensionMacro;
  variables: number;
  filter: boolean;
}

/** By name and number of arguments. */
const SHAPES: ReadonlyMap<string, Shape> = new Map(
  (
    [
      ['all', 'all', 1, false],
      ['all', 'all', 2, false],
      ['exists', 'exists', 1, false],
      ['exists', 'exists', 2, false],
      ['exists_one', 'exists_one', 1, false],
      ['exists_one', 'exists_one', 2, false],
      ['existsOne', 'exists_one', 1, false],
      ['existsOne', 'exists_one', 2, false],
      ['filter', 'filter', 1, false],
      ['map', 'map', 1, false],
      ['map', 'map', 1, true],
      ['transformList', 'transformList', 2, false],
      ['transformList', 'transformList', 2, true],
      ['transformMap', 'transformMap', 2, false],
      ['transformMap', 'transformMap', 2, true],
      ['transformMapEntry', 'transformMapEntry', 2, false],
      ['transformMapEntry', 'transformMapEntry', 2, true],
    ] as const
  ).map(([name, macro, variables, filter]) => [
    `${name}/${variables + 1 + (filter ? 1 : 0)}`,
    { macro, variables, filter },
  ]),
);

function hasMacro(parameter: ExpressionNode): ExpressionNode {
  if (parameter.kind !== 'select' || parameter.test) {
    throw new ProblemFound('EXPR_SYNTAX', 'has() takes a field: has(row.name).', parameter.offset);
  }
  return { ...parameter, test: true };
}

function variableName(node: ExpressionNode): string {
  if (node.kind !== 'identifier' || node.quoted || RESERVED_WORDS.has(node.name) || node.name === '__result__') {
    throw new ProblemFound('EXPR_SYNTAX', 'The name of a variable is expected here.', node.offset);
  }
  return node.name;
}
