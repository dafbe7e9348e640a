// The grammar of expressions, with its macros: parses tokens to a tree, within the limits of source, nodes and depth.
import {
  type BinaryOperator,
  type ComprehensionMacro,
  dottedName,
  type ExpressionNode,
  type ListNode,
  type MapNode,
} from './ast.ts';
import { foreignOperator } from './foreign-words.ts';
import { type ExpressionProblem, literalValue, ProblemFound, RESERVED_WORDS, type Token, tokenize } from './lexer.ts';
import { DEPTH_MAX, NODES_MAX, SOURCE_BYTES_MAX } from './limits.ts';

// Macros: has, the comprehensions, cel.bind, optMap and optFlatMap. Their first arguments are names, so they are
// separated from calls before names are resolved.

/** The node of a macro, or null for an ordinary call. Throws ProblemFound if an argument must be a name. */
function expandMacro(
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

/** Forms of the comprehensions, by name and number of arguments. */
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

// Grammar of expressions: parses tokens to a tree, within the limits of source, nodes and depth. Macros are defined
// above; names and types are checked later.

/** The tree of a source, or its first syntax problem. */
export function parseExpression(source: string): { root: ExpressionNode } | { problem: ExpressionProblem } {
  try {
    if (Buffer.byteLength(source) > SOURCE_BYTES_MAX) {
      throw new ProblemFound('EXPR_LIMIT', `An expression has at most ${SOURCE_BYTES_MAX} bytes.`, 0);
    }
    return { root: new Parser(tokenize(source)).parse() };
  } catch (error) {
    if (error instanceof ProblemFound) return { problem: error.problem };
    throw error;
  }
}

/** Precedence of the binary operators; all are left-associative. */
const STRENGTH: ReadonlyMap<string, number> = new Map([
  ['||', 1],
  ['&&', 2],
  ['==', 3],
  ['!=', 3],
  ['<', 3],
  ['<=', 3],
  ['>', 3],
  ['>=', 3],
  ['in', 3],
  ['+', 4],
  ['-', 4],
  ['*', 5],
  ['/', 5],
  ['%', 5],
]);

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;
  #nodes = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): ExpressionNode {
    const root = this.#expression();
    if (this.#token.kind !== 'end') throw this.#unexpected('an operator or the end');
    return root;
  }

  get #token(): Token {
    return this.#tokens[this.#position]!;
  }

  #is(text: string): boolean {
    return this.#token.kind === 'operator' && this.#token.text === text;
  }

  #take(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#position++;
    return true;
  }

  #expect(text: string, after: string): void {
    if (!this.#take(text)) throw this.#unexpected(`${text} ${after}`);
  }

  #unexpected(expected: string): ProblemFound {
    const found = this.#token.kind === 'end' ? 'the expression ends' : `there is ${this.#token.text.slice(0, 40)}`;
    const message = `Expected ${expected}, but ${found}.${this.#misunderstanding(expected)}`;
    return new ProblemFound('EXPR_SYNTAX', message, this.#token.start);
  }

  /** Hint for what the current and the previous token would mean in other languages. */
  #misunderstanding(expected: string): string {
    const { kind, text, start } = this.#token;
    const before = this.#tokens[this.#position - 1];
    if (before === undefined) return '';
    if (before.text === '<' && text === '>') return ' Write != for not equal.';
    if (before.text === '?' && (text === '?' || text === ':')) return ' Write coalesce(a, b) for b in place of null.';
    if (before.text === '*' && text === '*') return ' There are no powers: write x * x.';
    if (before.text === 'f' && kind === 'string') return ' Write a + b to join texts.';
    if (text === ':' && expected.startsWith(']')) return ' Write x.substring(from, to).';
    if (text === ',' && this.#isListOfSql()) return ' Write a list in brackets: [a, b].';
    if (before.kind === 'int' && text === ',' && this.#tokens[this.#position + 1]?.kind === 'int') {
      return ' A number has a decimal point: 1.5.';
    }
    const words = [text, ...(before.kind === 'identifier' && kind !== 'end' ? [before.text] : [])];
    const hint = words.map(foreignOperator).find((known) => known !== null);
    if (hint !== undefined) return ` ${hint}`;
    if (before.kind !== 'identifier' || kind !== 'identifier') return '';
    const name = before.end + 1 === start ? `${before.text} ${text}` : 'Invoice No';
    return ` Write a column name with spaces in backticks (\`${name}\`), and a text in quotes.`;
  }

  /** True if the bracket around the current token follows the word `in`. */
  #isListOfSql(): boolean {
    let depth = 0;
    for (let at = this.#position - 1; at > 0; at--) {
      const { text } = this.#tokens[at]!;
      if (text === ')') depth++;
      else if (text === '(' && depth-- === 0) return this.#tokens[at - 1]!.text === 'in';
    }
    return false;
  }

  #node<N extends ExpressionNode>(node: N): N {
    if (++this.#nodes > NODES_MAX) {
      throw new ProblemFound('EXPR_LIMIT', `An expression has at most ${NODES_MAX} parts.`, node.offset);
    }
    return node;
  }

  #nested<T>(parse: () => T): T {
    if (++this.#depth > DEPTH_MAX) {
      throw new ProblemFound('EXPR_LIMIT', `An expression nests at most ${DEPTH_MAX} deep.`, this.#token.start);
    }
    const result = parse();
    this.#depth--;
    return result;
  }

  #expression(): ExpressionNode {
    return this.#nested(() => {
      const condition = this.#binary(1);
      const offset = this.#token.start;
      if (!this.#take('?')) return condition;
      const then = this.#binary(1);
      this.#expect(':', 'between the two values of ? :');
      const otherwise = this.#expression();
      return this.#node({ kind: 'conditional', offset, condition, then, otherwise });
    });
  }

  #binary(weakest: number): ExpressionNode {
    let left = this.#unary();
    for (;;) {
      const { kind, text, start: offset } = this.#token;
      const strength = kind === 'operator' ? STRENGTH.get(text) : undefined;
      if (strength === undefined || strength < weakest) return left;
      this.#position++;
      const right = this.#binary(strength + 1);
      if (text === '&&' || text === '||') left = this.#node({ kind: 'logical', offset, operator: text, left, right });
      else left = this.#node({ kind: 'binary', offset, operator: text as BinaryOperator, left, right });
    }
  }

  #unary(): ExpressionNode {
    const signs: Token[] = [];
    while (this.#is('!') || this.#is('-')) {
      // A minus directly before a number belongs to the number, so that the smallest int can be written.
      if (this.#is('-') && NUMBERS.has(this.#tokens[this.#position + 1]!.kind)) break;
      signs.push(this.#token);
      this.#position++;
    }
    if (signs.length > DEPTH_MAX) {
      throw new ProblemFound('EXPR_LIMIT', `An expression nests at most ${DEPTH_MAX} deep.`, signs[0]!.start);
    }
    let node = this.#postfix(this.#primary());
    for (const sign of signs.reverse()) {
      const operator = sign.text as '!' | '-';
      node = this.#node({ kind: 'unary', offset: sign.start, operator, operand: node });
    }
    return node;
  }

  #postfix(first: ExpressionNode): ExpressionNode {
    let node = first;
    for (;;) {
      const offset = this.#token.start;
      if (this.#take('.')) node = this.#member(node, offset);
      else if (this.#take('[')) {
        const optional = this.#take('?');
        const index = this.#expression();
        this.#expect(']', 'after the index');
        node = this.#node({ kind: 'index', offset, operand: node, index, optional });
      } else if (this.#is('{') && dottedName(node) !== null) node = this.#message(node);
      else return node;
    }
  }

  #member(operand: ExpressionNode, offset: number): ExpressionNode {
    const optional = this.#take('?');
    const { kind, text } = this.#token;
    if (kind !== 'identifier' && kind !== 'quoted') throw this.#unexpected('a name after the point');
    this.#position++;
    if (!optional && kind === 'identifier' && this.#is('(')) return this.#call(text, operand, offset);
    return this.#node({ kind: 'select', offset, operand, field: text, optional, test: false });
  }

  #call(name: string, target: ExpressionNode | null, offset: number): ExpressionNode {
    this.#expect('(', 'after the name of the function');
    const parameters = this.#sequence(')', () => this.#expression());
    return this.#node(
      expandMacro(name, target, parameters, offset) ?? { kind: 'call', offset, name, target, arguments: parameters },
    );
  }

  /** Items separated by commas, up to a closing bracket. A trailing comma is allowed where CEL allows it. */
  #sequence<T>(closing: string, item: () => T): T[] {
    const items: T[] = [];
    if (this.#take(closing)) return items;
    for (;;) {
      items.push(item());
      if (this.#take(closing)) return items;
      this.#expect(',', `or ${closing}`);
      if (closing !== ')' && this.#take(closing)) return items;
    }
  }

  #primary(): ExpressionNode {
    const token = this.#token;
    const { kind, text, start: offset } = token;
    this.#position++;
    if (kind === 'operator') {
      if (text === '-') {
        const number = this.#token;
        this.#position++;
        return this.#node({ kind: 'literal', offset, value: literalValue(number, true), text: `-${number.text}` });
      }
      if (text === '(') {
        const inner = this.#expression();
        this.#expect(')', 'that closes the bracket');
        return inner;
      }
      if (text === '[') return this.#list(offset);
      if (text === '{') return this.#map(offset);
      if (text === '.') return this.#rooted(offset);
    } else if (kind === 'identifier') {
      if (RESERVED_WORDS.has(text)) {
        const hint = foreignOperator(text);
        const meant = hint === null ? '' : ` ${hint}`;
        throw new ProblemFound(
          'EXPR_SYNTAX',
          `${text} is a word of the language.${meant} Write row["${text}"] for a column of this name.`,
          offset,
        );
      }
      if (this.#is('(')) return this.#call(text, null, offset);
      return this.#node({ kind: 'identifier', offset, name: text, quoted: false });
    } else if (kind === 'quoted') return this.#node({ kind: 'identifier', offset, name: text, quoted: true });
    else if (kind !== 'end') return this.#node({ kind: 'literal', offset, value: literalValue(token, false), text });
    this.#position--;
    throw this.#unexpected('a value');
  }

  /** `.name` is equal to `name` here, because there are no containers. */
  #rooted(offset: number): ExpressionNode {
    const { kind, text } = this.#token;
    if (kind !== 'identifier' || RESERVED_WORDS.has(text)) throw this.#unexpected('a name after the point');
    this.#position++;
    if (this.#is('(')) return this.#call(text, null, offset);
    return this.#node({ kind: 'identifier', offset, name: text, quoted: false });
  }

  #list(offset: number): ListNode {
    const elements = this.#sequence(']', () => {
      const optional = this.#take('?');
      return { value: this.#expression(), optional };
    });
    return this.#node({ kind: 'list', offset, elements });
  }

  #map(offset: number): MapNode {
    const entries = this.#sequence('}', () => {
      const optional = this.#take('?');
      const key = this.#expression();
      this.#expect(':', 'between key and value');
      return { key, value: this.#expression(), optional };
    });
    return this.#node({ kind: 'map', offset, entries });
  }

  #message(type: ExpressionNode): ExpressionNode {
    const name = dottedName(type)!;
    this.#expect('{', 'after the type');
    this.#sequence('}', () => {
      this.#take('?');
      if (this.#token.kind !== 'identifier' && this.#token.kind !== 'quoted')
        throw this.#unexpected('the name of a field');
      this.#position++;
      this.#expect(':', 'after the name of the field');
      this.#expression();
    });
    return this.#node({ kind: 'message', offset: type.offset, name });
  }
}

const NUMBERS: ReadonlySet<string> = new Set(['int', 'double', 'decimal']);
