// Owns what one check gathers: types, resolutions, problems, macro variables. It knows no rule of the language but that
// literals beside a decimal are decimals.

import { suggestion } from '../../template/suggestion.ts';
import type { ExpressionEnvironment } from '../compile/environment.ts';
import type { ExpressionNode } from '../syntax/ast.ts';
import { PROBLEMS_MAX } from '../syntax/limits.ts';
import type { ExpressionProblem, ProblemCode } from '../syntax/problem.ts';
import type { Resolution } from './resolution.ts';
import { DECIMAL, listOf, type Substitution, substitute, type Type, variable } from './type.ts';

/** A variable of a macro. */
export interface Local {
  readonly type: Type;
  readonly slot: number;
}

/** The state of one check. */
export class CheckScope {
  readonly environment: ExpressionEnvironment;
  readonly problems: ExpressionProblem[] = [];
  readonly resolutions = new Map<ExpressionNode, Resolution>();
  readonly slots = new Map<ExpressionNode, readonly number[]>();
  readonly columns = new Set<string>();
  readonly tables = new Set<string>();
  readonly uses = new Set<'value' | 'run_row' | 'started_at'>();
  readonly bound: Substitution = new Map();
  slotCount = 0;
  readonly #types = new Map<ExpressionNode, Type>();
  readonly #locals = new Map<string, Local[]>();
  readonly #checkNode: (scope: CheckScope, node: ExpressionNode) => Type;
  #variables = 0;

  constructor(environment: ExpressionEnvironment, checkNode: (scope: CheckScope, node: ExpressionNode) => Type) {
    this.environment = environment;
    this.#checkNode = checkNode;
  }

  get dynamic(): boolean {
    return this.environment.mode === 'dynamic';
  }

  /** Checks a node once and keeps its type. */
  check(node: ExpressionNode): Type {
    const known = this.#types.get(node);
    if (known !== undefined) return known;
    const type = this.#checkNode(this, node);
    this.#types.set(node, type);
    return type;
  }

  /** The type of a node that was checked. */
  typeOf(node: ExpressionNode): Type {
    return this.#types.get(node)!;
  }

  report(code: ProblemCode, message: string, node: ExpressionNode): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push({ code, message, offset: node.offset });
  }

  /** A problem of types: in dynamic mode it is left to run time. */
  mismatch(message: string, node: ExpressionNode): void {
    if (!this.dynamic) this.report('EXPR_TYPE', message, node);
  }

  /** A sentence with the known name that was probably meant, or nothing. */
  suggest(name: string, known: () => Iterable<string>): string {
    const { suggest } = this.environment;
    return suggest === undefined ? suggestion(name, known()) : suggest(name, known);
  }

  freshVariable(): Type {
    return variable(`_${this.#variables++}`);
  }

  /** The type with its variables replaced as far as they are known. */
  resolve(type: Type): Type {
    return substitute(this.bound, type, false);
  }

  /** The type with nothing open: what is not known is dyn. */
  final(type: Type): Type {
    return substitute(this.bound, type, true);
  }

  finalTypes(): Map<ExpressionNode, Type> {
    return new Map(Array.from(this.#types, ([node, type]) => [node, this.final(type)]));
  }

  local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  get localNames(): string[] {
    return Array.from(this.#locals)
      .filter(([, stack]) => stack.length > 0)
      .map(([name]) => name);
  }

  /** Runs with variables of a macro that hide others of their name; their slots are kept under the node. */
  withLocals<T>(node: ExpressionNode, locals: readonly [string, Type][], run: () => T): T {
    const slots: number[] = [];
    for (const [name, type] of locals) {
      const slot = this.slotCount++;
      slots.push(slot);
      const stack = this.#locals.get(name) ?? [];
      stack.push({ type, slot });
      this.#locals.set(name, stack);
    }
    this.slots.set(node, slots);
    try {
      return run();
    } finally {
      for (const [name] of locals) this.#locals.get(name)!.pop();
    }
  }

  /** Where one of the nodes is a decimal, literals of the others are read as decimals. */
  shareDecimal(nodes: readonly ExpressionNode[]): void {
    const holds = (type: Type): boolean =>
      type.kind === 'decimal' || (type.kind === 'list' && holds(this.resolve(type.parameters[0]!)));
    if (!nodes.some((node) => holds(this.resolve(this.typeOf(node))))) return;
    for (const node of nodes) if (this.#isNumberLiteral(node)) this.#markDecimal(node);
  }

  /** A number as written, or a choice or list of nothing else: only those are read again. */
  #isNumberLiteral(node: ExpressionNode): boolean {
    if (node.kind === 'literal') return ['double', 'int', 'decimal'].includes(this.typeOf(node).kind);
    if (node.kind === 'conditional') return this.#isNumberLiteral(node.then) && this.#isNumberLiteral(node.otherwise);
    if (node.kind !== 'list' || node.elements.length === 0) return false;
    return node.elements.every(({ value, optional }) => !optional && this.#isNumberLiteral(value));
  }

  #markDecimal(node: ExpressionNode): void {
    this.#types.set(node, node.kind === 'list' ? listOf(DECIMAL) : DECIMAL);
    if (node.kind === 'list') for (const { value } of node.elements) this.#markDecimal(value);
    if (node.kind === 'conditional') for (const branch of [node.then, node.otherwise]) this.#markDecimal(branch);
  }
}
