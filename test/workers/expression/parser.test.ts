// Checks that the parser reads back its own printed trees, and that it returns only trees or problems.
import { tests as parsing } from '@bufbuild/cel-spec/testdata/parsing.js';
import { test } from 'tap';
import { Uint } from '../../../workers/expression/compile/value.ts';
import type { ExpressionNode } from '../../../workers/expression/syntax/ast.ts';
import { parseExpression } from '../../../workers/expression/syntax/parser.ts';
import { Decimal } from '../../../workers/values/decimal.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

/** A tree printed with all its brackets. */
function print(node: ExpressionNode): string {
  switch (node.kind) {
    case 'literal':
      if (typeof node.value === 'string') return JSON.stringify(node.value);
      return node.text + (node.value instanceof Uint ? 'u' : node.value instanceof Decimal ? 'd' : '');
    case 'identifier':
      return node.quoted ? `\`${node.name}\`` : node.name;
    case 'select':
      return node.test
        ? `has(${print({ ...node, test: false })})`
        : `${print(node.operand)}.${node.optional ? '?' : ''}${node.field}`;
    case 'index':
      return `${print(node.operand)}[${node.optional ? '?' : ''}${print(node.index)}]`;
    case 'call':
      return `${node.target === null ? '' : `${print(node.target)}.`}${node.name}(${node.arguments.map(print).join(', ')})`;
    case 'unary':
      return `(${node.operator}(${print(node.operand)}))`;
    case 'binary':
    case 'logical':
      return `(${print(node.left)} ${node.operator} ${print(node.right)})`;
    case 'conditional':
      return `(${print(node.condition)} ? ${print(node.then)} : ${print(node.otherwise)})`;
    case 'list':
      return `[${node.elements.map(({ value, optional }) => (optional ? '?' : '') + print(value)).join(', ')}]`;
    case 'map':
      return `{${node.entries.map(({ key, value }) => `${print(key)}: ${print(value)}`).join(', ')}}`;
    case 'comprehension':
      return `${print(node.range)}.${node.macro}(${[...node.variables, ...(node.filter === null ? [] : [print(node.filter)]), print(node.body)].join(', ')})`;
    case 'bind':
      return `cel.bind(${node.variable}, ${print(node.value)}, ${print(node.body)})`;
    default:
      throw new Error('not made here');
  }
}

const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie('expression');
  return {
    expression: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom('a', 'b.c', '`x y`', '1', '-2', '3u', '1.5', '2.50d', '"t"', 'true', 'null', '[]', '{}'),
      fc
        .tuple(inner, fc.constantFrom('+', '-', '*', '/', '%', '==', '<', 'in', '&&', '||'), inner)
        .map(([l, o, r]) => `${l} ${o} ${r}`),
      inner.map((part) => `(${part})`),
      inner.map((part) => `!(${part})`),
      fc.tuple(inner, inner, inner).map(([c, x, y]) => `((${c}) ? (${x}) : (${y}))`),
      fc.tuple(inner, inner).map(([x, y]) => `f(${x}, ${y}).g([${x}], {"k": ${y}})`),
      fc.tuple(inner, inner).map(([x, y]) => `(${x}).map(v, ${y})[0].?z`),
      fc.tuple(inner, inner).map(([x, y]) => `cel.bind(v, ${x}, ${y})`),
    ),
  };
});

/** The tree without offsets, and without the text of literals. */
function shape(source: string): string | null {
  const parsed = parseExpression(source);
  if ('problem' in parsed) return null;
  return JSON.stringify(parsed.root, (key, value: unknown) =>
    key === 'offset' ? undefined : typeof value === 'bigint' ? `${value}` : value,
  );
}

test('a printed tree parses to itself', async (t) => {
  let parsed = 0;
  fc.assert(
    fc.property(expression, (source) => {
      const first = parseExpression(source);
      if ('problem' in first) return first.problem.code === 'EXPR_LIMIT';
      const printed = print(first.root);
      const again = shape(printed);
      if (again === null) return 'problem' in parseExpression(printed) && printed.length > 400;
      parsed++;
      return again === shape(source);
    }),
  );
  t.ok(parsed > 50, `${parsed} trees came back`);
});

test('the parser accepts and refuses the same sources as cel-go', async (t) => {
  const wrong: string[] = [];
  let compared = 0;
  for (const { expression, ast, error } of parsingCases(parsing)) {
    const parsed = parseExpression(expression);
    // Our limits differ from those of cel-go, and part of the data disables optionals and backticks.
    if ('problem' in parsed && parsed.problem.code === 'EXPR_LIMIT') continue;
    if (/recursion|unsupported syntax/.test(error) || expression.includes('`')) continue;
    compared++;
    if ('root' in parsed !== ast) wrong.push(expression);
  }
  t.same(wrong, []);
  t.ok(compared > 150, `${compared} sources compared`);
});

interface ParsingSuite {
  readonly suites?: readonly ParsingSuite[];
  readonly tests?: readonly {
    readonly original: { readonly expr: string };
    readonly ast?: string;
    readonly error?: string;
  }[];
}

/** Sources of cel-go's parser tests, with whether each has a tree, and the parser's message. */
function* parsingCases(suite: ParsingSuite): Iterable<{ expression: string; ast: boolean; error: string }> {
  for (const inner of suite.suites ?? []) yield* parsingCases(inner);
  for (const { original, ast, error } of suite.tests ?? []) {
    yield { expression: original.expr, ast: ast !== undefined, error: error ?? '' };
  }
}

test('no text makes the parser fail otherwise than with a problem', async (t) => {
  const tokens = fc.constantFrom(
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '.',
    ',',
    '?',
    ':',
    '!',
    '-',
    '+',
    'in',
    'a',
    '1',
    '"',
    "'",
    '`',
    'r"',
    'b',
    '\\',
    '0x',
    '1e',
    'd',
    '&&',
    '||',
    '=',
    '\n',
    '//',
    '😀',
    '\ud800',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(tokens, { maxLength: 40 }).map((parts) => parts.join('')),
      ),
      (source) => {
        const parsed = parseExpression(source);
        return 'root' in parsed || (parsed.problem.offset >= 0 && parsed.problem.offset <= source.length);
      },
    ),
    { numRuns: sweep({ short: 120, long: 2000 }) },
  );
  t.pass('only trees and problems');
});
